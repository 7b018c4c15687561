import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../server/db/database.ts'
import { migrations } from '../../server/db/migrations/all.ts'
import { createEventBus } from '../../server/kit/events.ts'
import { createLog } from '../../server/kit/log.ts'
import { type CalendarService, createCalendarService } from '../../server/modules/calendar/calendar.service.ts'
import { type CalendarEventRow, CalendarEventTable } from '../../server/modules/calendar/calendar.table.ts'
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
  calendar = createCalendarService({ db, household, events: createEventBus(() => undefined) })
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
