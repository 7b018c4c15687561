import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { DataSource, type EntitySchema, type MigrationInterface, type QueryRunner } from 'typeorm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DatabaseOptions, NewerDatabaseError, openDatabase } from '../server/db/database.ts'
import { migrations } from '../server/db/migrations/all.ts'
import { id, integer, table, text } from '../server/db/table.ts'
import { createLog } from '../server/kit/log.ts'
import { ConversationTable } from '../server/modules/chat/chat.table.ts'
import { tables } from '../server/tables.ts'
import { run } from './support/process.ts'
import { needsSmallDisk, noSmallDisk, smallDisk } from './support/small-disk.ts'

let folder: string
let path: string
let backupsPath: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-migrations-'))
  path = join(folder, 'hearth.sqlite')
  backupsPath = join(folder, 'backups')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = (options: Partial<DatabaseOptions> = {}) =>
  openDatabase({
    path,
    backupsPath,
    tables,
    migrations,
    wasUnclean: false,
    log: createLog('silent'),
    onDiskFailure(error) {
      throw error
    },
    ...options,
  })

/** A migration for this test, of statements that run one after the other. */
const migration = (name: string, ...statements: string[]) =>
  class implements MigrationInterface {
    name = name
    async up(runner: QueryRunner): Promise<void> {
      for (const statement of statements) await runner.query(statement)
    }
    async down(): Promise<void> {
      throw new Error('only forward')
    }
  }
const Mood = migration('Mood20990101000000', `ALTER TABLE "conversation" ADD COLUMN "mood" text NOT NULL DEFAULT 'fine'`)
const Broken = migration(
  'Broken20990102000000',
  `UPDATE "conversation" SET "title" = 'changed'`,
  'DROP TABLE "message"',
  'SELECT * FROM "nowhere"',
)

/** Beginnings of the SHA-256 of what was released: somebody's database has run it as it stands. */
const RELEASED = {
  '20261121000000-first-house.ts': '599fa34c1e3af4cf',
  '20261122000000-a-mind.ts': '87393fa49c314bfe',
  '20261123000000-clean-erasure.ts': '68f71c8a809ee73f',
  '20261123100000-a-feed-of-ones-own.ts': 'be67c0a2d8db7fe2',
  '20261123200000-todos-in-turn.ts': '5d12520f5483aa14',
  '20261124000000-own-events-in-turn.ts': '7b3adaa41c27add1',
}

const conversation = { id: 'c1', deviceId: 'd1', personId: null, title: 'Hello', createdAt: '2026-01-01', updatedAt: '2026-01-01' }

async function writeConversation(): Promise<void> {
  const db = await open()
  await db.write((tx) => tx.insert(ConversationTable, conversation))
  await db.close()
}

/** What the tables look like, and the rows of one. */
function contents(file: string): unknown {
  const raw = new BetterSqlite3(file, { readonly: true })
  const all = (sql: string) => raw.prepare(sql).all()
  const found = {
    schema: all('SELECT "name", "sql" FROM sqlite_schema ORDER BY "name"'),
    rows: all('SELECT * FROM "conversation"'),
    done: all('SELECT * FROM "migrations"'),
  }
  raw.close()
  return found
}

/** What TypeORM would still change to arrive at the declared tables. */
async function drift(declared: EntitySchema<never>[]): Promise<string[]> {
  const source = new DataSource({ type: 'better-sqlite3', database: path, entities: declared })
  await source.initialize()
  const { upQueries } = await source.driver.createSchemaBuilder().log()
  await source.destroy()
  return upQueries.map(({ query }) => query)
}

test('no migration that was released has been edited', () => {
  for (const [file, digest] of Object.entries(RELEASED)) {
    const source = readFileSync(join(import.meta.dirname, '..', 'server', 'db', 'migrations', file))
    expect(createHash('sha256').update(source).digest('hex').slice(0, 16), file).toBe(digest)
  }
})

test('the one address of the calendar becomes the owner’s', async () => {
  const before = migrations.findIndex(({ name }) => name.startsWith('AFeedOfOnesOwn'))
  const old = await open({ migrations: migrations.slice(0, before) })
  await old.write((tx) => {
    tx.run(`INSERT INTO "household" VALUES ('h', 'Home', 'single', 'UTC', 'en', '2026-01-01', '2026-01-01')`)
    for (const [id, role] of [
      ['ben', 'adult'],
      ['ada', 'owner'],
    ])
      tx.run(`INSERT INTO "person" VALUES (?, 'h', 'x', '', ?, '[]', NULL, 0)`, [id as string, role as string])
    for (const [id, at] of [
      ['first', '2026-01-01'],
      ['last', '2026-01-02'],
    ])
      tx.run(`INSERT INTO "calendar_feed" VALUES (?, ?, ?)`, [id as string, `hash of the ${id}`, at as string])
  })
  await old.close()
  const db = await open()
  expect(db.select('SELECT "id", "keyHash" FROM "calendar_feed"')).toEqual([{ id: 'ada', keyHash: 'hash of the last' }])
  await db.close()
})

test('the migrations make exactly the tables that the code declares', async () => {
  await (await open()).close()
  expect(await drift(tables)).toEqual([])
  const raw = new BetterSqlite3(path, { readonly: true })
  const made = raw.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).pluck().all() as string[]
  raw.close()
  const declared = tables.map(({ options }) => options.name)
  expect(made.filter((name) => !/_search(_|$)/.test(name)).sort()).toEqual([...declared, 'migrations'].sort())
})

test('a column or an index that no migration makes is seen', async () => {
  await (await open()).close()
  interface LampRow {
    id: string
    title: string
    level: number
  }
  const columns = { id, title: text, level: integer }
  expect(await drift([...tables, table<LampRow>('lamp', columns) as EntitySchema<never>])).not.toEqual([])
  const { options } = ConversationTable
  const others = tables.filter((one) => one.options.name !== options.name)
  const wider = table<LampRow>('conversation', columns, [{ name: 'conversation_level', columns: ['level'] }])
  expect((await drift([...others, wider as EntitySchema<never>])).join()).toContain('level')
})

test('every migration has a name and a time of its own, in order', () => {
  const names = migrations.map((Migration) => new Migration().name ?? '')
  const times = names.map((name) => /\d{14}$/.exec(name)?.[0] ?? '')
  expect(times).toEqual([...new Set(times)].sort())
  expect(times).not.toContain('')
})

test('starting again changes nothing and copies nothing', async () => {
  await writeConversation()
  const before = contents(path)
  await (await open()).close()
  expect(contents(path)).toEqual(before)
  expect(readdirSync(backupsPath)).toEqual([])
})

test('an existing database is copied, and the copy found sound, before an upgrade', async () => {
  await writeConversation()
  const before = contents(path)
  const db = await open({ migrations: [...migrations, Mood] })
  expect(db.select('SELECT "title", "mood" FROM "conversation"')).toEqual([{ title: 'Hello', mood: 'fine' }])
  await db.close()
  const [backup = '', ...others] = readdirSync(backupsPath)
  expect(backup).toMatch(/^before-upgrade-.*\.sqlite$/)
  expect(others).toEqual([])
  expect(contents(join(backupsPath, backup))).toEqual(before)
  const raw = new BetterSqlite3(join(backupsPath, backup), { readonly: true })
  expect(raw.pragma('integrity_check', { simple: true })).toBe('ok')
  raw.close()

  copyFileSync(join(backupsPath, backup), path)
  const earlier = await open()
  expect(earlier.get(ConversationTable, 'c1')).toEqual(conversation)
  await earlier.close()
})

test('of the copies made for upgrades the newest five stay, and nobody else’s is touched', async () => {
  await writeConversation()
  for (let year = 2100; year < 2107; year++) {
    const steps = Array.from({ length: year - 2099 }, (_, step) =>
      migration(`Step${2100 + step}0101000000`, `CREATE TABLE "step_${2100 + step}" ("id" text)`),
    )
    await (await open({ migrations: [...migrations, ...steps] })).close()
    if (year === 2100) copyFileSync(path, join(backupsPath, 'mine.sqlite'))
  }
  const kept = readdirSync(backupsPath).sort()
  expect(kept).toHaveLength(6)
  expect(kept.at(-1)).toBe('mine.sqlite')
  const newest = new BetterSqlite3(join(backupsPath, kept.at(-2) ?? ''), { readonly: true })
  expect(newest.prepare(`SELECT name FROM sqlite_schema WHERE name IN ('step_2105', 'step_2106')`).pluck().all()).toEqual(['step_2105'])
  newest.close()
})

test('an upgrade that fails half way leaves everything as it was, steps before it included', async () => {
  await writeConversation()
  const before = contents(path)
  await expect(open({ migrations: [...migrations, Mood, Broken] })).rejects.toThrow('nowhere')
  expect(contents(path)).toEqual(before)
  const db = await open()
  expect(db.get(ConversationTable, 'c1')).toEqual(conversation)
  await db.close()
})

test.skipIf(noSmallDisk)(`without room for the copy there is no upgrade${needsSmallDisk}`, async () => {
  await writeConversation()
  const before = contents(path)
  using disk = smallDisk(1)
  disk.fill()
  await expect(open({ migrations: [...migrations, Mood], backupsPath: disk.path })).rejects.toMatchObject({ code: 'SQLITE_FULL' })
  expect(contents(path)).toEqual(before)
  disk.clear()
  await (await open({ migrations: [...migrations, Mood], backupsPath: disk.path })).close()
  expect(readdirSync(disk.path)).toEqual([expect.stringMatching(/^before-upgrade-.*Z\.sqlite$/)])
})

test.each([
  ['closed', false],
  ['killed', true],
])('the data of a newer Hearth, %s, is refused in one line and stays as it is to the byte', async (_what, isKilled) => {
  const db = await open({ migrations: [...migrations, Mood] })
  await db.write((tx) => tx.insert(ConversationTable, { ...conversation, id: 'c2' }))
  const files = ['', '-wal', '-shm']
  if (isKilled) for (const suffix of files) copyFileSync(path + suffix, `${folder}/kept${suffix}`)
  await db.close()
  if (isKilled) for (const suffix of files) copyFileSync(`${folder}/kept${suffix}`, path + suffix)
  await expect(open()).rejects.toThrow(NewerDatabaseError)

  const bytes = () => [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => readFileSync(file).toString('base64'))
  const before = bytes()
  const exit = await run('server.ts', folder).exited
  expect(exit.stderr).toMatch(/^This data was written by a newer Hearth \(Mood20990101000000\).*\n$/)
  expect([exit.status, exit.stdout]).toEqual([78, ''])
  expect(bytes().filter((content) => content !== '')).toEqual(before.filter((content) => content !== ''))
  expect(existsSync(join(folder, 'hearth.lock'))).toBe(false)
})
