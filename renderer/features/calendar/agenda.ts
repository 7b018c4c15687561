import type { CalendarEvent } from '../../../server/modules/calendar/calendar.contract.ts'
import { t } from '../../messages/messages.ts'
import { addDays, addMonths, type Day, dayOf, daysBetween, dayText, firstWeekday, startOfWeek, timeText } from '../../messages/zone.ts'

export const views = ['agenda', 'week', 'month'] as const
export type View = (typeof views)[number]

/** `to` is the day after the last. */
export interface Period {
  from: Day
  to: Day
}

/** One event on one day; what lasts for several days stands on each of them. */
export interface Entry {
  key: string
  event: CalendarEvent
  begins: boolean
  ends: boolean
}

const monthOf = (day: Day): Day => `${day.slice(0, 7)}-01`

/** What is read for a view: a month from that day on, its week, or all weeks of its month. */
export function periodOf(view: View, at: Day, first = firstWeekday()): Period {
  if (view === 'agenda') return { from: at, to: addMonths(at, 1) }
  if (view === 'week') return { from: startOfWeek(at, first), to: addDays(startOfWeek(at, first), 7) }
  const from = startOfWeek(monthOf(at), first)
  return { from, to: addDays(startOfWeek(addDays(addMonths(monthOf(at), 1), -1), first), 7) }
}

/** The day to look at one step later or earlier. */
export const step = (view: View, at: Day, steps: number): Day =>
  view === 'week' ? addDays(at, 7 * steps) : addMonths(view === 'month' ? monthOf(at) : at, steps)

/** Without the year where it is the one of `today`. */
export function periodText(view: View, at: Day, today: Day, first = firstWeekday()): string {
  if (view === 'month') return dayText(at, { month: 'long', year: 'numeric' })
  const { from, to } = periodOf(view, at, first)
  const last = addDays(to, -1)
  const sameYear = from.slice(0, 4) === last.slice(0, 4)
  const year = { year: 'numeric' } as const
  const start = dayText(from, { day: 'numeric', month: 'short', ...(sameYear ? {} : year) })
  const end = dayText(last, { day: 'numeric', month: 'short', ...(sameYear && last.slice(0, 4) === today.slice(0, 4) ? {} : year) })
  return t('calendar.fromTo', start, end)
}

export function daysIn({ from, to }: Period): Day[] {
  return Array.from({ length: Math.max(0, daysBetween(from, to)) }, (_, index) => addDays(from, index))
}

/** The days of a period in rows of a week. */
export function weeksIn(period: Period): Day[][] {
  const days = daysIn(period)
  return Array.from({ length: Math.ceil(days.length / 7) }, (_, week) => days.slice(week * 7, week * 7 + 7))
}

/** The first and the last day of an event; one that ends at midnight is over by then. */
export function spanOf({ startAt, endAt }: Pick<CalendarEvent, 'startAt' | 'endAt'>, zone: string): { first: Day; last: Day } {
  const first = dayOf(startAt, zone)
  const last = dayOf(Math.max(Date.parse(startAt), Date.parse(endAt) - 1), zone)
  return { first, last }
}

export const keyOf = ({ id, startAt }: Pick<CalendarEvent, 'id' | 'startAt'>): string => `${id}@${startAt}`

const wholeDay = ({ event, begins, ends }: Entry) => event.allDay || (!begins && !ends)
const rank = (entry: Entry) => (wholeDay(entry) ? 0 : entry.begins ? 2 : 1)

/** What is on by day, what lasts all day first. Days on which nothing is are left out. */
export function byDay(events: CalendarEvent[], period: Period, zone: string): Map<Day, Entry[]> {
  const found = new Map<Day, Entry[]>()
  for (const event of events) {
    const { first, last } = spanOf(event, zone)
    const from = first > period.from ? first : period.from
    for (let day = from; day <= last && day < period.to; day = addDays(day, 1)) {
      const entries = found.get(day) ?? []
      entries.push({ key: keyOf(event), event, begins: day === first, ends: day === last })
      found.set(day, entries)
    }
  }
  const order = (a: Entry, b: Entry) =>
    rank(a) - rank(b) || (wholeDay(a) ? 0 : a.event.startAt.localeCompare(b.event.startAt)) || a.event.title.localeCompare(b.event.title)
  for (const entries of found.values()) entries.sort(order)
  return found
}

/** When it is on that day, as short as it stays clear. */
export function entryTime(entry: Entry, zone: string): string {
  const { event, begins } = entry
  if (wholeDay(entry)) return t('calendar.allDay')
  if (!begins) return t('calendar.until', timeText(event.endAt, zone))
  return timeText(event.startAt, zone)
}

/** From when to when, in words and by the clock of the house. */
export function whenWords({ startAt, endAt, allDay }: CalendarEvent, zone: string): string {
  const { first, last } = spanOf({ startAt, endAt }, zone)
  const day = (value: Day) => dayText(value, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
  if (allDay) return first === last ? day(first) : t('calendar.fromTo', day(first), day(last))
  const start = `${day(first)}, ${timeText(startAt, zone)}`
  if (startAt === endAt) return start
  return t('calendar.fromTo', start, first === last ? timeText(endAt, zone) : `${day(last)}, ${timeText(endAt, zone)}`)
}
