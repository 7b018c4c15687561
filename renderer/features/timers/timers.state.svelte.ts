import { serverMessages } from '../../../server/kit/socket.contract.ts'
import type { SeenTimer, Timer } from '../../../server/modules/timers/timers.contract.ts'
import type { Hearth } from '../../app-context.ts'
import { describeError } from '../../messages/describe-error.ts'
import { hasStatus } from '../../messages/field-errors.ts'
import { t } from '../../messages/messages.ts'
import { whileLive } from '../../ui/while-live.ts'
import { timerName } from './timer-words.ts'

type Deps = Pick<Hearth, 'client' | 'toasts' | 'session' | 'live'>

/** A timer by the clock of this device, which need not be the server's. */
export interface Running extends SeenTimer {
  /** Milliseconds since 1970. */
  endsHere: number
}

const REFRESH_MS = 60_000
const TICK_MS = 250
/** The server has rung by then. */
const AFTER_MS = 400
/** An alarm further away is none that one counts seconds for. */
const COUNTED_MS = 3_600_000
/** What rang longer ago is shown but makes no sound. */
const FRESH_MS = 120_000

/** The timers and alarms of the house, with one clock for all that count down here. */
export class TimersState {
  now = $state(Date.now())
  loaded = $state(false)
  loading = $state(false)
  error = $state.raw<unknown>(null)
  #all = $state.raw<Running[]>([])
  #here = $state<string | null>(null)
  readonly #deps: Deps
  #reads = 0
  #clock: ReturnType<typeof setInterval> | undefined
  #later: ReturnType<typeof setTimeout> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
    deps.live.on('welcome', (payload) => {
      const welcome = serverMessages.welcome.safeParse(payload)
      if (welcome.success) this.#here = welcome.data.deviceId
    })
  }

  /** The next to ring first; those that ring before all others. */
  get all(): Running[] {
    return this.#all.toSorted((a, b) => Number(this.rings(b)) - Number(this.rings(a)) || this.left(a) - this.left(b))
  }

  /** Those that whoever is here may end; another's alarm wakes them elsewhere. */
  get ringing(): Running[] {
    return this.#all.filter((timer) => timer.mayChange && this.rings(timer))
  }

  /** Whether one of those that ring was set here and not long ago. */
  get sounds(): boolean {
    const here = this.#deps.session.device?.id ?? this.#here
    return this.ringing.some(
      (timer) => this.now - timer.endsHere < FRESH_MS && (here === null || timer.deviceId === undefined || timer.deviceId === here),
    )
  }

  /** What the title of the window counts. */
  get next(): Running | null {
    const counted = this.#all.filter(
      (timer) => !timer.pausedAt && !this.rings(timer) && (timer.kind === 'timer' || this.left(timer) < COUNTED_MS),
    )
    return counted.sort((a, b) => a.endsHere - b.endsHere)[0] ?? null
  }

  left(timer: Running): number {
    return timer.pausedAt ? timer.remainingMs : Math.max(0, timer.endsHere - this.now)
  }

  rings(timer: Running): boolean {
    return timer.rangAt !== undefined || (!timer.pausedAt && timer.endsHere <= this.now)
  }

  /** Reads now and whenever a timer was set, changed or rang; returns what ends that. */
  watch(): () => void {
    const stop = whileLive(this.#deps.live, ['timer.changed'], () => void this.load(), REFRESH_MS)
    return () => {
      stop()
      clearInterval(this.#clock)
      clearTimeout(this.#later)
      this.#clock = undefined
    }
  }

  /** Never rejects: look at `error`. */
  async load(): Promise<void> {
    const mine = ++this.#reads
    this.loading = true
    try {
      const timers = await this.#deps.client.timers.list()
      if (mine !== this.#reads) return
      this.#set(timers.map(placed))
      this.error = null
      this.loaded = true
    } catch (error) {
      if (mine !== this.#reads) return
      this.error = error
    }
    this.loading = false
  }

  /** Rejects where the server refuses it. */
  async start(durationMs: number, name: string): Promise<Timer> {
    return this.#add({ durationMs, ...(name ? { name } : {}) })
  }

  /** Rejects where the server refuses it. */
  async setAlarm(endsAt: string, name: string): Promise<Timer> {
    return this.#add({ endsAt, ...(name ? { name } : {}) })
  }

  async pause(timer: Running, paused: boolean): Promise<void> {
    const left = this.left(timer)
    const { pausedAt: _, ...running } = timer
    const shown = paused
      ? { ...running, pausedAt: new Date().toISOString(), remainingMs: left }
      : { ...running, remainingMs: left, endsHere: Date.now() + left }
    await this.#change(shown, { paused })
  }

  /** Gives it more time; one that rings runs again. */
  async addTime(timer: Running, addMs: number): Promise<void> {
    const { rangAt: _, ...running } = timer
    const left = this.left(timer) + addMs
    await this.#change({ ...running, remainingMs: left, endsHere: Date.now() + left, durationMs: timer.durationMs + addMs }, { addMs })
  }

  /** Ends a ringing one for good, or cancels one that can be set again by “Undo”. */
  async remove(timer: Running): Promise<void> {
    const { client, toasts } = this.#deps
    const rang = this.rings(timer)
    const before = this.#all
    this.#set(before.filter(({ id }) => id !== timer.id))
    try {
      await client.timers.remove({ params: { id: timer.id } })
    } catch (error) {
      // Somebody else was quicker.
      if (!hasStatus(error, 404)) return this.#rollBack(before, error)
    }
    if (!rang) toasts.undoable(t('timers.cancelled', timerName(timer)), t('ui.undo'), () => void this.#setAgain(timer))
  }

  async #setAgain(timer: Running): Promise<void> {
    const { name, kind, deviceId, pausedAt, endsAt } = timer
    const { session } = this.#deps
    const elsewhere = deviceId !== undefined && (session.may('admin') || deviceId === session.device?.id)
    const left = Math.max(1, pausedAt ? timer.remainingMs : timer.endsHere - Date.now())
    const when = kind === 'alarm' ? { endsAt } : { durationMs: left }
    try {
      const { id } = await this.#add({ ...when, ...(name ? { name } : {}), ...(elsewhere ? { deviceId } : {}) })
      if (pausedAt) this.#put(placed(await this.#deps.client.timers.update({ params: { id }, body: { paused: true } })))
    } catch (error) {
      this.#say(error)
    }
  }

  async #add(body: Parameters<Deps['client']['timers']['create']>[0]['body']): Promise<Timer> {
    const timer = await this.#deps.client.timers.create({ body })
    this.#put(placed(timer))
    return timer
  }

  async #change(shown: Running, body: { paused: boolean } | { addMs: number }): Promise<void> {
    const before = this.#all
    this.#put(shown)
    try {
      this.#put(placed(await this.#deps.client.timers.update({ params: { id: shown.id }, body })))
    } catch (error) {
      this.#rollBack(before, error)
      if (hasStatus(error, 404)) void this.load()
    }
  }

  #rollBack(before: Running[], error: unknown): void {
    this.#set(before)
    this.#say(error)
  }

  #say(error: unknown): void {
    this.#deps.toasts.show(t('timers.failed', describeError(error).what), { tone: 'loss' })
  }

  #put(timer: Running): void {
    this.#set([...this.#all.filter(({ id }) => id !== timer.id), timer])
  }

  /** Also drops a read under way, whose answer would be older. */
  #set(timers: Running[]): void {
    this.#reads++
    this.loading = false
    this.#all = timers
    this.now = Date.now()
    const counts = timers.some((timer) => !timer.pausedAt && !timer.rangAt)
    if (!counts) {
      clearInterval(this.#clock)
      this.#clock = undefined
    } else this.#clock ??= setInterval(() => this.#tick(), TICK_MS)
  }

  #tick(): void {
    const before = this.now
    this.now = Date.now()
    const ended = this.#all.some(({ endsHere, pausedAt }) => !pausedAt && endsHere > before && endsHere <= this.now)
    if (!ended) return
    clearTimeout(this.#later)
    this.#later = setTimeout(() => void this.load(), AFTER_MS)
  }
}

const placed = (timer: SeenTimer): Running => ({
  ...timer,
  endsHere: timer.rangAt ? Date.parse(timer.rangAt) : Date.now() + timer.remainingMs,
})

const states = new WeakMap<Deps['client'], TimersState>()

/** The timers as this window knows them, shared by its pages and the bell in the frame. */
export function timersOf({ client, toasts, session, live }: Deps): TimersState {
  const state = states.get(client) ?? new TimersState({ client, toasts, session, live })
  states.set(client, state)
  return state
}
