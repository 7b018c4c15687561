import type { CalendarEvent } from '../../../server/modules/calendar/calendar.contract.ts'
import { addDays, type Day, dayOf, daysBetween, instant, timeOf } from '../../messages/zone.ts'
import { spanOf } from './agenda.ts'
import type { EventEdit } from './calendar.state.svelte.ts'
import { type Repeat, readRepeat, writeRepeat } from './repeat.ts'

const HOUR_MS = 3_600_000

/** An event while it is being written; days and times are those of the household's zone. */
export class EventForm {
  title = $state('')
  allDay = $state(false)
  startDay = $state('')
  startTime = $state('')
  endDay = $state('')
  endTime = $state('')
  location = $state('')
  notes = $state('')
  personId = $state('')
  repeat = $state.raw<Repeat>({ kind: 'none', until: null })
  readonly #zone: string
  readonly #before: CalendarEvent | null
  readonly #repeatBefore: Repeat

  /** `day` is where a new event begins: at the next full hour if that is today. */
  constructor(before: CalendarEvent | null, zone: string, day: Day, now = Date.now()) {
    this.#zone = zone
    this.#before = before
    const hour = Math.ceil((now + 1) / HOUR_MS) * HOUR_MS
    const isToday = day === dayOf(now, zone)
    const startAt = before?.startAt ?? (isToday ? new Date(hour).toISOString() : instant(day, '12:00', zone))
    const endAt = before?.endAt ?? new Date(Date.parse(startAt) + HOUR_MS).toISOString()
    const { first, last } = spanOf({ startAt, endAt }, zone)
    this.allDay = before?.allDay ?? false
    this.startDay = first
    this.endDay = this.allDay ? last : dayOf(endAt, zone)
    this.startTime = this.allDay ? '12:00' : timeOf(startAt, zone)
    this.endTime = this.allDay ? '13:00' : timeOf(endAt, zone)
    this.title = before?.title ?? ''
    this.location = before?.location ?? ''
    this.notes = before?.notes ?? ''
    this.personId = before?.personId ?? ''
    this.#repeatBefore = readRepeat(before?.recurrence, first, zone)
    this.repeat = this.#repeatBefore
  }

  /** Moves the end along, so that the event stays as long as it was. */
  setStart(day: Day, time: string): void {
    if (this.complete && day && time) {
      const length = Date.parse(this.#end()) - Date.parse(this.#start())
      const days = daysBetween(this.startDay, this.endDay)
      this.startDay = day
      this.startTime = time
      if (this.allDay) this.endDay = addDays(day, Math.max(0, days))
      else {
        const end = Date.parse(this.#start()) + Math.max(0, length)
        this.endDay = dayOf(end, this.#zone)
        this.endTime = timeOf(end, this.#zone)
      }
    }
    this.startDay = day
    this.startTime = time
  }

  /** Whether the days, and the times where they count, are filled in. */
  get complete(): boolean {
    return this.startDay !== '' && this.endDay !== '' && (this.allDay || (this.startTime !== '' && this.endTime !== ''))
  }

  get endsBefore(): boolean {
    return this.complete && this.#end() < this.#start()
  }

  /** What is sent: of an event that is changed only what differs. */
  edit(): EventEdit {
    const { allDay, personId } = this
    const title = this.title.trim()
    const startAt = this.#start()
    const endAt = this.#end()
    const location = this.location.trim() || null
    const notes = this.notes.trim() || null
    return { title, startAt, endAt, allDay, location, notes, personId: personId || null, ...this.#recurrence() }
  }

  /** Absent where the rule stays, so that one that was made elsewhere is kept as it is. */
  #recurrence(): { recurrence?: string | null } {
    const { kind, until } = this.repeat
    if (kind === this.#repeatBefore.kind && until === this.#repeatBefore.until && this.#fits()) return {}
    if (kind === 'other') return {}
    return { recurrence: writeRepeat(this.repeat, this.startDay, this.#zone, this.allDay) }
  }

  /** Whether the rule as it stands means the same for the day on which the event now begins. */
  #fits(): boolean {
    const rule = this.#before?.recurrence
    return readRepeat(rule, this.startDay, this.#zone).kind === this.repeat.kind && (!rule || this.allDay === this.#before?.allDay)
  }

  #start(): string {
    return instant(this.startDay, this.allDay ? '00:00' : this.startTime, this.#zone)
  }

  #end(): string {
    return this.allDay ? instant(addDays(this.endDay, 1), '00:00', this.#zone) : instant(this.endDay, this.endTime, this.#zone)
  }
}
