import { setImmediate as nextTurn } from 'node:timers/promises'
import { DateTime } from 'luxon'
import type { Pace } from '../../kit/pace.ts'
import { byDays, fromWall, nextOccurrence, occurrencesBetween, type Series, toWall } from '../../kit/recurrence.ts'
import type { CalendarEventRow } from './calendar.table.ts'

const DAY_MS = 86_400_000
/** Counted in one go, in few milliseconds. */
const CHUNK = 50
/** So far ahead nobody asks; a rule that goes on until then goes on for ever. */
const END_OF_TIME = Date.UTC(2300, 0)

/** A rule that does not come for so long comes never. */
const YEARS = 40

/** What of an event says when it takes place. */
export type Timing = Pick<CalendarEventRow, 'startAt' | 'endAt' | 'allDay' | 'recurrence' | 'timezone' | 'excluded'>

type Lasting = Timing & Pick<CalendarEventRow, 'lastEndAt'>

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

/** When an occurrence begins; its own start may lie in the second pass of an hour that the clocks go through twice. */
function instantOf(timing: Timing, wall: Date): string {
  const at = fromWall(wall, timing.timezone)
  return timing.allDay || at > timing.startAt ? at : timing.startAt
}

/** An occurrence as it is shown in `zone`, in which all-day ones keep their dates. */
function spanAt(timing: Timing, wall: Date, zone: string): Span {
  if (timing.allDay) return { startAt: fromWall(wall, zone), endAt: fromWall(new Date(wall.getTime() + daysOf(timing) * DAY_MS), zone) }
  const startAt = instantOf(timing, wall)
  return { startAt, endAt: iso(Date.parse(startAt) + Date.parse(timing.endAt) - Date.parse(timing.startAt)) }
}

/** The first occurrence as it is shown in `zone`. */
export const firstSpan = (timing: Timing, zone: string): Span => spanAt(timing, wallStart(timing), zone)

/** By what an occurrence is known in `excluded`. */
export function excludedKey(timing: Timing, startAt: string, zone: string): string {
  return timing.allDay ? fromWall(wallOf(timing, startAt, zone), timing.timezone) : startAt
}

/** The starts that were taken out, as they are shown in `zone`. */
export const shownExclusions = (timing: Timing, zone: string): string[] =>
  timing.allDay ? timing.excluded.map((startAt) => fromWall(wallOf(timing, startAt, timing.timezone), zone)) : timing.excluded

/** Moves what was taken out along with an event that begins at another time. */
export function movedExclusions(before: Timing, after: Timing): string[] {
  const byMs = wallStart(after).getTime() - wallStart(before).getTime()
  return before.excluded.map((startAt) => fromWall(new Date(wallOf(before, startAt, before.timezone).getTime() + byMs), after.timezone))
}

function seriesOf(timing: Timing): Series {
  const start = wallStart(timing)
  // How many there are is known from the end of the last.
  const rule = (timing.recurrence ?? '').replace(/(?:^COUNT=\d+;)|(?:;COUNT=\d+)/, '')
  return { rule: byDays(rule, start), start, zone: timing.timezone }
}

const WINDOW = { HOURLY: { days: 15 }, DAILY: { days: 300 }, WEEKLY: { weeks: 100 }, MONTHLY: { months: 100 }, YEARLY: { years: 25 } }

/** What of a series is looked at in one go, in few milliseconds even where it comes never. */
function windowOf({ rule }: Series): (from: DateTime) => DateTime {
  const freq = /FREQ=(\w+)/.exec(rule)?.[1] as keyof typeof WINDOW
  const interval = Number(/INTERVAL=(\d+)/.exec(rule)?.[1] ?? 1)
  const [unit, amount] = Object.entries(WINDOW[freq])[0] as [string, number]
  return (from) => from.plus({ [unit]: amount * interval })
}

const overlaps = ({ startAt, endAt }: Span, from: string, to: string) =>
  startAt < to && (endAt > from || (startAt === endAt && startAt >= from))

/**
 * The times at which an event begins on the wall, its own start first, within a time on the wall; null in between where nothing was found
 * for a while, so that each step takes few milliseconds.
 */
function* wallTimes(timing: Timing, from: number, to: number): Generator<Date | null> {
  const series = seriesOf(timing)
  const further = windowOf(series)
  if (series.start.getTime() >= from && series.start.getTime() < to) yield series.start
  let after = new Date(Math.max(series.start.getTime(), from - 1))
  while (after.getTime() < to) {
    const end = Math.min(to, further(DateTime.fromJSDate(after, { zone: 'utc' })).toMillis())
    const found = occurrencesBetween(series, after, new Date(end), CHUNK)
    yield* found
    if (found.length < CHUNK) yield null
    after = found.length < CHUNK ? new Date(end - 1) : (found.at(-1) ?? new Date(end))
    if (end === to && found.length < CHUNK) return
  }
}

function excludedFrom(timing: Timing): (wall: Date) => boolean {
  const all = new Set(timing.excluded)
  return (wall) => all.size > 0 && all.has(instantOf(timing, wall))
}

/** Whether an occurrence comes after the last one. */
function isOver(timing: Lasting, wall: Date, zone: string): boolean {
  if (timing.lastEndAt === null) return false
  return spanAt(timing, wall, timing.allDay ? timing.timezone : zone).endAt > timing.lastEndAt
}

/**
 * The occurrences that touch the time from `from` to `to`, in order; null in between, so that each step takes few milliseconds.
 */
export function* occurrencesOf(timing: Lasting, from: string, to: string, zone: string): Generator<Span | null> {
  if (!timing.recurrence) {
    const span = firstSpan(timing, zone)
    if (overlaps(span, from, to)) yield span
    return
  }
  const lastsMs = Date.parse(timing.endAt) - Date.parse(timing.startAt)
  const until = timing.lastEndAt !== null && timing.lastEndAt < to ? timing.lastEndAt : to
  const earliest = toWall(from, timing.timezone).getTime() - lastsMs - DAY_MS
  const isExcluded = excludedFrom(timing)
  for (const wall of wallTimes(timing, earliest, toWall(until, timing.timezone).getTime() + DAY_MS)) {
    if (wall !== null && isOver(timing, wall, zone)) return
    const span = wall && !isExcluded(wall) ? spanAt(timing, wall, zone) : null
    yield span && overlaps(span, from, to) ? span : null
  }
}

/** Whether any occurrence is left of those that were not taken out. Takes turns with the loop. */
export async function comesStill(timing: Lasting, zone: string, pace: Pace): Promise<boolean> {
  if (timing.lastEndAt === null) return true
  const from = iso(Date.parse(timing.startAt) - 2 * DAY_MS)
  const to = iso(Date.parse(timing.lastEndAt) + 2 * DAY_MS)
  for (const span of occurrencesOf(timing, from, to, zone)) {
    if (span) return true
    await pace()
  }
  return false
}

/** Whether one of the occurrences, as they are shown in `zone`, begins then; takes few milliseconds. */
export function beginsAt(timing: Lasting, at: string, zone: string): boolean {
  if (!timing.recurrence) return firstSpan(timing, zone).startAt === at
  const about = toWall(at, timing.allDay ? zone : timing.timezone).getTime()
  const isExcluded = excludedFrom(timing)
  for (const wall of wallTimes(timing, about - DAY_MS, about + DAY_MS))
    if (wall && !isExcluded(wall) && spanAt(timing, wall, zone).startAt === at) return !isOver(timing, wall, zone)
  return false
}

/** Whether it comes after its start, within so many years or steps as anybody asks for. Takes turns with the loop. */
async function comesAgain(series: Series): Promise<boolean> {
  const further = windowOf(series)
  const start = DateTime.fromJSDate(series.start, { zone: 'utc' })
  const end = start.plus({ years: YEARS })
  for (let from: DateTime = start; from < end; ) {
    const to = further(from)
    if (occurrencesBetween(series, from.toJSDate(), to.plus(1).toJSDate(), 1).length > 0) return true
    await nextTurn()
    from = to
  }
  return false
}

/** The start of the last of `count` occurrences; null where it lies beyond all asking. Takes turns with the loop. */
async function lastCounted(timing: Timing, count: number): Promise<Date | null> {
  const series = seriesOf(timing)
  const further = windowOf(series)
  let last = series.start
  let left = count - 1
  let from: DateTime = DateTime.fromJSDate(last, { zone: 'utc' })
  while (left > 0 && from.toMillis() < END_OF_TIME) {
    const to = further(from)
    const limit = Math.min(left, CHUNK)
    const found = occurrencesBetween(series, from.toJSDate(), to.plus(1).toJSDate(), limit)
    last = found.at(-1) ?? last
    left -= found.length
    from = found.length < limit ? to : DateTime.fromJSDate(last, { zone: 'utc' })
    await nextTurn()
  }
  return left > 0 && nextOccurrence(series, last) !== null ? null : last
}

/** Not before the end of the last occurrence, at which a list stops looking; null where there is none. */
export async function lastEndOf(timing: Timing): Promise<string | null> {
  const first = spanAt(timing, wallStart(timing), timing.timezone)
  if (!timing.recurrence) return first.endAt
  const series = seriesOf(timing)
  if (!(await comesAgain(series))) return first.endAt
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
