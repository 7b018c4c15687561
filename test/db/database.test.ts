import { existsSync, statSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { expect, test } from 'vitest'
import { translateFailure } from '../../server/db/failures.ts'
import { addNote, NoteTable, noteIds, notesFolder } from '../support/notes.ts'
import { needsSmallDisk, noSmallDisk, smallDisk } from '../support/small-disk.ts'

test('the connection writes ahead, waits for the disk at each commit and holds foreign keys', async () => {
  using folder = notesFolder()
  const db = await folder.open()
  const setting = (name: string) => db.select<Record<string, unknown>>(`PRAGMA ${name}`).flatMap((row) => Object.values(row))
  expect(setting('journal_mode')).toEqual(['wal'])
  expect(setting('synchronous')).toEqual([2])
  expect(setting('foreign_keys')).toEqual([1])
  expect(setting('busy_timeout')).toEqual([0])
  await db.close()
})

test('what waits for the commit runs after it, and not at all when the write is undone', async () => {
  using folder = notesFolder()
  const db = await folder.open()
  const other = new BetterSqlite3(folder.path, { readonly: true })
  const seen: unknown[] = []
  const count = () => other.prepare('SELECT count(*) FROM "note"').pluck().get()
  await db.write((tx) => {
    tx.afterCommit(() => seen.push(count()))
    tx.insert(NoteTable, { id: 'a', body: '' })
    seen.push(`inside: ${count()}`)
  })
  const undone = db.write((tx) => {
    tx.afterCommit(() => seen.push('never'))
    tx.insert(NoteTable, { id: 'a', body: 'twice' })
  })
  await expect(undone).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' })
  expect(seen).toEqual(['inside: 0', 1])
  other.close()
  await db.close()
})

test('closing waits for what is being written and leaves one file, its log played in', async () => {
  using folder = notesFolder()
  const db = await folder.open()
  const writes = Array.from({ length: 50 }, (_, at) => addNote(db, `n${at}`))
  await db.close()
  await Promise.all(writes)
  expect([existsSync(`${folder.path}-wal`), existsSync(`${folder.path}-shm`)]).toEqual([false, false])
  const again = await folder.open()
  expect(noteIds(again)).toHaveLength(50)
  await again.close()
})

test('closing while another process reads does not fail, and loses nothing', async () => {
  using folder = notesFolder()
  const db = await folder.open()
  const reader = new BetterSqlite3(folder.path, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT * FROM "note"').all()
  await addNote(db, 'a')
  await db.close()
  reader.exec('COMMIT')
  reader.close()
  const again = await folder.open()
  expect(noteIds(again)).toEqual(['a'])
  await again.close()
})

test('the log stops growing once a reader that held it up is gone', async () => {
  using folder = notesFolder()
  const db = await folder.open()
  const reader = new BetterSqlite3(folder.path, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT * FROM "note"').all()
  for (let at = 0; at < 20; at++) await addNote(db, `n${at}`, 'x'.repeat(1_000_000))
  const held = statSync(`${folder.path}-wal`).size
  expect(held).toBeGreaterThan(20_000_000)
  reader.exec('COMMIT')
  reader.close()
  for (let at = 0; at < 20; at++) await addNote(db, `m${at}`, 'x'.repeat(1_000_000))
  expect(statSync(`${folder.path}-wal`).size).toBeLessThan(held + 5_000_000)
  expect(noteIds(db)).toHaveLength(40)
  await db.close()
})

test.skipIf(noSmallDisk)(`a full disk refuses writes with 507, keeps reading, and takes writes again${needsSmallDisk}`, async () => {
  using disk = smallDisk(8)
  using folder = notesFolder(disk.path)
  const db = await folder.open()
  await addNote(db, 'a')
  disk.fill()
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, at) => addNote(db, `full ${at}`, 'x'.repeat(5_000))))
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [translateFailure(outcome.reason)] : []))
  expect(refused.length).toBeGreaterThan(0)
  for (const reason of refused) expect(reason).toMatchObject({ status: 507, code: 'disk_full' })
  const taken = outcomes.filter(({ status }) => status === 'fulfilled').length
  expect(noteIds(db)).toHaveLength(1 + taken)
  disk.clear()
  await addNote(db, 'later')
  expect(noteIds(db)).toContain('later')
  disk.fill()
  await db.close()
  const again = await folder.open({ wasUnclean: true })
  expect([again.damage, noteIds(again).length]).toEqual([null, 2 + taken])
  await again.close()
})
