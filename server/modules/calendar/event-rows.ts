import { BOUND_TEXT, type Reader } from '../../db/rows.ts'
import type { CalendarEvent } from './calendar.contract.ts'
import type { CalendarEventRow } from './calendar.table.ts'
import { MAX_EVENT_DAYS } from './event-times.ts'
import type { Span } from './occurrences.ts'

/** As SQLite has it. */
type Raw = Omit<CalendarEventRow, 'allDay' | 'excluded'> & { allDay: number; excluded: string }

const DAY_MS = 86_400_000
const PAGE = 100
/** Few, since writing an event out takes a fraction of a millisecond. */
const EXPORTED = 20
/** Of a subscription that is being exchanged, either the old events or the new ones are seen. */
const SEEN = `("subscriptionId" IS NULL OR EXISTS (SELECT 1 FROM "calendar_subscription" s
  WHERE s."id" = "calendar_event"."subscriptionId" AND s."generation" = "calendar_event"."generation"))`
/** After the last of the page before; a page begins where that one ended. */
const PAGED = `"startAt" >= ${BOUND_TEXT} AND ("startAt" > ${BOUND_TEXT} OR "id" > ${BOUND_TEXT}) AND ${SEEN} ORDER BY "startAt", "id" LIMIT ${PAGE}`
const ONCE = `SELECT * FROM "calendar_event" WHERE "recurrence" IS NULL AND "startAt" < ${BOUND_TEXT} AND "endAt" >= ${BOUND_TEXT} AND ${PAGED}`
const SERIES = `SELECT * FROM "calendar_event" INDEXED BY "calendar_event_series" WHERE "recurrence" IS NOT NULL AND "startAt" < ${BOUND_TEXT}
  AND ("lastEndAt" IS NULL OR "lastEndAt" >= ${BOUND_TEXT}) AND ${PAGED}`
const SUBSCRIBED_SINCE = `SELECT * FROM "calendar_event" INDEXED BY "calendar_event_start" WHERE "subscriptionId" IS NOT NULL AND ${PAGED}`
const SUBSCRIBED_BEFORE = `SELECT * FROM "calendar_event" INDEXED BY "calendar_event_start" WHERE "subscriptionId" IS NOT NULL
  AND "startAt" <= ${BOUND_TEXT} AND ("startAt" < ${BOUND_TEXT} OR "id" < ${BOUND_TEXT}) AND ${SEEN} ORDER BY "startAt" DESC, "id" DESC LIMIT ${PAGE}`
/** By the index, in which the household’s own follow each other, however many come from elsewhere. */
const ALL_OWN = `SELECT *, "rowid" AS "place" FROM "calendar_event" INDEXED BY "calendar_event_subscription"
  WHERE "subscriptionId" IS NULL AND "rowid" > (? + 0) ORDER BY "rowid" LIMIT ${PAGE}`
const OWN = `SELECT * FROM "calendar_event" WHERE "subscriptionId" IS NULL AND "id" > ${BOUND_TEXT} ORDER BY "id" LIMIT ${EXPORTED}`

const decode = ({ allDay, excluded, ...row }: Raw): CalendarEventRow => ({
  ...row,
  allDay: allDay === 1,
  excluded: JSON.parse(excluded) as string[],
})

const shifted = (at: string, days: number) => new Date(Date.parse(at) + days * DAY_MS).toISOString()

/** Rows that begin from `since` on and before `to` and end after `from`, page by page, so that whoever reads can let others in between. */
function* paged(db: Reader, sql: string, since: string, from: string, to: string): Generator<CalendarEventRow> {
  let last = { startAt: since, id: '' }
  for (;;) {
    const rows = db.select<Raw>(sql, [to, from, last.startAt, last.startAt, last.id])
    for (const row of rows) yield decode(row)
    if (rows.length < PAGE) return
    last = rows.at(-1) ?? last
  }
}

/** Events that may touch a time, by start; a day more at both ends, since all-day ones move with the household’s zone. */
export function eventsOnce(db: Reader, from: string, to: string): Generator<CalendarEventRow> {
  return paged(db, ONCE, shifted(from, -MAX_EVENT_DAYS - 1), shifted(from, -1), shifted(to, 1))
}

/** The household’s own events one by one, in no order that matters. */
export function* eachOwnEvent(db: Reader): Generator<CalendarEventRow> {
  let after = -1
  for (;;) {
    const rows = db.select<Raw & { place: number }>(ALL_OWN, [after])
    for (const { place, ...row } of rows) {
      after = place
      yield decode(row)
    }
    if (rows.length < PAGE) return
  }
}

function* byStart(db: Reader, sql: string, since: string): Generator<CalendarEventRow> {
  let last = { startAt: since, id: '' }
  for (;;) {
    const rows = db.select<Raw>(sql, [last.startAt, last.startAt, last.id])
    for (const row of rows) yield decode(row)
    if (rows.length < PAGE) return
    last = rows.at(-1) ?? last
  }
}

/** Events of subscriptions that begin then or later, the earliest first. */
export const subscribedSince = (db: Reader, since: string): Generator<CalendarEventRow> => byStart(db, SUBSCRIBED_SINCE, since)

/** Events of subscriptions that began before, the latest first. */
export const subscribedBefore = (db: Reader, before: string): Generator<CalendarEventRow> => byStart(db, SUBSCRIBED_BEFORE, before)

/** Recurring events that may touch a time, by their first start. */
export function eventSeries(db: Reader, from: string, to: string): Generator<CalendarEventRow> {
  return paged(db, SERIES, '', shifted(from, -1), shifted(to, 1))
}

/** The household’s own events, page by page. */
export function* ownEvents(db: Reader): Generator<CalendarEventRow[]> {
  let after = ''
  for (;;) {
    const rows = db.select<Raw>(OWN, [after]).map(decode)
    if (rows.length > 0) yield rows
    if (rows.length < EXPORTED) return
    after = rows.at(-1)?.id ?? after
  }
}

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
