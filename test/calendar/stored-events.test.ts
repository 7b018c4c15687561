import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../server/db/database.ts'
import { migrations } from '../../server/db/migrations/all.ts'
import { createEventBus } from '../../server/kit/events.ts'
import { createLog } from '../../server/kit/log.ts'
import { createPace } from '../../server/kit/pace.ts'
import { type CalendarService, createCalendarService } from '../../server/modules/calendar/calendar.service.ts'
import { type CalendarEventRow, CalendarEventTable, SubscriptionTable } from '../../server/modules/calendar/calendar.table.ts'
import type { HouseholdService } from '../../server/modules/household/household.service.ts'
import { tables } from '../../server/tables.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const log = createLog('silent')

let folder: string
let db: Database
let calendar: CalendarService
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-events-'))
  const paths = { path: join(folder, 'hearth.sqlite'), backupsPath: join(folder, 'backups') }
  db = await openDatabase({ ...paths, tables, migrations, wasUnclean: false, log, onDiskFailure: () => undefined })
  const household = { get: () => ({ household: { timezone: 'Etc/UTC' }, persons: [] }) } as unknown as HouseholdService
  calendar = createCalendarService({ db, household, events: createEventBus(() => undefined), pace: createPace() })
})
afterAll(async () => {
  await db.close()
  rmSync(folder, { recursive: true })
})
afterEach(() => db.write((tx) => tx.run('DELETE FROM "calendar_event"')))

const iso = (ms: number) => new Date(ms).toISOString()
const inDays = (days: number) => iso(Date.now() + days * DAY_MS)

/** An event of an hour that is the household’s own unless stated. */
function event(title: string, startAt: string, more: Partial<CalendarEventRow> = {}): CalendarEventRow {
  const endAt = iso(Date.parse(startAt) + HOUR_MS)
  return {
    id: randomUUID(),
    title,
    startAt,
    endAt,
    allDay: false,
    location: null,
    notes: null,
    personId: null,
    recurrence: null,
    timezone: 'Etc/UTC',
    excluded: [],
    lastEndAt: more.recurrence ? null : endAt,
    subscriptionId: null,
    generation: 0,
    createdAt: startAt,
    updatedAt: startAt,
    ...more,
  }
}
const keep = (rows: CalendarEventRow[]) => db.write((tx) => rows.forEach((row) => void tx.insert(CalendarEventTable, row)))

test('where no more occurrences can be taken out none is doubled either', async () => {
  const excluded = Array.from({ length: 1_000 }, (_, at) => inDays(at + 1))
  const series = event('Pills', inDays(0), { recurrence: 'FREQ=DAILY', excluded })
  await keep([series])
  const occurrence = calendar.get(series.id)
  await expect(calendar.moveOccurrence(occurrence, { startAt: inDays(0.5) })).rejects.toMatchObject({ status: 409, code: 'conflict' })
  expect(db.find(CalendarEventTable)).toEqual([series])
})

const titles = async () => (await calendar.stored()).map(({ title }) => title)
const many = (count: number, make: (at: number) => CalendarEventRow) => Array.from({ length: count }, (_, at) => make(at))

async function subscription(): Promise<{ subscriptionId: string; generation: number }> {
  const at = inDays(0)
  const id = randomUUID()
  const row = { id, name: 'School', url: 'https://school.example/cal.ics', refreshedAt: at, error: null, events: 0, generation: 1, digest: null, etag: null, lastModified: null, failures: 0, refreshAt: at, createdAt: at } // biome-ignore format: one line
  await db.write((tx) => tx.insert(SubscriptionTable, row))
  return { subscriptionId: id, generation: 1 }
}

test('events of other calendars never take the place of the household’s own, and what is to come stays before what was', async () => {
  const outside = await subscription()
  await keep([
    ...many(2_100, (at) => event('lesson', inDays(-at - 2), outside)),
    event('school fair', inDays(20), outside),
    event('assembly', inDays(-900), { ...outside, recurrence: 'FREQ=WEEKLY' }),
    event('not seen yet', inDays(1), { ...outside, generation: 2 }),
    event('dentist', inDays(5)),
    event('long ago', inDays(-3_000)),
  ])
  const found = await titles()
  expect(found).toHaveLength(2_000)
  expect(found).toEqual(expect.arrayContaining(['long ago', 'dentist', 'school fair', 'assembly', 'lesson']))
  expect(found).not.toContain('not seen yet')
  const lessons = (await calendar.stored()).filter(({ title }) => title === 'lesson')
  expect(Date.parse(lessons.at(-1)?.startAt ?? '')).toBeGreaterThan(Date.now() - 3 * DAY_MS)
  expect(new Set((await calendar.stored()).map(({ id }) => id)).size).toBe(2_000)
})

test('of more than two thousand of the household’s own nothing that goes on or comes soon is missing', async () => {
  const outside = await subscription()
  await keep([
    event('choir', inDays(-4_000), { recurrence: 'FREQ=WEEKLY' }),
    event('course', inDays(-4_001), { recurrence: 'FREQ=DAILY;COUNT=3', lastEndAt: inDays(-3_990) }),
    ...many(4_100, (at) => event(`past ${at}`, inDays(-at - 2))),
    event('trip', inDays(-1), { endAt: inDays(3), lastEndAt: inDays(3) }),
    event('dentist', inDays(5)),
    event('lesson', inDays(1), outside),
  ])
  const found = await titles()
  expect(found).toHaveLength(2_000)
  expect(found).toEqual(expect.arrayContaining(['choir', 'trip', 'dentist', 'past 0', 'past 1996']))
  for (const left of ['course', 'past 1997', 'past 4099', 'lesson']) expect(found).not.toContain(left)
  expect(found[0]).toBe('choir')
  expect(found.at(-1)).toBe('dentist')
})
