import type { Reader } from '../../db/rows.ts'
import type { Pace } from '../../kit/pace.ts'
import type { CalendarEventRow } from './calendar.table.ts'
import { eventSeries, ownEvents, subscribedBefore, subscribedSince } from './event-rows.ts'

/** After every event. */
const FAR = '9990-01-01T00:00:00.000Z'

const isOver = ({ lastEndAt }: CalendarEventRow, now: string) => lastEndAt !== null && lastEndAt < now

/** What is not over before what is, each the nearest to now first; series that go on begin long ago. */
const byWorth = (now: string) => (a: CalendarEventRow, b: CalendarEventRow) => {
  const isPast = isOver(a, now)
  if (isPast !== isOver(b, now)) return isPast ? 1 : -1
  if (a.startAt === b.startAt) return 0
  return a.startAt < b.startAt === isPast ? 1 : -1
}

/** From other calendars: series that go on, what is to come, then what began before, the latest first; some come twice. Null in between. */
function* subscribed(db: Reader, now: string): Generator<CalendarEventRow | null> {
  yield* eventSeries(db, now, FAR)
  yield* subscribedSince(db, now)
  yield* subscribedBefore(db, now)
}

export interface StoredEventsOptions {
  now: string
  limit: number
  pace: Pace
}

/** So many events as they are kept: of the household’s own all that there is room for, then of those from other calendars. */
export async function storedEvents(db: Reader, { now, limit, pace }: StoredEventsOptions): Promise<CalendarEventRow[]> {
  const best = (rows: CalendarEventRow[]) => rows.toSorted(byWorth(now)).slice(0, limit)
  let own: CalendarEventRow[] = []
  for (const rows of ownEvents(db)) {
    own.push(...rows)
    if (own.length >= 2 * limit) own = best(own)
    await pace()
  }
  const found = new Map(best(own).map((row) => [row.id, row]))
  if (found.size === limit) return [...found.values()]
  for (const row of subscribed(db, now)) {
    if (row && row.subscriptionId !== null) found.set(row.id, row)
    if (found.size === limit) break
    await pace()
  }
  return [...found.values()]
}
