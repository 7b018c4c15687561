import { dateLocale } from './format.ts'

/** A day of the calendar as `YYYY-MM-DD`, the same wherever one is. */
export type Day = string
type Moment = string | number | Date

const DAY_MS = 86_400_000
const clocks = new Map<string, Intl.DateTimeFormat>()

/** The zone of this browser, until the household's is known. */
export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

/** What calendar and clock of a zone show, as though it were UTC. */
function wall(at: Moment, zone: string): Date {
  let clock = clocks.get(zone)
  if (!clock) {
    const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
    clock = new Intl.DateTimeFormat('en-US', { timeZone: zone, calendar: 'gregory', hourCycle: 'h23', ...digits })
    clocks.set(zone, clock)
  }
  const parts = Object.fromEntries(clock.formatToParts(new Date(at)).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second))
}

export const dayOf = (at: Moment, zone: string): Day => wall(at, zone).toISOString().slice(0, 10)

/** The time of day in a zone as `HH:MM`, for fields. */
export const timeOf = (at: Moment, zone: string): string => wall(at, zone).toISOString().slice(11, 16)

/** When clocks of a zone show that time on that day: a time that they show twice is the first, one that they skip an hour later. */
export function instant(day: Day, time: string, zone: string): string {
  const shown = Date.parse(`${day}T${time}:00Z`)
  const offset = (at: number) => wall(at, zone).getTime() - Math.floor(at / 1000) * 1000
  const asBefore = shown - offset(shown - DAY_MS)
  if (wall(asBefore, zone).getTime() === shown) return new Date(asBefore).toISOString()
  const guess = shown - offset(shown)
  const better = shown - offset(guess)
  return new Date(wall(better, zone).getTime() === shown ? better : Math.max(guess, better)).toISOString()
}

export const addDays = (day: Day, days: number): Day => new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

/** The same day of another month, or its last where it has no such day. */
export function addMonths(day: Day, months: number): Day {
  const first = new Date(`${day.slice(0, 7)}-01`)
  first.setUTCMonth(first.getUTCMonth() + months + 1, 0)
  const last = first.getUTCDate()
  return `${first.toISOString().slice(0, 7)}-${String(Math.min(last, Number(day.slice(8)))).padStart(2, '0')}`
}

/** Days from `from` to `to`; negative where `to` is before. */
export const daysBetween = (from: Day, to: Day): number => Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS)

/** 1 for Monday to 7 for Sunday. */
export const weekday = (day: Day): number => new Date(day).getUTCDay() || 7

export const startOfWeek = (day: Day, first = firstWeekday()): Day => addDays(day, -((weekday(day) - first + 7) % 7))

/** The day that weeks begin with where the reader lives, 1 for Monday; browsers that do not know say Monday. */
export function firstWeekday(tag: string = navigator.language): number {
  const locale = new Intl.Locale(tag) as Intl.Locale & { getWeekInfo?: () => { firstDay: number }; weekInfo?: { firstDay: number } }
  return (locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? 1
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Made once, since making one takes longer than a hundred times of writing with it. */
function formatOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify(options)
  const format = formats.get(key) ?? new Intl.DateTimeFormat(dateLocale(), options)
  formats.set(key, format)
  return format
}

/** A day as people write it where the reader lives. */
export const dayText = (day: Day, options: Intl.DateTimeFormatOptions = { weekday: 'long', day: 'numeric', month: 'long' }): string =>
  formatOf({ ...options, timeZone: 'UTC' }).format(new Date(day))

/** A time of day in a zone as people write it where the reader lives. */
export const timeText = (at: Moment, zone: string): string => formatOf({ timeStyle: 'short', timeZone: zone }).format(new Date(at))
