import { untrack } from 'svelte'
import type { z } from 'zod'
import { serverMessages } from '../../../server/kit/socket.contract.ts'
import { type Notification, notificationPush } from '../../../server/modules/notifications/notifications.contract.ts'
import type { Hearth } from '../../app-context.ts'
import { describeError } from '../../messages/describe-error.ts'
import { t } from '../../messages/messages.ts'
import { Resource } from '../../ui/resource.svelte.ts'
import { whileVisible } from '../../ui/while-visible.ts'
import { BannerQueue } from './banner-queue.svelte.ts'
import { buttonLabel, buttonsFor, placeOf } from './notification-words.ts'
import { showOutside } from './show-outside.ts'

type Deps = Pick<Hearth, 'client' | 'toasts' | 'session' | 'live' | 'router' | 'layout'>
type Pushed = z.output<typeof notificationPush.payload>

/** What comes within so long is told in one go, and read in one go. */
const TOGETHER_MS = 300
const REFRESH_MS = 60_000
const PAGE = 100
const LONG_MS = 20_000

/** This device's own notifications: told as they come, counted while they are unread. */
export class NotificationsState {
  readonly list: Resource<Notification[]>
  /** What a TV shows instead of short messages at its foot. */
  readonly banners = new BannerQueue()
  readonly unread = $derived.by(() => (this.list.value ?? []).filter(({ status }) => status !== 'read').length)
  /** Whether there are earlier ones than were read. */
  hasMore = $state(false)
  #pages = 1
  #here = $state<string | null>(null)
  readonly #deps: Deps
  readonly #told = new Set<string>()
  #fresh: Pushed[] = []
  /** What was made before this connection came up was missed. */
  #missedUntil = 0
  #telling: ReturnType<typeof setTimeout> | undefined
  #reading: ReturnType<typeof setTimeout> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    this.list = new Resource((signal) => this.#read(signal))
    deps.live.on('welcome', (payload) => {
      const welcome = serverMessages.welcome.safeParse(payload)
      if (!welcome.success) return
      if (this.#here !== null && this.#here !== welcome.data.deviceId) this.list.value = []
      this.#here = welcome.data.deviceId
      this.#missedUntil = welcome.data.seq
      this.#lookSoon()
    })
  }

  /** Whose notifications these are: the device's, or the console's where the owner is signed in. Null until that is known. */
  get deviceId(): string | null {
    return this.#deps.session.device?.id ?? this.#here
  }

  /** Tells what comes and keeps the list; returns what ends that. */
  watch(): () => void {
    const { live } = this.#deps
    const ends = [
      untrack(() => whileVisible(() => void this.load(), REFRESH_MS)),
      live.on('notification.push', (payload) => this.#came(payload)),
      live.subscribe('notification.changed', () => this.#lookSoon()),
    ]
    return () => {
      for (const end of ends) end()
      this.banners.clear()
      clearTimeout(this.#telling)
      clearTimeout(this.#reading)
      this.#telling = undefined
      this.#reading = undefined
    }
  }

  /** Never rejects: look at `list.error`. An owner's browser waits for the line, which says which device it counts as. */
  async load(): Promise<void> {
    if (this.deviceId === null) return
    await this.list.load()
    const read = (this.list.value ?? []).filter(({ status }) => status === 'read')
    this.banners.drop(new Set(read.map(({ id }) => id)))
  }

  async showMore(): Promise<void> {
    this.#pages++
    await this.list.load()
  }

  /** As many pages as were asked for, one behind the other. */
  async #read(signal: AbortSignal): Promise<Notification[]> {
    const items: Notification[] = []
    const own = this.deviceId === null ? {} : { deviceId: this.deviceId }
    for (let page = 0; page < this.#pages; page++) {
      const after = items.at(-1)?.id
      const query = { limit: PAGE, ...own, ...(after === undefined ? {} : { after }) }
      const found = await this.#deps.client.notifications.list({ query }, { signal })
      items.push(...found)
      this.hasMore = found.length === PAGE
      if (!this.hasMore) break
    }
    return items
  }

  /** Marks it as read and goes to what it is about. */
  async open(notification: Pick<Notification, 'id' | 'data'>): Promise<void> {
    const place = placeOf(notification, this.#deps.session.may('member'))
    if (place) this.#deps.router.go(place)
    await this.read(notification.id)
  }

  async read(id: string): Promise<void> {
    await this.#changing([id], () => this.#deps.client.notifications.ack({ params: { id }, body: { status: 'read' } }))
  }

  async readAll(): Promise<void> {
    const ids = (this.list.value ?? []).map(({ id }) => id)
    await this.#changing(ids, () => this.#deps.client.notifications.readAll({}))
  }

  /** Presses one of its buttons. */
  async press(notification: Pick<Notification, 'id' | 'data'>, action: string): Promise<void> {
    const { client, toasts, router, session } = this.#deps
    const { id } = notification
    const isDone = await this.#changing([id], () => client.notifications.action({ params: { id }, body: { action } }))
    if (!isDone) return
    if (action === 'Mark Done') toasts.show(t('notifications.done'), { tone: 'good' })
    if (action === 'Snooze 15min') toasts.show(t('notifications.snoozed'), { tone: 'good' })
    const place = action.startsWith('View') ? placeOf(notification, session.may('member')) : null
    if (place) router.go(place)
  }

  /** Shows them as read at once, and as they were where the server refuses. */
  async #changing(ids: string[], send: () => Promise<unknown>): Promise<boolean> {
    const before = this.list.value
    const readAt = new Date().toISOString()
    this.list.value = before?.map((one) => (ids.includes(one.id) && one.status !== 'read' ? { ...one, status: 'read', readAt } : one))
    try {
      await send()
      this.#lookSoon()
      return true
    } catch (error) {
      this.list.value = before
      this.#deps.toasts.show(t('notifications.failed', describeError(error).what), { tone: 'loss' })
      this.#lookSoon()
      return false
    }
  }

  #came(payload: unknown): void {
    const pushed = notificationPush.payload.safeParse(payload)
    if (!pushed.success) return
    this.#acknowledge(pushed.data.id)
    this.#lookSoon()
    if (this.#told.has(pushed.data.id)) return
    this.#told.add(pushed.data.id)
    // A timer that rings has a bar of its own.
    if (pushed.data.category === 'TIMER') return
    this.#fresh.push(pushed.data)
    this.#telling ??= setTimeout(() => this.#tell(), TOGETHER_MS)
  }

  /** Over the line that brought it, or by a request where that has gone. What both fail to say comes again. */
  #acknowledge(id: string): void {
    const { live, client } = this.#deps
    if (live.connected) live.send('notification.ack', { id, status: 'delivered' })
    else client.notifications.ack({ params: { id }, body: { status: 'delivered' } }).catch(() => undefined)
  }

  /** One by itself; several as one line, and urgent ones each by themselves all the same. */
  #tell(): void {
    this.#telling = undefined
    const fresh = this.#fresh
    this.#fresh = []
    const [first, ...others] = fresh
    if (!first) return
    if (others.length === 0) return void this.#tellOne(first)
    for (const one of fresh) if (one.level === 'critical') void this.#tellOne(one)
    const wereMissed = fresh.every(({ seq }) => seq !== undefined && seq <= this.#missedUntil)
    this.#tellSeveral(t(wereMissed ? 'notifications.away' : 'notifications.several', fresh.length))
  }

  #tellSeveral(title: string): void {
    const { toasts, router, layout } = this.#deps
    const label = t('notifications.show')
    const run = () => router.go('/notifications')
    if (!layout.tv) return void toasts.show(title, { action: { label, run } })
    this.banners.add({ id: null, title, body: '', level: 'info', acts: [{ label, name: t('notifications.act', label, title), run }] })
  }

  /** Outside the window where nobody sees that; inside it else. */
  async #tellOne(pushed: Pushed): Promise<void> {
    if (await showOutside(pushed, this.#deps.session.may('member'))) return
    if (this.#deps.layout.tv) this.#tellLarge(pushed)
    else this.#tellSmall(pushed)
  }

  #tellSmall({ id, title, body, level, data = {} }: Pushed): void {
    this.#deps.toasts.show(t('notifications.toast', title, body), {
      tone: level === 'critical' ? 'loss' : 'plain',
      ...(level === 'info' ? {} : { waitMs: LONG_MS }),
      action: { label: t('notifications.show'), run: () => this.#goTo({ id, data }) },
    })
  }

  #tellLarge({ id, title, body, level, category = null, data = {} }: Pushed): void {
    const isMember = this.#deps.session.may('member')
    const act = (label: string, run: () => void) => ({ label, name: t('notifications.act', label, title), run })
    const presses = buttonsFor({ category, status: 'delivered' }, isMember).map((name) =>
      act(buttonLabel(name), () => void this.press({ id, data }, name)),
    )
    const dismiss = t('notifications.button.Dismiss')
    const further = [
      ...(presses.length === 0 ? [act(t('notifications.show'), () => this.#goTo({ id, data }))] : []),
      ...(presses.some(({ label }) => label === dismiss) ? [] : [act(dismiss, () => void this.press({ id, data }, 'Dismiss'))]),
    ]
    this.banners.add({ id, title, body, level, acts: [...presses, ...further] })
  }

  #goTo(notification: Pick<Notification, 'id' | 'data'>): void {
    if (!placeOf(notification, this.#deps.session.may('member'))) this.#deps.router.go('/notifications')
    void this.open(notification)
  }

  #lookSoon(): void {
    this.#reading ??= setTimeout(() => {
      this.#reading = undefined
      void this.load()
    }, TOGETHER_MS)
  }
}

const states = new WeakMap<Deps['client'], NotificationsState>()

/** The notifications as this window knows them, shared by its page and the bell in the frame. */
export function notificationsOf({ client, toasts, session, live, router, layout }: Deps): NotificationsState {
  const state = states.get(client) ?? new NotificationsState({ client, toasts, session, live, router, layout })
  states.set(client, state)
  return state
}
