import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EntitySchema, MigrationInterface, QueryRunner } from 'typeorm'
import { type Database, type DatabaseOptions, openDatabase } from '../../server/db/database.ts'
import { id, table, text } from '../../server/db/table.ts'
import { createLog } from '../../server/kit/log.ts'

interface NoteRow {
  id: string
  body: string
}
export const NoteTable = table<NoteRow>('note', { id, body: text })

/** The first migration of a database of notes. */
export class Notes20261121000000 implements MigrationInterface {
  name = 'Notes20261121000000'
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE "note" ("id" text PRIMARY KEY NOT NULL, "body" text NOT NULL)')
  }
  async down(): Promise<void> {
    throw new Error('only forward')
  }
}

export interface NotesFolder extends Disposable {
  path: string
  backupsPath: string
  open(options?: Partial<DatabaseOptions>): Promise<Database>
}

/** A folder for one database of notes; everything about the way it is opened can be chosen. */
export function notesFolder(parent = tmpdir()): NotesFolder {
  const folder = mkdtempSync(join(parent, 'hearth-notes-'))
  const path = join(folder, 'hearth.sqlite')
  const backupsPath = join(folder, 'backups')
  return {
    path,
    backupsPath,
    open: (options = {}) =>
      openDatabase({
        path,
        backupsPath,
        tables: [NoteTable as EntitySchema<never>],
        migrations: [Notes20261121000000],
        wasUnclean: false,
        log: createLog('silent'),
        onDiskFailure(error) {
          throw error
        },
        ...options,
      }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export const addNote = (db: Database, noteId: string, body = `the body of ${noteId}`): Promise<void> =>
  db.write((tx) => tx.insert(NoteTable, { id: noteId, body }))
export const noteIds = (db: Database): string[] => db.find(NoteTable, {}, { order: 'id asc' }).map((note) => note.id)

/** Leaves the files as a process that was killed with them open does. */
export async function killed(folder: NotesFolder, ...ids: string[]): Promise<void> {
  const db = await folder.open()
  for (const id of ids) await addNote(db, id)
  for (const suffix of ['', '-wal', '-shm']) copyFileSync(folder.path + suffix, `${folder.path}.kept${suffix}`)
  await db.close()
  for (const suffix of ['', '-wal', '-shm']) copyFileSync(`${folder.path}.kept${suffix}`, folder.path + suffix)
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${folder.path}.kept${suffix}`)
}
