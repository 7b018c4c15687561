import { type CalendarEvent, calendarContract, type Subscription } from '../../../server/modules/calendar/calendar.contract.ts'
import type { Hearth } from '../../app-context.ts'
import { describeError } from '../../messages/describe-error.ts'
import { hasStatus } from '../../messages/field-errors.ts'
import { t } from '../../messages/messages.ts'
import { type Day, dayOf, instant } from '../../messages/zone.ts'
import { createPartingClient } from '../../parting.ts'
import { Leaving } from '../../ui/leaving.svelte.ts'
import { Resource } from '../../ui/resource.svelte.ts'
import { whileLive } from '../../ui/while-live.ts'
import { Home } from '../household/home.state.svelte.ts'
import { keyOf, type Period, periodOf, type View } from './agenda.ts'
import { fullDay } from './day-words.ts'

type Deps = Pick<Hearth, 'client' | 'toasts' | 'live'>
export type EventEdit = Parameters<Deps['client']['calendar']['create']>[0]['body']

const REFRESH_MS = 60_000
/** Periods that stay at hand while one leafs through. */
const KEPT = 12

/** The calendar of the house, period by period, and the outside calendars in it. */
export class CalendarState {
  readonly home: Home
  readonly subscriptions: Resource<Subscription[]>
  period = $state.raw<Period | null>(null)
  now = $state(Date.now())
  loading = $state(false)
  error = $state.raw<unknown>(null)
  readonly #deps: Deps
  readonly #leaving: Leaving
  #kept = $state.raw<ReadonlyMap<string, CalendarEvent[]>>(new Map())
  #current: AbortController | null = null

  constructor(deps: Deps) {
    this.#deps = deps
    this.home = new Home(deps.client)
    this.#leaving = new Leaving(deps.toasts)
    this.subscriptions = new Resource((signal) => deps.client.calendar.subscriptions({}, { signal }))
  }

  get today(): Day {
    return dayOf(this.now, this.home.zone)
  }

  /** Undefined until the period has been read once. */
  get events(): CalendarEvent[] | undefined {
    const events = this.period ? this.#kept.get(this.#key(this.period)) : undefined
    return events?.filter((event) => !this.#leaving.has(event.id) && !this.#leaving.has(keyOf(event)))
  }

  get outside(): Subscription[] | undefined {
    return this.subscriptions.value?.filter(({ id }) => !this.#leaving.has(id))
  }

  nameOfOutside(id: string | undefined): string | null {
    return this.subscriptions.value?.find((subscription) => subscription.id === id)?.name ?? null
  }

  /** Reads now and whenever the calendar changed; returns what ends that. */
  watch(): () => void {
    const look = () => {
      this.now = Date.now()
      void this.subscriptions.load()
      if (this.home.read.value) void this.load()
      else void this.home.read.load().then(() => this.load())
    }
    return whileLive(this.#deps.live, ['calendar.changed'], look, REFRESH_MS)
  }

  show(view: View, at: Day): void {
    const period = periodOf(view, at)
    if (this.period?.from === period.from && this.period.to === period.to) return
    this.period = period
    this.error = null
    // Which days these are is known once the zone of the household is.
    if (this.home.read.value || this.home.read.error) void this.load()
  }

  /** Never rejects: look at `error`. */
  async load(): Promise<void> {
    const { period } = this
    if (!period) return
    this.#current?.abort()
    const mine = new AbortController()
    this.#current = mine
    this.loading = true
    const midnight = (day: Day) => instant(day, '00:00', this.home.zone)
    try {
      const query = { from: midnight(period.from), to: midnight(period.to) }
      const events = await this.#deps.client.calendar.list({ query }, { signal: mine.signal })
      if (mine.signal.aborted) return
      this.#keep(period, events)
      this.error = null
    } catch (error) {
      if (mine.signal.aborted) return
      this.error = error
    }
    this.loading = false
  }

  /** The event as it begins, of which a listed one may be a later occurrence. */
  begin({ id }: CalendarEvent): Promise<CalendarEvent> {
    return this.#deps.client.calendar.get({ params: { id } })
  }

  /** Rejects where the server refuses it. */
  async add(edit: EventEdit): Promise<CalendarEvent> {
    const event = await this.#deps.client.calendar.create({ body: edit })
    this.#forget()
    return event
  }

  /** Rejects where the server refuses it. */
  async save({ id }: CalendarEvent, edit: Partial<EventEdit>): Promise<CalendarEvent> {
    const event = await this.#deps.client.calendar.update({ params: { id }, body: edit })
    this.#forget()
    return event
  }

  /** Takes an event out with all its repeats, once the time to undo that has passed. */
  remove(event: CalendarEvent): void {
    const text = event.recurrence ? t('calendar.deletedAll', event.title) : t('calendar.deleted', event.title)
    this.#leave(event.id, event, text, { params: { id: event.id }, query: {} })
  }

  /** Takes out the one occurrence, once the time to undo that has passed. */
  removeOne(event: CalendarEvent): void {
    const day = fullDay(dayOf(event.startAt, this.home.zone), this.today)
    const query = { occurrence: event.startAt }
    this.#leave(keyOf(event), event, t('calendar.deletedOne', event.title, day), { params: { id: event.id }, query })
  }

  /** Rejects where it cannot be fetched. */
  async subscribe(name: string, url: string): Promise<Subscription> {
    const added = await this.#deps.client.calendar.subscribe({ body: { name, url } })
    this.subscriptions.value = [...(this.subscriptions.value ?? []), added]
    this.#forget()
    return added
  }

  /** Rejects where it cannot be fetched. */
  async refresh({ id }: Subscription): Promise<Subscription> {
    const fresh = await this.#deps.client.calendar.refresh({ params: { id } })
    this.subscriptions.value = this.subscriptions.value?.map((other) => (other.id === id ? fresh : other)) ?? [fresh]
    this.#forget()
    return fresh
  }

  /** Shows an outside calendar no more, and removes it once the time to undo that has passed. */
  unsubscribe({ id, name }: Subscription): void {
    const params = { id }
    this.#leaving.add(id, {
      text: t('outside.removed', name),
      remove: async () => {
        await this.#deps.client.calendar.unsubscribe({ params }).catch(unlessGone)
        if (this.subscriptions.value) this.subscriptions.value = this.subscriptions.value.filter((other) => other.id !== id)
        this.#forget()
      },
      part: () => createPartingClient({ calendar: calendarContract }).calendar.unsubscribe({ params }),
      onfailed: (error) => this.#say(t('outside.removeFailed', name, describeError(error).what)),
    })
  }

  async makeFeed(): Promise<string> {
    return (await this.#deps.client.calendar.feed()).url
  }

  /** One's own, or as an admin everybody's. */
  async endFeed(all: boolean): Promise<void> {
    await this.#deps.client.calendar.endFeed({ query: { all: all ? 'true' : 'false' } })
  }

  #leave(key: string, event: CalendarEvent, text: string, input: Parameters<Deps['client']['calendar']['remove']>[0]): void {
    this.#leaving.add(key, {
      text,
      remove: async () => {
        await this.#deps.client.calendar.remove(input).catch(unlessGone)
        const stays = (other: CalendarEvent) => other.id !== key && keyOf(other) !== key
        this.#kept = new Map([...this.#kept].map(([period, events]) => [period, events.filter(stays)]))
      },
      part: () => createPartingClient({ calendar: calendarContract }).calendar.remove(input),
      onfailed: (error) => this.#say(t('calendar.deleteFailed', event.title, describeError(error).what)),
    })
  }

  /** What was read before may be otherwise now; what is shown stays until it has been read anew. */
  #forget(): void {
    const shown = this.period && this.#kept.get(this.#key(this.period))
    this.#kept = new Map(this.period && shown ? [[this.#key(this.period), shown]] : [])
    void this.load()
  }

  #keep(period: Period, events: CalendarEvent[]): void {
    const key = this.#key(period)
    const others = [...this.#kept].filter(([other]) => other !== key)
    this.#kept = new Map([...others.slice(-KEPT), [key, events]])
  }

  #key({ from, to }: Period): string {
    return `${from} ${to} ${this.home.zone}`
  }

  #say(text: string): void {
    this.#deps.toasts.show(text, { tone: 'loss' })
  }
}

function unlessGone(error: unknown): void {
  if (!hasStatus(error, 404)) throw error
}

const states = new WeakMap<Deps['client'], CalendarState>()

/** The calendar as this window knows it, so that what is being undone outlives a look at another page. */
export function calendarOf({ client, toasts, live }: Deps): CalendarState {
  const state = states.get(client) ?? new CalendarState({ client, toasts, live })
  states.set(client, state)
  return state
}
