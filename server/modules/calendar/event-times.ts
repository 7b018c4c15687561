import { DateTime } from 'luxon'
import { invalid } from '../../kit/errors.ts'
import { firstPass } from '../../kit/first-pass.ts'
import { RecurrenceError, tidyRecurrence } from '../../kit/recurrence.ts'
import type { Span } from './occurrences.ts'

/** The longest that one event takes; a list looks back this far for what goes on still. */
export const MAX_EVENT_DAYS = 400
const YEARS = { from: 1900, to: 2200 }

const refuse = (field: string, message: string) => invalid([{ path: `body.${field}`, message }])

const utc = (at: DateTime): string => at.toUTC().toISO() as string

const dayStart = (at: DateTime): DateTime => firstPass(at.startOf('day'))

const DATE = /^\d{4}-\d{2}-\d{2}$/
const UTC_MIDNIGHT = /T00:00:00\.000Z$/

/** As it is meant: of whole days a date, or a midnight of UTC, is that date in the household's zone. Throws 400 for a date where a time belongs. */
export function meant(zone: string, at: string, allDay: boolean, field: 'startAt' | 'endAt'): string {
  const isDate = DATE.test(at)
  if (isDate && !allDay) throw refuse(field, 'needs a time, unless it is for the whole day')
  return allDay && (isDate || UTC_MIDNIGHT.test(at)) ? utc(dayStart(DateTime.fromISO(at.slice(0, 10), { zone }))) : at
}

/** Start and end as they are kept: all-day ones from midnight to midnight in `zone`. Throws 400. */
export function spanIn(zone: string, { startAt, endAt, allDay }: { startAt: string; endAt?: string | undefined; allDay: boolean }): Span {
  const given = DateTime.fromISO(startAt, { zone })
  if (given.year < YEARS.from || given.year > YEARS.to) throw refuse('startAt', 'is too far away')
  if (endAt !== undefined && endAt < startAt) throw refuse('endAt', 'is before the start')
  const start = allDay ? dayStart(given) : given
  const wished = endAt === undefined ? (allDay ? start : start.plus({ hours: 1 })) : DateTime.fromISO(endAt, { zone })
  const midnight = dayStart(wished)
  const allDayEnd = +midnight === +wished && +wished > +start ? wished : dayStart(midnight.plus({ days: 1 }))
  const end = allDay ? allDayEnd : wished
  if (end.diff(start, 'days').days > MAX_EVENT_DAYS) throw refuse('endAt', `is more than ${MAX_EVENT_DAYS} days after the start`)
  return { startAt: utc(start), endAt: utc(end) }
}

/** The end of what lasts as long as before and begins at another time; whole days stay whole days. */
export function movedEnd(before: Span & { allDay: boolean }, startAt: string, zone: string): string {
  const [from, to, start] = [before.startAt, before.endAt, startAt].map((at) => DateTime.fromISO(at, { zone })) as [
    DateTime,
    DateTime,
    DateTime,
  ]
  return utc(before.allDay ? dayStart(start).plus(to.diff(from, 'days')) : start.plus(to.diff(from)))
}

/** A rule as it is kept. Throws 400. */
export function readRecurrence(text: string | null | undefined): string | null {
  if (!text?.trim()) return null
  try {
    return tidyRecurrence(text)
  } catch (error) {
    if (error instanceof RecurrenceError) throw refuse('recurrence', error.message)
    throw error
  }
}
