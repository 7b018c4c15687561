import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../server/db/database.ts'
import { migrations } from '../../server/db/migrations/all.ts'
import { createEventBus } from '../../server/kit/events.ts'
import { createLog } from '../../server/kit/log.ts'
import type { CalendarEvent } from '../../server/modules/calendar/calendar.contract.ts'
import { type CalendarService, createCalendarService } from '../../server/modules/calendar/calendar.service.ts'
import { type CalendarEventRow, CalendarEventTable, SubscriptionTable } from '../../server/modules/calendar/calendar.table.ts'
import { toEvent } from '../../server/modules/calendar/event-rows.ts'
import { eventsAsJson } from '../../server/modules/calendar/events-as-json.ts'
import { asICalendar } from '../../server/modules/calendar/ical-export.ts'
import { firstSpan, occurrencesOf } from '../../server/modules/calendar/occurrences.ts'
import type { HouseholdService } from '../../server/modules/household/household.service.ts'
import { tables } from '../../server/tables.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ZONE = 'Europe/Berlin'
const NOON = Date.parse('2026-11-20T11:00:00.000Z')
const log = createLog('silent')

let folder: string
let db: Database
let calendar: CalendarService
/** What happened in turn: whether others were let in, or something was read. */
let happened: ('pause' | 'read')[] = []
const pace = () => void happened.push('pause')

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-events-'))
  const paths = { path: join(folder, 'hearth.sqlite'), backupsPath: join(folder, 'backups') }
  db = await openDatabase({ ...paths, tables, migrations, wasUnclean: false, log, onDiskFailure: () => undefined })
  const household = { get: () => ({ household: { timezone: ZONE }, persons: [] }) } as unknown as HouseholdService
  const watched: Database = {
    ...db,
    select(sql, parameters) {
      happened.push('read')
      return db.select(sql, parameters)
    },
  }
  calendar = createCalendarService({ db: watched, household, events: createEventBus(() => undefined), pace })
})
afterAll(async () => {
  await db.close()
  rmSync(folder, { recursive: true })
})
afterEach(() => db.write((tx) => ['calendar_event', 'calendar_subscription'].forEach((name) => void tx.run(`DELETE FROM "${name}"`))))

const iso = (ms: number) => new Date(ms).toISOString()

let made = 0
/** An event of an hour that is the household’s own unless stated; ids come in no order of time. */
function event(startAt: string, more: Partial<CalendarEventRow> = {}): CalendarEventRow {
  made += 1
  const endAt = more.endAt ?? iso(Date.parse(startAt) + HOUR_MS)
  const head = ((made * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0')
  return {
    id: `${head}-0000-4000-8000-${String(made).padStart(12, '0')}`,
    title: `Event ${made}`,
    startAt,
    endAt,
    allDay: false,
    location: null,
    notes: null,
    personId: null,
    recurrence: null,
    timezone: ZONE,
    excluded: [],
    lastEndAt: more.recurrence ? null : endAt,
    subscriptionId: null,
    generation: 0,
    createdAt: startAt,
    updatedAt: startAt,
    ...more,
  }
}

async function keep(rows: CalendarEventRow[]): Promise<CalendarEventRow[]> {
  await db.write((tx) => rows.forEach((row) => void tx.insert(CalendarEventTable, row)))
  return rows
}

async function subscription(): Promise<{ subscriptionId: string; generation: number }> {
  const at = iso(NOON)
  const id = randomUUID()
  const row = { id, name: 'School', url: 'https://school.example/cal.ics', refreshedAt: at, error: null, events: 0, generation: 1, digest: null, etag: null, lastModified: null, failures: 0, refreshAt: at, createdAt: at } // biome-ignore format: one line
  await db.write((tx) => tx.insert(SubscriptionTable, row))
  return { subscriptionId: id, generation: 1 }
}

async function allOf(pieces: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}

const byTime = (a: CalendarEvent, b: CalendarEvent) => (a.startAt < b.startAt ? -1 : a.startAt > b.startAt ? 1 : a.id < b.id ? -1 : 1)

/** What a list has to be, every event looked at. */
function plainly(rows: CalendarEventRow[], from: string, to: string): CalendarEvent[] {
  const seen = rows.filter(({ subscriptionId, generation }) => subscriptionId === null || generation === 1)
  const found = seen.flatMap((row) =>
    [...occurrencesOf(row, from, to, ZONE)].flatMap((span) => (span && span.startAt < to ? [toEvent(row, span)] : [])),
  )
  return found.sort(byTime).slice(0, 2_000)
}

/** Of all kinds: short, long, of whole days, at one moment, recurring, over, from elsewhere, of a generation that is not seen. */
async function household(): Promise<CalendarEventRow[]> {
  const outside = await subscription()
  const midnight = (day: number) => iso(Date.parse('2026-10-31T23:00:00.000Z') + day * DAY_MS)
  const rows = Array.from({ length: 1_500 }, (_, at): CalendarEventRow[] => [
    event(iso(NOON + (at - 1_200) * 7 * HOUR_MS), outside),
    event(iso(NOON + Math.floor(at / 70) * DAY_MS), at % 2 ? outside : {}),
    event(midnight(at % 60), { endAt: midnight((at % 60) + 1 + (at % 3)), allDay: true, ...outside }),
    event(iso(NOON + at * HOUR_MS), { ...outside, generation: at % 2 ? 0 : 2 }),
  ]).flat()
  return keep([
    ...rows,
    event(iso(NOON - 380 * DAY_MS), { endAt: iso(NOON + 10 * DAY_MS), ...outside }),
    event(iso(NOON - 90 * DAY_MS), { recurrence: 'FREQ=WEEKLY' }),
    event(iso(NOON - 900 * DAY_MS), { recurrence: 'FREQ=DAILY;BYHOUR=9,12,18', ...outside }),
    event(iso(NOON - 900 * DAY_MS), { recurrence: 'FREQ=DAILY;COUNT=3', lastEndAt: iso(NOON - 890 * DAY_MS) }),
  ])
}

test.each([
  ['a day', 0, 1],
  ['a week', 0, 7],
  ['a month', -5, 37],
  ['of more than 2,000 the earliest', -150, 240],
  ['nothing', 2_000, 2_300],
])('what is listed is what is on: %s', async (_, first, last) => {
  const rows = await household()
  const [from, to] = [iso(NOON + first * DAY_MS), iso(NOON + last * DAY_MS)]
  const expected = plainly(rows, from, to)
  expect(await calendar.list({ from, to })).toEqual(expected)
  expect(JSON.stringify(await calendar.list({ from, to }))).toBe(JSON.stringify(expected))
})

test('each event is stored once, as it begins', async () => {
  const outside = await subscription()
  const rows = await keep(Array.from({ length: 900 }, (_, at) => event(iso(NOON + (at - 600) * 5 * HOUR_MS), at % 2 ? outside : {})))
  const expected = rows.map((row) => toEvent(row, firstSpan(row, ZONE))).sort(byTime)
  expect(JSON.stringify(await calendar.stored())).toBe(JSON.stringify(expected))
})

test('as iCalendar there are the household’s own by their id, behind every zone that one is in', async () => {
  const outside = await subscription()
  const zones = ['America/New_York', 'Etc/UTC', 'Asia/Tokyo', ZONE]
  const rows = await keep(
    Array.from({ length: 1_300 }, (_, at) =>
      event(iso(NOON + at * HOUR_MS), at % 2 ? outside : { timezone: zones[Math.min(3, at >> 8)] ?? ZONE }),
    ),
  )
  const text = (await allOf(asICalendar(db, { name: 'Home', timezone: ZONE, persons: [] }, pace))).join('')
  const own = rows.filter(({ subscriptionId }) => subscriptionId === null).map(({ id }) => id)
  expect([...text.matchAll(/^UID:(.*)\r$/gm)].map(([, uid]) => uid)).toEqual(own.sort())
  expect([...text.matchAll(/^TZID:(.*)\r$/gm)].map(([, zone]) => zone)).toEqual([ZONE, 'America/New_York', 'Asia/Tokyo'])
})

/** How often others were let in; never more than three reads come one right after the other. */
function pauses(): number {
  const text = happened.map((one) => (one === 'read' ? 'r' : '.')).join('')
  happened = []
  expect(text).not.toContain('rrrr')
  return text.replaceAll('r', '').length
}

test('others have a turn also where thousands are passed over: what is over, what is not seen yet, what came once', async () => {
  const outside = await subscription()
  const from = iso(NOON)
  const to = iso(NOON + 7 * DAY_MS)
  await keep(Array.from({ length: 3_000 }, (_, at) => event(iso(NOON - 2 * DAY_MS - at * HOUR_MS), outside)))
  happened = []
  expect(await calendar.list({ from, to })).toEqual([])
  expect(pauses()).toBeGreaterThanOrEqual(12)

  await keep(Array.from({ length: 3_000 }, (_, at) => event(iso(NOON + at * 60_000), { ...outside, generation: 2 })))
  pauses()
  expect(await calendar.list({ from, to })).toEqual([])
  expect(pauses()).toBeGreaterThanOrEqual(24)

  const over = { recurrence: 'FREQ=WEEKLY;COUNT=3', lastEndAt: iso(NOON - 300 * DAY_MS), ...outside }
  await keep(Array.from({ length: 3_000 }, (_, at) => event(iso(NOON - 900 * DAY_MS + at * HOUR_MS), over)))
  pauses()
  expect(await calendar.list({ from, to })).toEqual([])
  expect(pauses()).toBeGreaterThanOrEqual(36)

  pauses()
  expect(await calendar.stored()).toHaveLength(2_000)
  expect(pauses()).toBeGreaterThan(2_000)
})

test('others have a turn between the pieces of a long answer, a zone’s years and the events of an export', async () => {
  await keep(
    Array.from({ length: 300 }, (_, at) => event(iso(NOON + at * HOUR_MS), { timezone: 'Pacific/Auckland', notes: 'x'.repeat(20_000) })),
  )
  const found = await calendar.stored()
  happened = []
  const pieces = await allOf(eventsAsJson(found, pace))
  expect(happened).toHaveLength(300)
  expect(pieces.join('')).toBe(JSON.stringify(found))
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(100_000)
  happened = []
  await allOf(asICalendar(db, { name: 'Home', timezone: 'Pacific/Chatham', persons: [] }, pace))
  expect(happened.length).toBeGreaterThan(1_500)
})
