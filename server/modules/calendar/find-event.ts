import { DateTime } from 'luxon'
import { closest } from '../../kit/closest.ts'
import { AppError } from '../../kit/errors.ts'
import { firstPass } from '../../kit/first-pass.ts'
import type { CalendarEvent } from './calendar.contract.ts'

/** What people add to an event's name when they speak of it. */
const KIND = /\s*(?:appointment|event|meeting|termin)$/i

/** The next of that title, the household's own first. Throws 404 with a sentence that can be said. */
export function findEvent(title: string, coming: readonly CalendarEvent[]): CalendarEvent {
  const sought = (events: readonly CalendarEvent[]) => {
    const nameOf = (event: CalendarEvent) => event.title
    return closest(title, events, nameOf) ?? closest(title.replace(KIND, ''), events, nameOf)
  }
  const own = coming.filter(({ kind }) => kind === 'event')
  const found = sought(own) ?? sought(coming)
  if (!found) throw new AppError(404, 'not_found', `I found no “${title}” in the calendar.`)
  return found
}

interface Move {
  /** `2026-11-25` and `15:00` in the household's zone; what is absent stays. */
  day?: string | undefined
  time?: string | undefined
}

type Times = Pick<CalendarEvent, 'startAt' | 'endAt' | 'allDay'>

/** The same event on another day or at another time, as long as before; a whole day that gets a time lasts an hour. */
export function movedTo({ startAt, endAt, allDay }: Times, { day, time }: Move, zone: string): Times {
  const start = DateTime.fromISO(startAt, { zone })
  const onDay = day ? DateTime.fromISO(day, { zone }) : start
  if (allDay && !time) {
    const days = Math.round(DateTime.fromISO(endAt, { zone }).diff(start, 'days').days)
    return { startAt: onDay.toISODate() ?? '', endAt: onDay.plus({ days }).toISODate() ?? '', allDay }
  }
  const [hour, minute] = time ? time.split(':').map(Number) : [start.hour, start.minute]
  const begin = firstPass(onDay.set({ hour, minute, second: 0, millisecond: 0 }))
  const lastsMs = allDay ? 3_600_000 : Date.parse(endAt) - Date.parse(startAt)
  return { startAt: begin.toUTC().toISO() ?? '', endAt: begin.plus(lastsMs).toUTC().toISO() ?? '', allDay: false }
}
