import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { expect, test } from 'vitest'
import { addNote, killed, type NotesFolder, noteIds, notesFolder } from '../support/notes.ts'
import { overwrite, tornLogs } from '../support/torn-log.ts'

/** A database of 60 notes over many pages, cleanly closed. */
async function written(folder: NotesFolder, ...ids: string[]): Promise<void> {
  const db = await folder.open()
  for (let at = 0; at < 60; at++) await addNote(db, `filler ${at}`, 'x'.repeat(2_000))
  for (const id of ids) await addNote(db, id)
  await db.close()
}

/** A backup as `backups/` holds them. */
function backUp({ path, backupsPath }: NotesFolder, name: string, secondsAgo: number): void {
  const raw = new BetterSqlite3(path, { readonly: true })
  raw.prepare('VACUUM INTO ?').run(join(backupsPath, name))
  raw.close()
  const at = Date.now() / 1000 - secondsAgo
  utimesSync(join(backupsPath, name), at, at)
}

/** Databases that were set aside, or with `suffix` their logs. */
const setAside = ({ path }: NotesFolder, suffix = '') =>
  readdirSync(dirname(path))
    .filter((name) => name.includes('.corrupt.') && name.endsWith(`Z${suffix}`))
    .map((name) => join(dirname(path), name))

const faults: [string, (path: string) => void][] = [
  ['its header overwritten', (path) => overwrite(path, 0, Buffer.alloc(100, 'z'))],
  ['a page in its middle overwritten', (path) => overwrite(path, 4096 * 10, Buffer.alloc(4096, 'z'))],
  ['its last page zeroed', (path) => overwrite(path, statSync(path).size - 4096, Buffer.alloc(4096))],
  ['half of it cut off', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ['a few bytes left of it', (path) => truncateSync(path, 50)],
  ['nothing left of it', (path) => truncateSync(path, 0)],
  ['text in its place', (path) => writeFileSync(path, 'Dear diary, '.repeat(1000))],
  [
    'the database of another program in its place',
    (path) => {
      rmSync(path)
      const raw = new BetterSqlite3(path)
      raw.exec(`CREATE TABLE "recipes" ("name" text); INSERT INTO "recipes" VALUES ('soup')`)
      raw.close()
    },
  ],
]

test.each(faults)('a database with %s is set aside as it is, and the newest sound backup takes its place', async (_what, damage) => {
  using folder = notesFolder()
  await written(folder, 'a')
  backUp(folder, 'old.sqlite', 3_000)
  backUp(folder, 'newest-but-torn.sqlite', 10)
  truncateSync(join(folder.backupsPath, 'newest-but-torn.sqlite'), 5_000)
  const more = await folder.open()
  await addNote(more, 'b')
  await more.close()
  backUp(folder, 'newer.sqlite', 60)
  const more2 = await folder.open()
  await addNote(more2, 'c')
  await more2.close()
  damage(folder.path)
  const damaged = readFileSync(folder.path)

  const db = await folder.open()
  expect(db.damage).toMatch(/damaged.*set aside.*newer\.sqlite/)
  expect(noteIds(db).slice(0, 2)).toEqual(['a', 'b'])
  expect(noteIds(db)).not.toContain('c')
  const [aside = ''] = setAside(folder)
  expect(aside).toMatch(/hearth\.sqlite\.corrupt\.\d{4}-\d\d-\d\dT[\d-]+\.\d+Z$/)
  expect(readFileSync(aside).equals(damaged)).toBe(true)
  await addNote(db, 'd')
  await db.close()
  expect(readdirSync(folder.backupsPath).sort()).toEqual(['newer.sqlite', 'newest-but-torn.sqlite', 'old.sqlite'])

  const again = await folder.open({ wasUnclean: true })
  expect([again.damage, noteIds(again).includes('d'), setAside(folder)]).toEqual([null, true, [aside]])
  await again.close()
})

test('a folder in its place is set aside too, and without a backup an empty database takes its place', async () => {
  using folder = notesFolder()
  mkdirSync(folder.path)
  writeFileSync(join(folder.path, 'keep.txt'), 'kept')
  const db = await folder.open()
  expect(db.damage).toMatch(/no backup.*empty/)
  expect(noteIds(db)).toEqual([])
  await db.close()
  expect(readFileSync(join(setAside(folder)[0] ?? '', 'keep.txt'), 'utf8')).toBe('kept')
})

test('a damaged database takes its log with it, and a second one does not overwrite the first', async () => {
  using folder = notesFolder()
  await written(folder)
  await killed(folder, 'a')
  overwrite(folder.path, 0, Buffer.alloc(4096, 'z'))
  const log = readFileSync(`${folder.path}-wal`)
  await (await folder.open()).close()
  const [asideLog = ''] = setAside(folder, '-wal')
  expect(readFileSync(asideLog).equals(log)).toBe(true)
  expect(setAside(folder)).toEqual([asideLog.replace('-wal', '')])
  writeFileSync(folder.path, 'torn again')
  await (await folder.open()).close()
  expect(setAside(folder)).toHaveLength(2)
})

test('a database that is gone is brought back from its backup; a first start without one is no damage', async () => {
  using folder = notesFolder()
  const first = await folder.open()
  expect(first.damage).toBeNull()
  await addNote(first, 'a')
  await first.close()
  backUp(folder, 'daily.sqlite', 10)
  rmSync(folder.path)
  const db = await folder.open()
  expect(db.damage).toContain('daily.sqlite')
  expect(noteIds(db)).toEqual(['a'])
  await db.close()
})

test('a sound database is left alone, killed or not', async () => {
  using folder = notesFolder()
  await written(folder, 'a')
  await killed(folder, 'b', 'c')
  const db = await folder.open({ wasUnclean: true })
  expect(db.damage).toBeNull()
  expect(noteIds(db).slice(0, 3)).toEqual(['a', 'b', 'c'])
  await db.close()
  expect([...setAside(folder), ...setAside(folder, '-wal')]).toEqual([])
})

test('a log cut off at any byte, or damaged at any, gives what was committed before that place', async () => {
  expect(await tornLogs(24)).toEqual([])
})

test('without its log the database is as it was at the last checkpoint', async () => {
  using folder = notesFolder()
  await written(folder, 'a')
  await killed(folder, 'b')
  for (const suffix of ['-wal', '-shm']) rmSync(folder.path + suffix)
  const db = await folder.open({ wasUnclean: true })
  expect([db.damage, noteIds(db).slice(0, 2)]).toEqual([null, ['a', 'filler 0']])
  await db.close()
})

test('a log that another database left is set aside, and the database is as it was without it', async () => {
  using folder = notesFolder()
  using neighbour = notesFolder()
  await written(folder, 'ours')
  await killed(neighbour, 'theirs')
  const log = readFileSync(`${neighbour.path}-wal`)
  writeFileSync(`${folder.path}-wal`, log)
  const db = await folder.open()
  expect(db.damage).toContain('log')
  expect(noteIds(db)).toContain('ours')
  expect(noteIds(db)).not.toContain('theirs')
  await db.close()
  expect(readFileSync(setAside(folder, '-wal')[0] ?? '').equals(log)).toBe(true)
})

test('a file that cannot be opened, though nothing is wrong in it, is not set aside', async () => {
  using folder = notesFolder()
  await written(folder, 'a')
  const holder = new BetterSqlite3(folder.path)
  holder.pragma('locking_mode = EXCLUSIVE')
  holder.exec('BEGIN EXCLUSIVE')
  await expect(folder.open()).rejects.toMatchObject({ code: expect.stringMatching(/^SQLITE_BUSY/) })
  holder.exec('ROLLBACK')
  holder.close()
  expect([...setAside(folder), ...setAside(folder, '-wal')]).toEqual([])
  const db = await folder.open()
  expect(noteIds(db)).toContain('a')
  await db.close()
})

test('checking 30 MB at the start takes less than two seconds', async () => {
  using folder = notesFolder()
  const db = await folder.open()
  for (let at = 0; at < 30; at++) await addNote(db, `big ${at}`, 'x'.repeat(1_000_000))
  await db.close()
  expect(statSync(folder.path).size).toBeGreaterThan(30_000_000)
  const startedAt = performance.now()
  const again = await folder.open({ wasUnclean: true })
  expect(performance.now() - startedAt).toBeLessThan(2_000)
  await again.close()
  expect(existsSync(`${folder.path}-wal`)).toBe(false)
})

test('what a kill leaves of the very first start is no damage', async () => {
  using folder = notesFolder()
  writeFileSync(`${folder.path}.part`, 'half a data')
  const db = await folder.open()
  await addNote(db, 'a')
  await db.close()
  const whole = readFileSync(folder.path)
  // The switch to a write-ahead log changes the first page under a rollback journal: here it stopped half way.
  const raw = new BetterSqlite3(folder.path)
  raw.pragma('journal_mode = DELETE')
  raw.exec(`BEGIN; INSERT INTO "note" VALUES ('half', 'way')`)
  raw.pragma('cache_spill = 1')
  raw.pragma('cache_size = 1')
  for (let at = 0; at < 50; at++) raw.prepare('INSERT INTO "note" VALUES (?, ?)').run(`half ${at}`, 'x'.repeat(5_000))
  for (const suffix of ['', '-journal']) copyFileSync(folder.path + suffix, `${folder.path}.kept${suffix}`)
  raw.exec('ROLLBACK')
  raw.close()
  for (const suffix of ['', '-journal']) copyFileSync(`${folder.path}.kept${suffix}`, folder.path + suffix)
  expect(readFileSync(folder.path).equals(whole)).toBe(false)
  const again = await folder.open({ wasUnclean: true })
  expect([again.damage, noteIds(again)]).toEqual([null, ['a']])
  await again.close()
})
