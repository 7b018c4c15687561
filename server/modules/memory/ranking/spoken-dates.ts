import type { ParsedComponents } from 'chrono-node'

/** A time that a question names; what it leaves open (the year of "in June") fits any. */
export interface Period {
  /** Local days as YYYY-MM-DD, both included. */
  from: string
  to: string
  /** True where no year was said. */
  anyYear: boolean
}

const DAY_MS = 86_400_000
const MAX_CHARACTERS = 500
/** A word in it is worth asking the parser for. */
const MAYBE_DATE =
  /\d|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|today|yesterday|tonight|week|month|year|ago)/i

/** The local day of an instant, given the zone's minutes ahead of UTC. */
export const dayOf = (at: number, offsetMinutes: number): string => new Date(at + offsetMinutes * 60_000).toISOString().slice(0, 10)

const iso = (year: number, month: number, day: number) =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
const lastDay = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate()

function periodOf(start: ParsedComponents, end: ParsedComponents | null | undefined, text: string): Period | null {
  const year = start.get('year') ?? 0
  const month = start.get('month') ?? 1
  const day = start.get('day') ?? 1
  const anyYear = !start.isCertain('year') && start.isCertain('month')
  if (end) return { from: iso(year, month, day), to: iso(end.get('year') ?? year, end.get('month') ?? 12, end.get('day') ?? 31), anyYear }
  if (/\byears?\b/i.test(text)) return { from: iso(year, 1, 1), to: iso(year, 12, 31), anyYear: false }
  if (/\bmonths?\b/i.test(text)) return { from: iso(year, month, 1), to: iso(year, month, lastDay(year, month)), anyYear: false }
  if (/\bweek(end)?s?\b/i.test(text)) {
    const middle = Date.UTC(year, month - 1, day)
    return { from: dayOf(middle - 3 * DAY_MS, 0), to: dayOf(middle + 3 * DAY_MS, 0), anyYear: false }
  }
  if (start.isCertain('day') || start.isCertain('weekday')) return { from: iso(year, month, day), to: iso(year, month, day), anyYear }
  if (start.isCertain('month')) return { from: iso(year, month, 1), to: iso(year, month, lastDay(year, month)), anyYear }
  return null
}

/** The times that a question names ("in June", "last week", "on 5 July 2023"), seen from `now`. */
export async function periodsIn(question: string, now: Date, offsetMinutes: number): Promise<Period[]> {
  const text = question.slice(0, MAX_CHARACTERS)
  if (!MAYBE_DATE.test(text)) return []
  const { casual } = await import('chrono-node/en')
  const periods: Period[] = []
  for (const { start, end, text: said } of casual.parse(text, { instant: now, timezone: offsetMinutes })) {
    if (said === 'may') continue
    const period = periodOf(start, end, said)
    if (period) periods.push(period)
  }
  if (periods.length === 0) {
    for (const [year] of text.matchAll(/\b(?:19|20)\d\d\b/g)) periods.push({ from: `${year}-01-01`, to: `${year}-12-31`, anyYear: false })
  }
  return periods
}

/** How well a local day fits a time that was named: 1 within it, half in the fortnight after, when one still speaks of it. */
export function fitOf(day: string, { from, to, anyYear }: Period): number {
  const within = (start: string, finish: string) => day >= start && day <= finish
  const after = (last: string) => dayOf(Date.parse(`${last}T00:00:00Z`) + 14 * DAY_MS, 0)
  const shift = anyYear ? `${Number(day.slice(0, 4)) - (day.slice(5) < from.slice(5) ? 1 : 0)}` : from.slice(0, 4)
  const moved = (date: string) =>
    anyYear ? `${Number(shift) + Number(date.slice(0, 4)) - Number(from.slice(0, 4))}${date.slice(4)}` : date
  if (within(moved(from), moved(to))) return 1
  return within(moved(from), after(moved(to))) ? 0.5 : 0
}
