import { setImmediate as nextTurn } from 'node:timers/promises'
import { DateTime } from 'luxon'
import { fromWall, nextOccurrence, occurrencesBetween, type Series, toWall } from '../../kit/recurrence.ts'
import type { CalendarEventRow } from './calendar.table.ts'

const DAY_MS = 86_400_000
/** Counted in one go, in few milliseconds. */
const CHUNK = 100
/** So far ahead nobody asks; a rule that goes on until then goes on for ever. */
const END_OF_TIME = Date.UTC(2300, 0)

/** What of an event says when it takes place. */
export type Timing = Pick<CalendarEventRow, 'startAt' | 'endAt' | 'allDay' | 'recurrence' | 'timezone' | 'excluded'>

export interface Span {
  startAt: string
  endAt: string
}

const iso = (ms: number) => new Date(ms).toISOString()

/** On the wall, in fields of UTC; of an all-day event midnight, which some changes of clocks skip. */
function wallOf({ allDay }: Timing, at: string, zone: string): Date {
  const wall = toWall(at, zone)
  return allDay ? new Date(Math.floor(wall.getTime() / DAY_MS) * DAY_MS) : wall
}

const wallStart = (timing: Timing): Date => wallOf(timing, timing.startAt, timing.timezone)

/** Whole days of an all-day event, at least one. */
function daysOf(timing: Timing): number {
  const lastedMs = toWall(timing.endAt, timing.timezone).getTime() - wallStart(timing).getTime()
  return Math.max(1, Math.round(lastedMs / DAY_MS))
}

/** An occurrence as it is shown in `zone`, in which all-day ones keep their dates. */
function spanAt(timing: Timing, wall: Date, zone: string): Span {
  if (timing.allDay) return { startAt: fromWall(wall, zone), endAt: fromWall(new Date(wall.getTime() + daysOf(timing) * DAY_MS), zone) }
  const startAt = fromWall(wall, timing.timezone)
  return { startAt, endAt: iso(Date.parse(startAt) + Date.parse(timing.endAt) - Date.parse(timing.startAt)) }
}

/** The first occurrence as it is shown in `zone`. */
export const firstSpan = (timing: Timing, zone: string): Span => spanAt(timing, wallStart(timing), zone)

/** By what an occurrence is known in `excluded`. */
export function excludedKey(timing: Timing, startAt: string, zone: string): string {
  return timing.allDay ? fromWall(wallOf(timing, startAt, zone), timing.timezone) : startAt
}

/** Moves what was taken out along with an event that begins at another time. */
export function movedExclusions(before: Timing, after: Timing): string[] {
  const byMs = wallStart(after).getTime() - wallStart(before).getTime()
  return before.excluded.map((startAt) => fromWall(new Date(wallOf(before, startAt, before.timezone).getTime() + byMs), after.timezone))
}

const seriesOf = (timing: Timing): Series => ({
  // How many there are is known from the end of the last.
  rule: (timing.recurrence ?? '').replace(/(?:^COUNT=\d+;)|(?:;COUNT=\d+)/, ''),
  start: wallStart(timing),
  zone: timing.timezone,
})

const overlaps = ({ startAt, endAt }: Span, from: string, to: string) =>
  startAt < to && (endAt > from || (startAt === endAt && startAt >= from))

/** The times at which an event begins on the wall, its own start first, within a time on the wall. */
function* wallTimes(timing: Timing, from: number, to: number): Generator<Date> {
  const series = seriesOf(timing)
  if (series.start.getTime() >= from && series.start.getTime() < to) yield series.start
  let after = new Date(Math.max(series.start.getTime(), from - 1))
  while (after.getTime() < to) {
    const found = occurrencesBetween(series, after, new Date(to), CHUNK)
    yield* found
    if (found.length < CHUNK) return
    after = found.at(-1) ?? new Date(to)
  }
}

/** The occurrences that touch the time from `from` to `to`, in order; each step takes few milliseconds. */
export function* occurrencesOf(
  timing: Timing & Pick<CalendarEventRow, 'lastEndAt'>,
  from: string,
  to: string,
  zone: string,
): Generator<Span> {
  if (!timing.recurrence) {
    const span = firstSpan(timing, zone)
    if (overlaps(span, from, to)) yield span
    return
  }
  const excluded = new Set(timing.excluded)
  const lastsMs = Date.parse(timing.endAt) - Date.parse(timing.startAt)
  const until = timing.lastEndAt !== null && timing.lastEndAt < to ? timing.lastEndAt : to
  const earliest = toWall(from, timing.timezone).getTime() - lastsMs - DAY_MS
  for (const wall of wallTimes(timing, earliest, toWall(until, timing.timezone).getTime() + DAY_MS)) {
    if (excluded.size > 0 && excluded.has(fromWall(wall, timing.timezone))) continue
    const span = spanAt(timing, wall, zone)
    const { endAt } = timing.allDay && timing.lastEndAt !== null ? spanAt(timing, wall, timing.timezone) : span
    if (timing.lastEndAt !== null && endAt > timing.lastEndAt) return
    if (overlaps(span, from, to)) yield span
  }
}

const WINDOW = { HOURLY: { days: 5 }, DAILY: { days: 100 }, WEEKLY: { weeks: 100 }, MONTHLY: { months: 100 }, YEARLY: { years: 25 } }

/** The start of the last of `count` occurrences; null where it lies beyond all asking. Takes turns with the loop. */
async function lastCounted(timing: Timing, count: number): Promise<Date | null> {
  const series = seriesOf(timing)
  const freq = /FREQ=(\w+)/.exec(series.rule)?.[1] as keyof typeof WINDOW
  const interval = Number(/INTERVAL=(\d+)/.exec(series.rule)?.[1] ?? 1)
  const [unit, amount] = Object.entries(WINDOW[freq])[0] as [string, number]
  let last = series.start
  let left = count - 1
  let from = DateTime.fromJSDate(last, { zone: 'utc' })
  while (left > 0 && from.toMillis() < END_OF_TIME) {
    const to = from.plus({ [unit]: amount * interval })
    const found = occurrencesBetween(series, from.toJSDate(), to.plus(1).toJSDate(), left)
    last = found.at(-1) ?? last
    left -= found.length
    from = to
    await nextTurn()
  }
  return left > 0 && nextOccurrence(series, last) !== null ? null : last
}

/** Not before the end of the last occurrence, at which a list stops looking; null where there is none. */
export async function lastEndOf(timing: Timing): Promise<string | null> {
  const first = spanAt(timing, wallStart(timing), timing.timezone)
  if (!timing.recurrence) return first.endAt
  const series = seriesOf(timing)
  if (nextOccurrence(series, series.start) === null) return first.endAt
  const count = Number(/COUNT=(\d+)/.exec(timing.recurrence)?.[1] ?? 0)
  if (count > 0) {
    const last = await lastCounted(timing, count)
    return last && spanAt(timing, last, timing.timezone).endAt
  }
  const until = /UNTIL=(\d{4})(\d\d)(\d\d)/.exec(timing.recurrence)
  if (!until) return null
  const [, year, month, day] = until.map(Number)
  const lastsMs = Date.parse(timing.endAt) - Date.parse(timing.startAt)
  return iso(Math.max(Date.parse(first.endAt), Date.UTC(year ?? 0, (month ?? 1) - 1, day) + lastsMs + 3 * DAY_MS))
}
