import { DateTime, Info } from 'luxon'
import rrule from 'rrule'

const { RRule } = rrule
type Options = ReturnType<typeof RRule.parseString>

/** Why a text is no rule that a household can keep; the message completes “recurrence …”. */
export class RecurrenceError extends Error {}

const range = (from: number, to: number) => (value: string) => /^\d{1,5}$/.test(value) && Number(value) >= from && Number(value) <= to
const signed = (to: number) => (value: string) => range(1, to)(value.replace(/^[+-]/, ''))
const listOf = (isOne: (value: string) => boolean) => (value: string) => value.split(',').every(isOne)

/** What each part of a rule may be (RFC 5545, 3.3.10). */
const PARTS = new Map<string, (value: string) => boolean>([
  ['FREQ', (value) => ['HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'].includes(value)],
  ['INTERVAL', range(1, 1_000)],
  ['COUNT', range(1, 5_000)],
  ['UNTIL', (value) => /^\d{8}(?:T\d{6}Z?)?$/.test(value) && untilOf(value).isValid],
  ['WKST', (value) => /^(?:MO|TU|WE|TH|FR|SA|SU)$/.test(value)],
  ['BYDAY', listOf((value) => /^(?:[+-]?[1-9]\d?)?(?:MO|TU|WE|TH|FR|SA|SU)$/.test(value))],
  ['BYMONTH', listOf(range(1, 12))],
  ['BYMONTHDAY', listOf(signed(31))],
  ['BYYEARDAY', listOf(signed(366))],
  ['BYWEEKNO', listOf(signed(53))],
  ['BYSETPOS', listOf(signed(366))],
  ['BYHOUR', listOf(range(0, 23))],
  ['BYMINUTE', listOf(range(0, 59))],
  ['BYSECOND', range(0, 0)],
])
const MAX_TIMES_A_DAY = 24
/** What takes days out of a rule that comes by hour or day. */
const FILTERS = new Set(['BYDAY', 'BYMONTH', 'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO'])

const untilOf = (value: string) =>
  DateTime.fromFormat(value.slice(0, 15), value.length > 8 ? "yyyyMMdd'T'HHmmss" : 'yyyyMMdd', { zone: 'utc' })

function partsOf(rule: string): Map<string, string> {
  const parts = new Map<string, string>()
  for (const part of rule.split(';')) {
    const [key = '', value = '', ...more] = part.split('=')
    if (parts.has(key)) throw new RecurrenceError(`has ${key} twice`)
    if (more.length > 0 || !PARTS.get(key)?.(value))
      throw new RecurrenceError(`has a part that cannot be used: ${part.slice(0, 40) || 'nothing'}`)
    parts.set(key, value)
  }
  return parts
}

/** The rule without its prefix, in capitals. Throws {@link RecurrenceError}; refuses what comes more often than every hour. */
export function tidyRecurrence(text: string): string {
  const rule = text
    .trim()
    .replace(/^RRULE:/i, '')
    .replace(/;$/, '')
    .toUpperCase()
  const parts = partsOf(rule)
  const freq = parts.get('FREQ')
  if (!freq) throw new RecurrenceError('does not say how often (FREQ)')
  const amount = (key: string) => new Set(parts.get(key)?.split(',')).size || 1
  if (amount('BYHOUR') * amount('BYMINUTE') > MAX_TIMES_A_DAY || (freq === 'HOURLY' && amount('BYMINUTE') > 1))
    throw new RecurrenceError('comes more often than every hour')
  // With another interval the library can look for the hour for ever.
  if (freq === 'HOURLY' && parts.has('BYHOUR') && (parts.get('INTERVAL') ?? '1') !== '1')
    throw new RecurrenceError('has BYHOUR together with an INTERVAL of hours')
  if (freq === 'HOURLY' && 24 % Number(parts.get('INTERVAL') ?? 1) !== 0 && [...parts.keys()].some((key) => FILTERS.has(key)))
    throw new RecurrenceError('takes out days or months from hours that are others each day')
  if (parts.has('BYSETPOS') && (freq === 'HOURLY' || freq === 'DAILY'))
    throw new RecurrenceError('has BYSETPOS, for which it must come by week, month or year')
  if (parts.has('COUNT') && parts.has('UNTIL')) throw new RecurrenceError('has both COUNT and UNTIL')
  return rule
}

/** The same rule by days where it comes by hours of some days: a day is looked at as fast as an hour. `start` is on the wall. */
export function byDays(rule: string, start: Date): string {
  const parts = partsOf(rule)
  const interval = Number(parts.get('INTERVAL') ?? 1)
  if (parts.get('FREQ') !== 'HOURLY' || 24 % interval !== 0 || ![...parts.keys()].some((key) => FILTERS.has(key))) return rule
  const hours = Array.from({ length: 24 / interval }, (_, at) => (start.getUTCHours() + at * interval) % 24)
  const daily = new Map([...parts, ['FREQ', 'DAILY'], ['INTERVAL', '1'], ['BYHOUR', parts.get('BYHOUR') ?? hours.join(',')]])
  return [...daily].map((part) => part.join('=')).join(';')
}

/** An instant as the clock on the wall shows it, in the fields of UTC, in which rules are counted: 8:00 stays 8:00 over the change of clocks. */
export const toWall = (at: string, zone: string): Date => DateTime.fromISO(at, { zone }).setZone('utc', { keepLocalTime: true }).toJSDate()

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** The instant at which the clock on the wall shows this, the first one where it shows it twice; where that time is skipped, as much later. */
export function fromWall(wall: Date, zone: string): string {
  const shown = wall.getTime()
  const clock = Info.normalizeZone(zone)
  const [before, after] = [clock.offset(shown - DAY_MS), clock.offset(shown + DAY_MS)]
  const first = shown - before * MINUTE_MS
  const second = shown - after * MINUTE_MS
  const isSecond = before !== after && clock.offset(first) !== before && clock.offset(second) === after
  return new Date(isSecond ? second : first).toISOString()
}

/** How many periods are looked at, at most: enough for 29 February, over 2100 too where days are counted, and few milliseconds. */
const PERIODS = { HOURLY: 1_500, DAILY: 3_000, WEEKLY: 1_500, MONTHLY: 800, YEARLY: 200 }
/** Longer steps are not followed further than so many years, of which each costs more than a step; but ten are always taken. */
const YEARS = 40
const PER_YEAR = { HOURLY: 8_766, DAILY: 366, WEEKLY: 53, MONTHLY: 12, YEARLY: 1 }
const UNIT = { HOURLY: 'hours', DAILY: 'days', WEEKLY: 'weeks', MONTHLY: 'months', YEARLY: 'years' } as const

/** Writes out what the rule leaves to its start, so that the start can be moved. */
function spellOut(options: Options, freq: string, start: DateTime): void {
  if (options.byweekday ?? options.bymonthday ?? options.byyearday ?? options.byweekno) return
  if (freq === 'WEEKLY') options.byweekday = [start.weekday - 1]
  if (freq === 'MONTHLY' || freq === 'YEARLY') options.bymonthday = [start.day]
  if (freq === 'YEARLY') options.bymonth ??= [start.month]
}

/** A later start of the same rule, shortly before `after`, so that nothing is counted up from long ago. */
function movedOn(start: DateTime, after: DateTime, freq: keyof typeof UNIT, interval: number): DateTime {
  const unit = UNIT[freq]
  const steps = Math.floor(after.diff(start, unit).as(unit) / interval) - 1
  if (steps <= 0) return start
  const moved = start.plus({ [unit]: steps * interval })
  if (freq === 'MONTHLY') return moved.set({ day: 1 })
  return freq === 'YEARLY' ? moved.set({ month: 1, day: 1 }) : moved
}

export interface Series {
  /** A tidy rule. */
  rule: string
  /** On the wall, as `toWall` says. */
  start: Date
  zone: string
}

/** The rule ready to be counted from shortly before `after`. */
function countedFrom({ rule, start, zone }: Series, after: Date): { counted: InstanceType<typeof RRule>; freq: keyof typeof UNIT } {
  const parts = partsOf(rule)
  const freq = parts.get('FREQ') as keyof typeof UNIT
  const options = RRule.parseString(rule)
  const from = DateTime.fromJSDate(start, { zone: 'utc' })
  const until = parts.get('UNTIL')
  if (until) {
    const end = untilOf(until)
    options.until = until.endsWith('Z') ? toWall(end.toISO() as string, zone) : (until.length > 8 ? end : end.endOf('day')).toJSDate()
  }
  spellOut(options, freq, from)
  // the library takes the times of a day in the order they are written in
  for (const times of [options.byhour, options.byminute]) if (Array.isArray(times)) times.sort((a, b) => a - b)
  const interval = options.interval ?? 1
  const isCounted = parts.has('COUNT')
  options.dtstart = (isCounted ? from : movedOn(from, DateTime.fromJSDate(after, { zone: 'utc' }), freq, interval)).toJSDate()
  return { counted: new RRule(options, true), freq }
}

/** The first time after `after`, both on the wall; null when there is none, or none within many years. Takes a few milliseconds at most. */
export function nextOccurrence(series: Series, after: Date): Date | null {
  const { counted, freq } = countedFrom(series, after)
  const periods = Math.min(PERIODS[freq], Math.max(10, Math.ceil((YEARS * PER_YEAR[freq]) / counted.options.interval)))
  return withinPeriods(counted.options, periods, () => counted.after(after, false))
}

/** The times after `after` and before `before`, all on the wall, the first `limit` of them. The work grows with the time in between. */
export function occurrencesBetween(series: Series, after: Date, before: Date, limit: number): Date[] {
  const { counted, freq } = countedFrom(series, after)
  const unit = UNIT[freq]
  const spanned = DateTime.fromJSDate(before).diff(DateTime.fromJSDate(counted.options.dtstart), unit).as(unit) / counted.options.interval
  const found: Date[] = []
  withinPeriods(counted.options, Math.max(0, Math.ceil(spanned)) + 2, () =>
    counted.between(after, before, false, (at) => {
      if (found.length < limit) found.push(at)
      return found.length < limit
    }),
  )
  return found
}

class OutOfPeriods extends Error {}

/**
 * A rule that never comes true would be looked for until the year 9999, for many seconds. The library reads the interval once before and
 * twice in each period, which is where it can be stopped.
 */
function withinPeriods<T>(options: { interval: number }, periods: number, look: () => T): T | null {
  const { interval } = options
  let reads = 2 * periods + 1
  Object.defineProperty(options, 'interval', {
    get() {
      if (reads-- > 0) return interval
      throw new OutOfPeriods()
    },
  })
  try {
    return look()
  } catch (error) {
    if (error instanceof OutOfPeriods) return null
    throw error
  }
}
