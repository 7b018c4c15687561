import { invalid } from '../../kit/errors.ts'
import { fromWall, nextOccurrence, RecurrenceError, tidyRecurrence, toWall } from '../../kit/recurrence.ts'
import type { TodoRow, TodoSeries } from './todos.table.ts'

type Times = Pick<TodoRow, 'dueAt' | 'remindAt' | 'createdAt'>

/** Further away, dates are typing errors, and counting from there takes long. */
const YEARS = { from: '1970', to: '2200' }

/** The rule as it is stored; null for none. Throws 400. */
export function readRecurrence(text: string | null): string | null {
  if (text === null || text.trim() === '') return null
  try {
    return tidyRecurrence(text)
  } catch (error) {
    if (error instanceof RecurrenceError) throw invalid([{ path: 'body.recurrence', message: error.message }])
    throw error
  }
}

/** A to-do without a time is counted from when it was added, to the minute. */
const baseOf = ({ dueAt, remindAt, createdAt }: Times): string => dueAt ?? remindAt ?? `${createdAt.slice(0, 16)}:00.000Z`

/** From where a rule counts. Throws 400 where that is far away or the rule never comes true. */
export function seriesOf(rule: string, times: Times, zone: string): TodoSeries {
  const base = baseOf(times)
  if (base < YEARS.from || base >= YEARS.to)
    throw invalid([{ path: times.dueAt ? 'body.dueAt' : 'body.remindAt', message: 'is too far away to recur' }])
  const start = toWall(base, zone)
  if (!nextOccurrence({ rule, start, zone }, new Date(start.getTime() - 1)))
    throw invalid([{ path: 'body.recurrence', message: 'never comes true' }])
  return {
    startAt: start.toISOString(),
    remindBeforeMs: times.remindAt === null ? null : start.getTime() - toWall(times.remindAt, zone).getTime(),
  }
}

/** When a recurring to-do that is completed at `now` comes again, without a time where it has none; null when it does not. */
export function nextTimes(row: TodoRow, zone: string, now: string): Pick<TodoRow, 'dueAt' | 'remindAt'> | null {
  if (row.recurrence === null || row.series === null) return null
  const { startAt, remindBeforeMs } = row.series
  const base = baseOf(row)
  const done = base > now ? base : now
  const series = { rule: row.recurrence, start: new Date(startAt), zone }
  let next = nextOccurrence(series, toWall(done, zone))
  // An hour that the clocks go through twice can look later on the wall than it is.
  if (next && fromWall(next, zone) <= done) next = nextOccurrence(series, next)
  if (!next) return null
  return {
    dueAt: row.dueAt === null ? null : fromWall(next, zone),
    remindAt: remindBeforeMs === null ? null : fromWall(new Date(next.getTime() - remindBeforeMs), zone),
  }
}
