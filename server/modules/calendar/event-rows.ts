import { BOUND_TEXT, type Reader } from '../../db/rows.ts'
import type { CalendarEvent } from './calendar.contract.ts'
import { type CalendarEventRow, CalendarEventTable } from './calendar.table.ts'
import { MAX_EVENT_DAYS } from './event-times.ts'
import type { Span } from './occurrences.ts'

/** As SQLite has it. */
type Raw = Omit<CalendarEventRow, 'allDay' | 'excluded'> & { allDay: number; excluded: string }

const DAY_MS = 86_400_000
/** Looked at in one go, whether something is found or not: a millisecond, or a few where long notes stand in the way. */
const LOOKED_AT = 250
/** Read in one go; of each the words may be long. */
const PAGE = 100
/** Of a subscription that is being exchanged, either the old events or the new ones are seen. */
const SEEN = `("subscriptionId" IS NULL OR EXISTS (SELECT 1 FROM "calendar_subscription" s
  WHERE s."id" = "calendar_event"."subscriptionId" AND s."generation" = "calendar_event"."generation"))`
const PLACE = `("startAt", "rowid")`
const BOUND_PLACE = `(${BOUND_TEXT}, (? + 0))`

/** Where an event stands among those that are in an index by their start. */
interface Place {
  startAt: string
  place: number
}

interface Stretch {
  index: 'calendar_event_start' | 'calendar_event_series'
  /** What is wanted of it, with what is bound there. */
  where: string
  values?: string[]
  /** Whether it is gone through to the past. */
  isBackward?: boolean
  /** Begins beside this time; it is part of the stretch. */
  begin: string
  /** Where it ends, which is no part of it; null where it goes on to the end. */
  end: string | null
}

const decode = ({ allDay, excluded, ...row }: Raw): CalendarEventRow => ({
  ...row,
  allDay: allDay === 1,
  excluded: JSON.parse(excluded) as string[],
})

const shifted = (at: string, days: number) => new Date(Date.parse(at) + days * DAY_MS).toISOString()

/**
 * The events of a stretch of time by their start; null wherever so many were looked at, wanted or not, that whoever reads should let others
 * in between.
 */
function* along(db: Reader, { index, where, values = [], isBackward = false, begin, end }: Stretch): Generator<CalendarEventRow | null> {
  const [behind, until, order] = isBackward ? ['<', '>=', 'DESC'] : ['>', '<=', 'ASC']
  const rows = `FROM "calendar_event" INDEXED BY "${index}" WHERE ${index === 'calendar_event_series' ? '"recurrence" IS NOT NULL AND ' : ''}`
  const inOrder = `ORDER BY "startAt" ${order}, "rowid" ${order}`
  const ahead = `${PLACE} ${behind} ${BOUND_PLACE}`
  const toEnd = end === null ? '' : ` AND "startAt" < ${BOUND_TEXT}`
  const furthest = `SELECT "startAt", "rowid" AS "place" ${rows}${ahead}${toEnd} ${inOrder} LIMIT 1 OFFSET ${LOOKED_AT - 1}`
  // One end alone, since the index is used for one only.
  const wanted = (upTo: string) => `SELECT "id" ${rows}${ahead}${upTo} AND ${where} AND ${SEEN} ${inOrder}`
  const ends = end === null ? [] : [end]
  let last: Place = { startAt: begin, place: isBackward ? Number.MAX_SAFE_INTEGER : -1 }
  for (;;) {
    const next = db.select<Place>(furthest, [last.startAt, last.place, ...ends])[0]
    const upTo = next ? [next.startAt, next.place] : ends
    const sql = wanted(next ? ` AND ${PLACE} ${until} ${BOUND_PLACE}` : toEnd)
    for (const { id } of db.select<{ id: string }>(sql, [last.startAt, last.place, ...upTo, ...values])) {
      const row = db.get(CalendarEventTable, id) // unless it was taken out since
      if (row) yield row
    }
    yield null
    if (!next) return
    last = next
  }
}

/** Events that may touch a time, by start; a day more at both ends, since all-day ones move with the household’s zone. */
export function eventsOnce(db: Reader, from: string, to: string): Generator<CalendarEventRow | null> {
  return along(db, {
    index: 'calendar_event_start',
    where: `"recurrence" IS NULL AND "endAt" >= ${BOUND_TEXT}`,
    values: [shifted(from, -1)],
    begin: shifted(from, -MAX_EVENT_DAYS - 1),
    end: shifted(to, 1),
  })
}

/** Recurring events that may touch a time, by their first start. */
export function eventSeries(db: Reader, from: string, to: string): Generator<CalendarEventRow | null> {
  return along(db, {
    index: 'calendar_event_series',
    where: `("lastEndAt" IS NULL OR "lastEndAt" >= ${BOUND_TEXT})`,
    values: [shifted(from, -1)],
    begin: '',
    end: shifted(to, 1),
  })
}

const SUBSCRIBED = { index: 'calendar_event_start', where: '"subscriptionId" IS NOT NULL', end: null } as const

/** Events of subscriptions that begin then or later, the earliest first. */
export const subscribedSince = (db: Reader, since: string): Generator<CalendarEventRow | null> => along(db, { ...SUBSCRIBED, begin: since })

/** Events of subscriptions that began until then, the latest first. */
export const subscribedBefore = (db: Reader, before: string): Generator<CalendarEventRow | null> =>
  along(db, { ...SUBSCRIBED, begin: before, isBackward: true })

/** Of the household’s own events so much as is asked for, by their id, page by page. */
function* own<Part extends { id: string }>(db: Reader, columns: string, limit: number): Generator<Part[]> {
  const page = `SELECT ${columns} FROM "calendar_event" INDEXED BY "calendar_event_owner"
    WHERE "subscriptionId" IS NULL AND "id" > ${BOUND_TEXT} ORDER BY "id" LIMIT ${limit}`
  let after = ''
  for (;;) {
    const rows = db.select<Part>(page, [after])
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    after = rows.at(-1)?.id ?? after
  }
}

/** The household’s own events, page by page. */
export function* ownEvents(db: Reader, limit = PAGE): Generator<CalendarEventRow[]> {
  for (const rows of own<Raw>(db, '*', limit)) yield rows.map(decode)
}

/** The zones of the household’s own events, page by page; with each where the event stands that has it. */
export const ownZones = (db: Reader): Generator<(Pick<CalendarEventRow, 'id' | 'timezone'> & { place: number })[]> =>
  own(db, '"id", "timezone", "rowid" AS "place"', LOOKED_AT)

/** An event, or an occurrence of it, as it is told. */
export function toEvent(row: CalendarEventRow, { startAt, endAt }: Span): CalendarEvent {
  const { location, notes, personId, recurrence, subscriptionId } = row
  return {
    id: row.id,
    title: row.title,
    startAt,
    endAt,
    allDay: row.allDay,
    ...(location && { location }),
    ...(notes && { notes }),
    ...(personId && { personId }),
    ...(recurrence && { recurrence }),
    kind: subscriptionId ? 'subscribed' : 'event',
    ...(subscriptionId && { subscriptionId }),
  }
}
