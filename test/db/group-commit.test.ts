import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { translateFailure } from '../../server/db/failures.ts'
import { createGroupCommit } from '../../server/db/group-commit.ts'

let folder: string
let db: BetterSqlite3.Database
let other: BetterSqlite3.Database
let statements: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-commit-'))
  statements = []
  db = new BetterSqlite3(join(folder, 'test.sqlite'), { timeout: 0, verbose: (sql) => void statements.push(String(sql)) })
  db.exec(`PRAGMA journal_mode = WAL; CREATE TABLE "note" ("id" integer PRIMARY KEY, "text" text NOT NULL);
    CREATE TABLE "reply" ("note" integer REFERENCES "note" ("id") DEFERRABLE INITIALLY DEFERRED)`)
  db.pragma('foreign_keys = ON')
  other = new BetterSqlite3(join(folder, 'test.sqlite'), { timeout: 0 })
})
afterEach(() => {
  db.close()
  other.close()
  rmSync(folder, { recursive: true, force: true })
})

const add = (id: number, text = `note ${id}`) => db.prepare('INSERT INTO "note" VALUES (?, ?)').run(id, text).changes
/** What is on the disk, as another process sees it. */
const kept = () => other.prepare('SELECT "id" FROM "note" ORDER BY "id"').pluck().all()
const commits = () => statements.filter((sql) => sql === 'COMMIT').length

test('writes of one moment share a commit, and each resolves with its own result once that is done', async () => {
  const { commit } = createGroupCommit(db, vi.fn())
  const writes = Array.from({ length: 200 }, (_, id) =>
    commit(() => {
      add(id)
      return id * 2
    }).then((value) => ({ value, seen: kept().includes(id) })),
  )
  expect(kept()).toEqual([])
  const results = await Promise.all(writes)
  expect(results).toEqual(writes.map((_, id) => ({ value: id * 2, seen: true })))
  expect(commits()).toBeLessThan(20)
  expect(commits()).toBeGreaterThan(0)
})

test('a write sees what the ones before it wrote', async () => {
  const { commit } = createGroupCommit(db, vi.fn())
  const counts = Array.from({ length: 3 }, (_, id) =>
    commit(() => {
      add(id)
      return db.prepare('SELECT count(*) FROM "note"').pluck().get()
    }),
  )
  expect(await Promise.all(counts)).toEqual([1, 2, 3])
})

test('a write that throws undoes itself alone', async () => {
  const failed = vi.fn()
  const { commit } = createGroupCommit(db, failed)
  const outcomes = await Promise.allSettled([
    commit(() => add(1)),
    commit(() => {
      add(2)
      throw new Error('changed my mind')
    }),
    commit(() => {
      add(3)
      add(3)
    }),
    commit(() => add(4)),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(outcomes[1]).toMatchObject({ reason: new Error('changed my mind') })
  expect(outcomes[2]).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } })
  expect(kept()).toEqual([1, 4])
  expect(commits()).toBe(1)
  expect(failed).not.toHaveBeenCalled()
})

test('a commit that fails fails every write of it, keeps nothing, and the next ones go through', async () => {
  const failed = vi.fn()
  const { commit } = createGroupCommit(db, failed)
  const outcomes = await Promise.allSettled([
    commit(() => add(1)),
    commit(() => db.prepare('INSERT INTO "reply" VALUES (99)').run()),
    commit(() => add(2)),
  ])
  expect(outcomes).toEqual(Array(3).fill({ status: 'rejected', reason: expect.objectContaining({ code: 'SQLITE_CONSTRAINT_FOREIGNKEY' }) }))
  expect(failed).toHaveBeenCalledOnce()
  expect(kept()).toEqual([])
  await commit(() => add(3))
  expect(kept()).toEqual([3])
})

test('with no room left the writes that were refused are the ones that are not there, and writing goes on once there is room', async () => {
  const { commit } = createGroupCommit(db, vi.fn())
  const pages = Number(db.pragma('page_count', { simple: true }))
  db.pragma(`max_page_count = ${pages + 20}`)
  const big = 'x'.repeat(20_000)
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, (_, id) => commit(() => add(id, big)).then(() => id)))
  const taken = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [translateFailure(outcome.reason)] : []))
  expect(kept()).toEqual(taken)
  expect(refused.length).toBeGreaterThan(0)
  for (const reason of refused) expect(reason).toMatchObject({ status: 507, code: 'disk_full' })
  db.pragma(`max_page_count = ${pages + 1000}`)
  await commit(() => add(1000, big))
  expect(kept()).toContain(1000)
})

test('a lock of another process is waited for without holding the loop up', async () => {
  const { commit, idle } = createGroupCommit(db, vi.fn())
  other.exec('BEGIN IMMEDIATE')
  let done = false
  const write = commit(() => add(1)).then(() => {
    done = true
  })
  let turns = 0
  for (const until = performance.now() + 300; performance.now() < until; turns++) await wait(1)
  expect(done).toBe(false)
  expect(turns).toBeGreaterThan(10)
  other.exec('COMMIT')
  await write
  await idle()
  expect(kept()).toEqual([1])
})

test('a lock that is not given back answers 503 busy after five seconds, and later writes go through', async () => {
  const { commit } = createGroupCommit(db, vi.fn())
  other.exec('BEGIN IMMEDIATE')
  const startedAt = performance.now()
  const refusal = await commit(() => add(1)).catch((error: unknown) => error)
  expect(translateFailure(refusal)).toMatchObject({ status: 503, code: 'busy', headers: { 'retry-after': '1' } })
  expect(performance.now() - startedAt).toBeGreaterThan(4_900)
  expect(performance.now() - startedAt).toBeLessThan(8_000)
  other.exec('COMMIT')
  await commit(() => add(2))
  expect(kept()).toEqual([2])
})

/** The connection, but the statement `sql` fails the first time with `code`. */
function failing(sql: string, code: string): BetterSqlite3.Database {
  let failures = 1
  const statement = db.prepare(sql)
  const broken = Object.create(statement) as BetterSqlite3.Statement
  broken.run = () => {
    if (failures-- > 0) throw new BetterSqlite3.SqliteError('injected', code)
    return statement.run()
  }
  const prepare = (asked: string) => (asked === sql ? broken : db.prepare(asked))
  return new Proxy(db, { get: (target, key) => (key === 'prepare' ? prepare : Reflect.get(target, key, target)) })
}

test.each(['BEGIN IMMEDIATE', 'SAVEPOINT one', 'RELEASE one', 'ROLLBACK TO one', 'COMMIT'])(
  'a disk that fails under %s fails the writes, never leaves one waiting, and is told',
  async (sql) => {
    const failed = vi.fn()
    const { commit } = createGroupCommit(failing(sql, 'SQLITE_IOERR_FSYNC'), failed)
    const outcomes = await Promise.allSettled([
      commit(() => add(1)),
      commit(() => {
        add(2)
        throw new Error('changed my mind')
      }),
      commit(() => add(3)),
    ])
    const taken = outcomes.flatMap((outcome, index) => (outcome.status === 'fulfilled' ? [index + 1] : []))
    expect(kept()).toEqual(taken)
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ code: 'SQLITE_IOERR_FSYNC' }))
    await commit(() => add(4))
    expect(kept()).toEqual([...taken, 4])
  },
)

test('a rollback that fails as well ends neither the process nor the queue', async () => {
  const { commit } = createGroupCommit(failing('ROLLBACK', 'SQLITE_IOERR'), vi.fn())
  await expect(commit(() => db.prepare('INSERT INTO "reply" VALUES (99)').run())).rejects.toMatchObject({
    code: 'SQLITE_CONSTRAINT_FOREIGNKEY',
  })
  await expect(commit(() => add(1))).rejects.toThrow('within a transaction')
  await commit(() => add(2))
  expect(kept()).toEqual([2])
})

test('a closed connection refuses, and nothing is left under way', async () => {
  const { commit, idle } = createGroupCommit(db, vi.fn())
  db.close()
  await expect(commit(() => 1)).rejects.toThrow('not open')
  await idle()
})
