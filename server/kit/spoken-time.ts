import { DateTime } from 'luxon'
import { writtenTime } from './first-pass.ts'

export interface Place {
  timezone: string
  locale: string
}

/** Sentences are English so far; the hours are said as the household's English has them. */
const localeOf = ({ locale }: Place): string => (/^en\b/i.test(locale) ? locale : 'en-GB')

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** `ms` in its two largest units, to the second: “4 minutes 10 seconds”. */
export function spokenDuration(ms: number): string {
  let left = Math.max(0, Math.round(ms / 1_000)) * 1_000
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${count} ${unit}${count === 1 ? '' : 's'}`)
    else if (parts.length > 0) break
  }
  return parts.slice(0, 2).join(' ') || 'less than a second'
}

/** The time of day in the household: “15:00”. */
export const spokenTime = (at: string, place: Place): string =>
  DateTime.fromISO(at, { zone: place.timezone }).toLocaleString(DateTime.TIME_SIMPLE, { locale: localeOf(place) })

function spokenDay(day: DateTime, now: DateTime, locale: string): string {
  const days = Math.round(day.startOf('day').diff(now.startOf('day'), 'days').days)
  const near = { '-1': 'yesterday', '0': 'today', '1': 'tomorrow' }[String(days)]
  if (near) return near
  const inWords = day.toLocaleString({ weekday: 'long', day: 'numeric', month: 'long' }, { locale }).replace(',', '')
  return day.year === now.year ? `on ${inWords}` : `on ${inWords} ${day.year}`
}

/** A moment as it is said in the household: “tomorrow at 15:00”. */
export function spokenMoment(at: string, place: Place, now = new Date()): string {
  const locale = localeOf(place)
  const moment = DateTime.fromISO(at, { zone: place.timezone })
  return `${spokenDay(moment, DateTime.fromJSDate(now, { zone: place.timezone }), locale)} at ${spokenTime(at, place)}`
}

/** “milk, eggs and bread”. */
export const spokenList = (words: string[]): string =>
  words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words.at(-1)}` : (words[0] ?? '')

/** A written time as an instant; one without an offset is the household’s. Null for no time. */
export function instantOf(text: string, { timezone }: Place): string | null {
  const moment = writtenTime(text, timezone)
  return moment.isValid ? moment.toUTC().toISO() : null
}
