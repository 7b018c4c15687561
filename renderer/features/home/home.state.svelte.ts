import type { CalendarEvent } from '../../../server/modules/calendar/calendar.contract.ts'
import type { LlmStatus } from '../../../server/modules/models/models.contract.ts'
import type { Status } from '../../../server/modules/status/status.contract.ts'
import type { Hearth } from '../../app-context.ts'
import { addDays, dayOf, instant } from '../../messages/zone.ts'
import { Resource } from '../../ui/resource.svelte.ts'
import { whileLive } from '../../ui/while-live.ts'
import { byDay, type Entry } from '../calendar/agenda.ts'
import { Home } from '../household/home.state.svelte.ts'

const REFRESH_MS = 60_000
/** That a model was loaded is no topic. */
const STATUS_MS = 20_000
const MINUTE_MS = 60_000
/** Today and tomorrow. */
const DAYS = 2

/** What the tiles of the home page show that no other page keeps already. Each reads for itself, so that each fails alone. */
export class HomeState {
  readonly home: Home
  readonly status: Resource<Status>
  readonly model: Resource<LlmStatus>
  readonly memories: Resource<{ chunks: number }>
  readonly events: Resource<CalendarEvent[]>
  now = $state(Date.now())
  readonly #hearth: Hearth

  constructor(hearth: Hearth) {
    const { client } = hearth
    this.#hearth = hearth
    this.home = new Home(client)
    this.status = new Resource((signal) => client.status.get({}, { signal }))
    this.model = new Resource((signal) => client.models.llm(undefined, { signal }))
    this.memories = new Resource((signal) => client.memory.index({}, { signal }))
    this.events = new Resource(async (signal) => {
      // Which days these are is known once the zone of the household is.
      await this.home.read.load()
      const { from, to } = this.period
      const { zone } = this.home
      return client.calendar.list({ query: { from: instant(from, '00:00', zone), to: instant(to, '00:00', zone) } }, { signal })
    })
  }

  /** Today and tomorrow by the clock of the house. */
  get period(): { from: string; to: string } {
    const from = dayOf(this.now, this.home.zone)
    return { from, to: addDays(from, DAYS) }
  }

  /** What is on and not over yet, by day. */
  get upcoming(): Map<string, Entry[]> {
    const ahead = (this.events.value ?? []).filter(({ startAt, endAt }) => Math.max(Date.parse(startAt), Date.parse(endAt)) >= this.now)
    return byDay(ahead, this.period, this.home.zone)
  }

  /** Keeps the greeting and what is over right; returns what ends that. */
  watchClock(): () => void {
    const clock = setInterval(() => {
      const day = this.period.from
      this.now = Date.now()
      if (this.period.from !== day) void this.events.load()
    }, MINUTE_MS / 2)
    return () => clearInterval(clock)
  }

  watchStatus(): () => void {
    const { live, session } = this.#hearth
    const lookAtHouse = () => {
      void this.status.load()
      void this.model.load()
    }
    const stops = [
      whileLive(live, session.may('admin') ? ['pairing.changed'] : [], lookAtHouse, STATUS_MS),
      whileLive(live, ['memory.index'], () => void this.memories.load(), REFRESH_MS),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  watchEvents(): () => void {
    return whileLive(this.#hearth.live, ['calendar.changed', 'household.changed'], () => void this.events.load(), REFRESH_MS)
  }
}
