import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Database, openDatabase } from '../../server/db/database.ts'
import { migrations } from '../../server/db/migrations/all.ts'
import { createEventBus } from '../../server/kit/events.ts'
import type { GuardedResponse } from '../../server/kit/guarded-fetch.ts'
import { createLog } from '../../server/kit/log.ts'
import { CalendarEventTable, SubscriptionTable } from '../../server/modules/calendar/calendar.table.ts'
import { createSubscriptionsService } from '../../server/modules/calendar/subscriptions.service.ts'
import type { HouseholdService } from '../../server/modules/household/household.service.ts'
import { tables } from '../../server/tables.ts'

const LONG = { timeout: 20_000 }
const log = createLog('silent')
let folder: string
let db: Database
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-calendars-'))
  const paths = { path: join(folder, 'hearth.sqlite'), backupsPath: join(folder, 'backups') }
  db = await openDatabase({ ...paths, tables, migrations, wasUnclean: false, log, onDiskFailure: () => undefined })
})
afterAll(async () => {
  await db.close()
  rmSync(folder, { recursive: true })
})

const calendar = (title: string): GuardedResponse => ({
  url: '',
  status: 200,
  headers: {},
  body: Buffer.from(
    `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:${title}\r\nDTSTART:20261124T090000Z\r\nEND:VEVENT\r\nEND:VCALENDAR`,
  ),
})

test('calendars that are removed while one is read anew leave nothing behind, and are no fault', async () => {
  const failed = vi.fn()
  let answer = async (_url: string) => calendar('Trip')
  const fetch = (url: string) => answer(url)
  const events = createEventBus(failed)
  const household = { get: () => ({ household: { timezone: 'Europe/Berlin' } }) } as HouseholdService
  const subscriptions = createSubscriptionsService({ db, household, events, fetch, onFailed: failed })
  const first = await subscriptions.add({ name: 'first', url: 'https://calendar.example/1' })
  const second = await subscriptions.add({ name: 'second', url: 'https://calendar.example/2' })
  const last = await subscriptions.add({ name: 'last', url: 'https://calendar.example/3' })
  const earlier = (row: { id: string }, ms: number) =>
    db.write((tx) => tx.update(SubscriptionTable, row.id, { refreshAt: new Date(Date.now() - ms).toISOString() }))
  await earlier(first, 3_000)
  await earlier(second, 2_000)
  await earlier(last, 1_000)

  const asked: string[] = []
  const held = Promise.withResolvers<GuardedResponse>()
  answer = (url) => {
    asked.push(url.slice(-1))
    return asked.length === 1 ? held.promise : Promise.resolve(calendar('Play'))
  }
  await subscriptions.start()
  await expect.poll(() => asked, LONG).toEqual(['1'])
  await subscriptions.remove(first.id)
  await subscriptions.remove(second.id)
  held.resolve(calendar('Play'))
  await expect.poll(() => asked, LONG).toEqual(['1', '3'])
  await expect
    .poll(() => db.find(CalendarEventTable).map(({ title, subscriptionId }) => [title, subscriptionId]), LONG)
    .toEqual([['Play', last.id]])
  await subscriptions.stop()
  expect(failed).not.toHaveBeenCalled()
})
