import { DateTime } from 'luxon'
import { firstPass } from '../../kit/first-pass.ts'
import type { Duration } from './durations.ts'
import { asRule, type Recurrence } from './recurrence.ts'
import type { Clock, Day, When } from './whens.ts'

/** A point in time, decided. */
export interface Moment {
  at: DateTime
  /** Whether a time of day was said or follows; without it the day is meant. */
  timed: boolean
  until?: DateTime
  /** The value of an RRULE. */
  recurrence?: string
}

/** What it is for decides whether `5` is early or in the afternoon. */
export type Purpose = 'reminder' | 'event' | 'alarm'

const MORNING = 9
const DAY_MS = 86_400_000
/** Before this hour few people have anything on; from it on, an open hour is taken as it was said. */
const EARLY = 7
/** A day behind it may still be written. */
const LAST_YEAR = 9_998
const PERIOD_DAYS = { DAILY: 1, WEEKLY: 7, MONTHLY: 28, YEARLY: 365 }

const at = ({ year, month, day }: Day, { hour, minute }: Pick<Clock, 'hour' | 'minute'>, zone: string) =>
  firstPass(DateTime.fromObject({ year, month, day, hour, minute }, { zone }))

function firstDay({ days, monthDay }: Recurrence, from: DateTime): DateTime {
  for (let ahead = 0; ahead < 62; ahead++) {
    const day = from.plus({ days: ahead })
    if ((!days || days.includes(day.weekday)) && (!monthDay || day.day === monthDay)) return day
  }
  return from
}

/** How long it takes at least until it comes again, in milliseconds; on several days of a week, on the average. */
const period = ({ freq, interval, days }: Recurrence) => (PERIOD_DAYS[freq] * interval * DAY_MS) / (days?.length ?? 1)

/** The hours an open hour may mean, by what it is for, the likelier first. */
function readings(clock: Clock, purpose: Purpose, dated: boolean): Clock[] {
  if (!clock.open || clock.hour >= 12) return [clock]
  const later = { ...clock, hour: clock.hour + 12 }
  if (purpose === 'alarm') return clock.hour >= 5 || dated ? [clock] : [clock, later]
  if (clock.hour < EARLY) return [later]
  return dated ? [clock] : [clock, later]
}

const isWritable = (moment: DateTime) => moment.isValid && moment.year <= LAST_YEAR

/** Decides what was said against the clock of the household; null where it is over for good, or ends when nothing can. */
export function decide(when: When, now: DateTime, purpose: Purpose): Moment | null {
  const decided = meant(when, now, purpose)
  return decided && [decided.at, decided.until ?? decided.at].every(isWritable) ? decided : null
}

/** A rule up to its last day; null where that is no day, or comes before the first. */
function ending(rule: Recurrence, first: DateTime, last: DateTime, timed: boolean): Moment | null {
  if (!isWritable(last) || last < first.startOf('day')) return null
  return { at: first, timed, recurrence: `${asRule(rule)};UNTIL=${last.toFormat('yyyyMMdd')}` }
}

function meant(when: When, now: DateTime, purpose: Purpose): Moment | null {
  const zone = now.zoneName ?? 'utc'
  const { inTime, recurrence, partOfDay } = when
  if (inTime) {
    const moment = plus(now, inTime)
    const timed = inTime.parts.some(({ unit }) => unit === 'hours' || unit === 'minutes' || unit === 'seconds')
    if (!moment.isValid) return null
    return timed
      ? { at: moment, timed }
      : {
          at: purpose === 'reminder' ? moment.set({ hour: MORNING, minute: 0, second: 0, millisecond: 0 }) : moment.startOf('day'),
          timed: false,
        }
  }
  const timed = when.clock !== undefined || partOfDay !== undefined
  const hour = partOfDay ?? MORNING
  const clocks = when.clock
    ? readings(when.clock, purpose, when.day !== undefined || recurrence !== undefined)
    : [{ hour, minute: 0, open: false }]
  const [clock] = clocks as [Clock, ...Clock[]]
  if (recurrence) {
    const start = when.day ? at(when.day, { hour: 0, minute: 0 }, zone) : now.startOf('day')
    let day = firstDay(recurrence, start)
    const time = timed || purpose === 'reminder' ? clock : { hour: 0, minute: 0 }
    if (at(day, time, zone) <= now && !when.day && (timed || purpose === 'reminder')) day = firstDay(recurrence, day.plus({ days: 1 }))
    const first = at(day, time, zone)
    // `every day for two weeks`, but a camp `every Monday for two days` is that long
    const isLength = purpose === 'event' && when.lasts && when.lasts.ms < period(recurrence)
    if (when.lasts && when.lasts.ms >= DAY_MS && !isLength)
      return ending(recurrence, first, plus(first, when.lasts).minus({ days: 1 }), timed)
    // `every day until Friday`
    if (when.endDay && !when.day) return ending(recurrence, first, at(when.endDay, { hour: 0, minute: 0 }, zone), timed)
    return { at: first, timed, recurrence: asRule(recurrence), ...until(when, first) }
  }
  if (when.day) {
    const said = at(when.day, timed || purpose !== 'event' ? clock : { hour: 0, minute: 0 }, zone)
    if (!said.isValid) return null
    // `today`, said after nine
    const soon = now.plus({ hours: 1 }).startOf('minute')
    const moment = !timed && purpose === 'reminder' && said <= now && soon.hasSame(said, 'day') ? soon : said
    return isOnDays(when, purpose) ? daily(when.lasts, moment) : { at: moment, timed, ...until(when, moment) }
  }
  // A time alone: the next that comes.
  const next = [0, 1]
    .flatMap((days) => clocks.map((time) => at(now.plus({ days }), time, zone)))
    .filter((moment) => moment > now)
    .toSorted((a, b) => a.toMillis() - b.toMillis())[0]
  if (!next) return null
  return isOnDays(when, purpose) ? daily(when.lasts, next) : { at: next, timed: true, ...until(when, next) }
}

/** `wake me up at 7 for three days` is on each of them. */
const isOnDays = (when: When, purpose: Purpose): when is When & { lasts: Duration } =>
  purpose !== 'event' && when.lasts !== undefined && when.lasts.ms >= DAY_MS && (when.clock ?? when.partOfDay) !== undefined

const daily = (lasts: Duration, first: DateTime) =>
  ending({ freq: 'DAILY', interval: 1 }, first, plus(first, lasts).minus({ days: 1 }), true)

const plus = (start: DateTime, { parts }: Duration): DateTime =>
  start.plus(Object.fromEntries(parts.map(({ amount, unit }) => [unit, amount])))

function until({ endClock, endDay, lasts, clock, partOfDay }: When, start: DateTime): { until?: DateTime } {
  if (lasts && (clock || partOfDay !== undefined)) return { until: plus(start, lasts) }
  // Of whole days the last one is told.
  if (lasts) return { until: DateTime.max(start, plus(start, lasts).minus({ days: 1 }).startOf('day')) }
  if (!endClock && !endDay) return {}
  const end = (endDay ? start.set(endDay) : start).set(endClock ? { hour: endClock.hour, minute: endClock.minute } : {})
  if (end > start) return { until: end }
  const later = end.plus({ hours: 12 })
  return later > start ? { until: later } : {}
}
