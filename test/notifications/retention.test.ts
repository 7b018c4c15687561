import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Database, openDatabase } from '../../server/db/database.ts'
import { migrations } from '../../server/db/migrations/all.ts'
import { createLog } from '../../server/kit/log.ts'
import { HouseholdTable, type PersonRow, PersonTable } from '../../server/modules/household/household.table.ts'
import { NotificationTable } from '../../server/modules/notifications/notifications.table.ts'
import { createRetention } from '../../server/modules/notifications/retention.ts'
import { tables } from '../../server/tables.ts'
import { later } from '../support/clock.ts'

const DAY_MS = 86_400_000
let folder: string
let db: Database
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-retention-'))
  db = await openDatabase({
    path: join(folder, 'hearth.sqlite'),
    backupsPath: join(folder, 'backups'),
    tables,
    migrations,
    wasUnclean: false,
    log: createLog('silent'),
    onDiskFailure(error) {
      throw error
    },
  })
})
afterEach(async () => {
  vi.useRealTimers()
  await db.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Notifications of so many days ago, oldest first. */
async function fill(daysAgo: number[], deviceId = 'd'): Promise<void> {
  await db.write((tx) => {
    for (const [at, days] of daysAgo.entries()) {
      const createdAt = new Date(Date.now() - days * DAY_MS).toISOString()
      const times = { sentAt: null, deliveredAt: null, readAt: null, attemptAt: null, pushedAt: null }
      const nothing = { category: null, dedupeKey: null, urgent: false, pushTries: 0, ...times }
      const row = { id: `n${at}`, seq: at + 1, title: '', body: '', deviceId, level: 'info', status: 'pending', data: {} } as const
      tx.insert(NotificationTable, { ...row, ...nothing, createdAt })
    }
  })
}
const left = () => db.find(NotificationTable, {}, { order: 'seq asc' }).map(({ seq }) => seq)

test('what is older than thirty days goes, in slices, the rest stays', async () => {
  await fill([...Array(450).fill(31), ...Array(460).fill(29)])
  await createRetention(db)()
  expect(left()).toEqual(Array.from({ length: 460 }, (_, at) => at + 451))
})

test('old ones go although they are most, where newer ones show that the time is right', async () => {
  await fill([40, 40, 40, 40, 1])
  await createRetention(db)()
  expect(left()).toEqual([5])
})

test('a clock that is years ahead at the start takes nothing at first, one that stays so does later', async () => {
  await fill([3, 2, 1])
  later(3 * 365 * DAY_MS)
  const prune = createRetention(db)
  await prune()
  expect(left()).toEqual([1, 2, 3])
  await prune()
  expect(left()).toEqual([3])
})

test('so does a clock that is set while it runs', async () => {
  await fill([3, 2, 1])
  const prune = createRetention(db)
  await prune()
  later(3 * 365 * DAY_MS)
  await prune()
  expect(left()).toEqual([1, 2, 3])
})

test('what waits for somebody without a device stays for a year', async () => {
  const at = new Date().toISOString()
  const house = { id: 'h', displayName: 'Home', mode: 'multi', timezone: 'UTC', locale: 'en', createdAt: at, updatedAt: at } as const
  const granny: PersonRow = {
    id: 'granny',
    householdId: house.id,
    displayName: 'Granny',
    pronouns: '',
    role: 'adult',
    aliases: [],
    birthDate: null,
    position: 0,
  }
  await db.write((tx) => {
    tx.insert(HouseholdTable, house)
    tx.insert(PersonTable, granny)
  })
  await fill([366, 364, 31, 1], granny.id)
  const prune = createRetention(db)
  await prune()
  await prune()
  expect(left()).toEqual([2, 3, 4])
})

test('the newest stays, so that numbers go on from it', async () => {
  await fill([90, 80, 70])
  const prune = createRetention(db)
  await prune()
  await prune()
  expect(left()).toEqual([3])
})
