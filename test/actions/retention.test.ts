import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../server/db/database.ts'
import { migrations } from '../../server/db/migrations/all.ts'
import { createLog } from '../../server/kit/log.ts'
import { pruneRuns } from '../../server/modules/actions/action-retention.ts'
import { ActionRunTable } from '../../server/modules/actions/actions.table.ts'
import { tables } from '../../server/tables.ts'

const DAY = 24 * 3_600_000
const NOW = Date.parse('2026-11-21T12:00:00.000Z')

let folder: string
let db: Database
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-runs-'))
  db = await openDatabase({
    path: join(folder, 'hearth.sqlite'),
    backupsPath: join(folder, 'backups'),
    tables,
    migrations,
    wasUnclean: false,
    log: createLog('silent'),
    onDiskFailure: () => undefined,
  })
})
afterAll(async () => {
  await db.close()
  rmSync(folder, { recursive: true })
})

/** Runs named by number, the first the newest, each `stepMs` older than the one before. */
async function fill(count: number, stepMs: number): Promise<void> {
  await db.write((tx) => tx.run('DELETE FROM "action_run"'))
  await db.write((tx) => {
    for (let at = 0; at < count; at += 1) {
      tx.insert(ActionRunTable, {
        id: `run-${String(at).padStart(6, '0')}`,
        action: 'a',
        params: '{}',
        origin: 'api',
        caller: 'Ada',
        personId: null,
        deviceId: 'd',
        conversationId: null,
        status: 'succeeded',
        output: '',
        error: null,
        startedAt: new Date(NOW - at * stepMs).toISOString(),
        durationMs: 1,
      })
    }
  })
}
const left = () => db.select<{ id: string }>('SELECT "id" FROM "action_run" ORDER BY "startedAt" DESC, "id" DESC').map(({ id }) => id)

test('the newest ten thousand stay', async () => {
  await fill(11_700, 1_000)
  const before = left()
  await pruneRuns(db, NOW)
  expect(left()).toEqual(before.slice(0, 10_000))
})

test('of one and the same moment just as many stay', async () => {
  await fill(10_003, 0)
  const before = left()
  await pruneRuns(db, NOW)
  expect(left()).toEqual(before.slice(0, 10_000))
})

test('what is older than ninety days goes, however little there is', async () => {
  await fill(100, DAY)
  await pruneRuns(db, NOW)
  expect(left()).toHaveLength(91)
  await pruneRuns(db, NOW + 400 * DAY)
  expect(left()).toEqual([])
  await pruneRuns(db, NOW)
})
