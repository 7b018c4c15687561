import type { CalendarEvent } from '../../../server/modules/calendar/calendar.contract.ts'
import { addDays, type Day, dayOf, daysBetween, instant, timeOf } from '../../messages/zone.ts'
import type { Home } from '../household/home.state.svelte.ts'
import { spanOf } from './agenda.ts'
import type { EventEdit } from './calendar.state.svelte.ts'
import { type Repeat, readRepeat, writeRepeat } from './repeat.ts'

const HOUR_MS = 3_600_000

/** When an event is, by days and times of the household's zone. */
export interface When {
  allDay: boolean
  startDay: Day
  startTime: string
  endDay: Day
  endTime: string
}

/** An event as fields. */
export interface EventValues {
  title: string
  when: When
  recurrence: Repeat
  location: string
  personId: string
  notes: string
}

interface EventBody {
  title: string
  /** Null as long as something of it is not filled in. */
  when: { startAt: string; endAt: string; allDay: boolean } | null
  recurrence: Repeat
  location: string | null
  personId: string | null
  notes: string | null
}

/** Whether the days, and the times where they count, are filled in. */
const isFilled = ({ allDay, startDay, startTime, endDay, endTime }: When) =>
  startDay !== '' && endDay !== '' && (allDay || (startTime !== '' && endTime !== ''))

/** Turns an event into the fields of its form, and the fields into what is sent. */
export class EventForm {
  readonly #home: Home
  readonly #zone: string
  readonly #startAt: string

  /** `day` is where a new event begins: at the next full hour if that is today. */
  constructor(home: Home, day: Day, now = Date.now()) {
    this.#home = home
    this.#zone = home.zone
    const hour = Math.ceil((now + 1) / HOUR_MS) * HOUR_MS
    this.#startAt = day === dayOf(now, this.#zone) ? new Date(hour).toISOString() : instant(day, '12:00', this.#zone)
  }

  valuesOf(event: CalendarEvent | null): EventValues {
    const { title = '', startAt = this.#startAt, allDay = false, location = '', notes = '', personId = '' } = event ?? {}
    const endAt = event?.endAt ?? new Date(Date.parse(startAt) + HOUR_MS).toISOString()
    const { first, last } = spanOf({ startAt, endAt }, this.#zone)
    return {
      title,
      when: {
        allDay,
        startDay: first,
        startTime: allDay ? '12:00' : timeOf(startAt, this.#zone),
        endDay: allDay ? last : dayOf(endAt, this.#zone),
        endTime: allDay ? '13:00' : timeOf(endAt, this.#zone),
      },
      recurrence: readRepeat(event?.recurrence, first, this.#zone),
      location,
      // Who no longer lives here is nobody to choose.
      personId: this.#home.read.value && !this.#home.nameOf(personId) ? '' : personId,
      notes,
    }
  }

  bodyOf({ title, when, recurrence, location, personId, notes }: EventValues): EventBody {
    return {
      title: title.trim(),
      when: isFilled(when) ? { startAt: this.#start(when), endAt: this.#end(when), allDay: when.allDay } : null,
      recurrence,
      location: location.trim() || null,
      personId: personId || null,
      notes: notes.trim() || null,
    }
  }

  isComplete(values: EventValues): boolean {
    return values.title.trim() !== '' && isFilled(values.when) && !this.endsBefore(values)
  }

  endsBefore({ when }: EventValues): boolean {
    return isFilled(when) && this.#end(when) < this.#start(when)
  }

  /** Moves the end along, so that the event stays as long as it was. */
  setStart(when: When, day: Day, time: string): void {
    if (isFilled(when) && day && time) {
      const length = Date.parse(this.#end(when)) - Date.parse(this.#start(when))
      const days = daysBetween(when.startDay, when.endDay)
      when.startDay = day
      when.startTime = time
      if (when.allDay) when.endDay = addDays(day, Math.max(0, days))
      else {
        const end = Date.parse(this.#start(when)) + Math.max(0, length)
        when.endDay = dayOf(end, this.#zone)
        when.endTime = timeOf(end, this.#zone)
      }
    }
    when.startDay = day
    when.startTime = time
  }

  /** All that is sent of a new one. */
  whole({ when, recurrence, ...rest }: EventBody, { when: { startDay } }: EventValues): EventEdit {
    const { startAt, endAt, allDay } = when ?? { startAt: this.#startAt, endAt: this.#startAt, allDay: false }
    return { ...rest, startAt, endAt, allDay, recurrence: writeRepeat(recurrence, startDay, this.#zone, allDay) }
  }

  /** What is sent of what was changed of `event`. The rule stays as it is where it means the same for the new day. */
  sent({ when, recurrence, ...rest }: Partial<EventBody>, values: EventValues, event: CalendarEvent): Partial<EventEdit> {
    const { startDay, allDay } = values.when
    const repeat = values.recurrence
    const read = readRepeat(event.recurrence, startDay, this.#zone)
    const fits = read.kind === repeat.kind && (!event.recurrence || allDay === event.allDay)
    const isWritten = recurrence !== undefined || (!fits && repeat.kind !== 'other')
    return {
      ...rest,
      ...when,
      ...(isWritten && { recurrence: writeRepeat(repeat, startDay, this.#zone, allDay) }),
    }
  }

  #start({ allDay, startDay, startTime }: When): string {
    return instant(startDay, allDay ? '00:00' : startTime, this.#zone)
  }

  #end({ allDay, endDay, endTime }: When): string {
    return allDay ? instant(addDays(endDay, 1), '00:00', this.#zone) : instant(endDay, endTime, this.#zone)
  }
}
