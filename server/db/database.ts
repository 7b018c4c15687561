import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { DataSource, type EntitySchema, type MigrationInterface } from 'typeorm'
import { isDiskFailure } from './failures.ts'
import { createGroupCommit } from './group-commit.ts'
import { backUp } from './integrity.ts'
import { type MendOptions, mend } from './mend.ts'
import { createRows, type Reader, type Writer } from './rows.ts'

export interface Transaction extends Writer {
  /** Runs once the write is on the disk; for events and for whoever waits outside. */
  afterCommit(then: () => void): void
}

export interface Database extends Reader {
  /**
   * Runs `work` as one atomic write and resolves once it is on the disk. `work` is synchronous and reads, through the
   * database, what it has written so far. A throw inside undoes all of it.
   */
  write<T>(work: (tx: Transaction) => T): Promise<T>
  /** Resolves when no write is under way. */
  idle(): Promise<void>
  /**
   * Plays the log of writes into the file and empties it, so that what was erased stands in neither any more. While somebody else reads for
   * longer than a second the log stays; it is emptied at the latest when the database is closed.
   */
  emptyLog(): Promise<void>
  /** What was found and done at the start when the file was damaged; null when all was well. */
  damage: string | null
  close(): Promise<void>
}

export interface DatabaseOptions extends MendOptions {
  tables: EntitySchema<never>[]
  migrations: (new () => MigrationInterface)[]
  /** The disk failed under a commit: only a new start finds out what it holds. */
  onDiskFailure(error: unknown): void
}

/** The file was made by a newer Hearth. */
export class NewerDatabaseError extends Error {
  constructor(names: string[]) {
    super(`This data was written by a newer Hearth (${names.join(', ')}). Install that version again; nothing was changed.`)
    this.name = 'NewerDatabaseError'
  }
}

/** So often, and so long between, is it tried to empty the log while others read. */
const LOG_TRIES = 20
const LOG_WAIT_MS = 50

function migrationsDone(raw: BetterSqlite3.Database): string[] {
  const hasTable = raw.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'migrations'`).get()
  return hasTable ? (raw.prepare('SELECT name FROM migrations').pluck().all() as string[]) : []
}

/** Looks before anything is opened for writing, so that the file of a newer Hearth stays as it is to the byte. */
function refuseNewer({ path, migrations }: DatabaseOptions): void {
  if (!existsSync(path)) return
  const raw = new BetterSqlite3(path, { readonly: true, timeout: 0 })
  try {
    const known = new Set(migrations.map((migration) => new migration().name ?? migration.name))
    const newer = migrationsDone(raw).filter((name) => !known.has(name))
    if (newer.length > 0) throw new NewerDatabaseError(newer)
  } finally {
    raw.close()
  }
}

/** Brings the tables up to date; an existing database is copied and the copy verified before anything changes. */
async function upgrade(source: DataSource, raw: BetterSqlite3.Database, { migrations, backupsPath, log }: DatabaseOptions): Promise<void> {
  const done = migrationsDone(raw)
  if (done.length === migrations.length) return
  if (done.length > 0) log.info({ backup: backUp(raw, backupsPath, new Date()) }, 'the database was copied before its upgrade')
  await source.runMigrations({ transaction: 'all' })
}

function configure(raw: BetterSqlite3.Database): void {
  raw.pragma('journal_mode = WAL')
  raw.pragma('synchronous = FULL')
  raw.pragma('foreign_keys = ON')
  raw.pragma('secure_delete = ON') // what is erased is overwritten, not only let go
  raw.pragma('busy_timeout = 0')
  raw.pragma('wal_autocheckpoint = 1000')
  raw.pragma('journal_size_limit = 67108864')
}

/**
 * Makes an empty database that carries a mark of its own, by which a log left by another one is told. It appears under
 * its name when it is whole, so that an empty file there is always a damaged one.
 */
function create(path: string): void {
  const part = `${path}.part`
  for (const left of [part, `${part}-journal`]) rmSync(left, { force: true })
  const raw = new BetterSqlite3(part)
  raw.pragma(`application_id = ${randomInt(1, 2 ** 31)}`)
  raw.close()
  renameSync(part, path)
}

/** Opens, mends, upgrades and serves the database. Throws {@link NewerDatabaseError} for a file of a later version. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  mkdirSync(dirname(options.path), { recursive: true })
  mkdirSync(options.backupsPath, { recursive: true })
  const damage = mend(options)
  refuseNewer(options)
  if (!existsSync(options.path)) create(options.path)
  const source = new DataSource({
    type: 'better-sqlite3',
    database: options.path,
    entities: options.tables,
    migrations: options.migrations,
    timeout: 0,
    logger: 'debug', // the others write to standard output
  })
  await source.initialize()
  const raw = (source.driver as unknown as { databaseConnection: BetterSqlite3.Database }).databaseConnection
  try {
    configure(raw)
    await upgrade(source, raw, options)
  } catch (error) {
    await source.destroy()
    throw error
  }
  const rows = createRows(raw)
  const { commit, idle } = createGroupCommit(raw, (error) => isDiskFailure(error) && options.onDiskFailure(error))
  return {
    get: rows.get,
    first: rows.first,
    find: rows.find,
    select: rows.select,
    damage,
    idle,
    async emptyLog() {
      const isEmptied = () => (raw.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[])[0]?.busy === 0
      for (let tries = 0; tries < LOG_TRIES; tries += 1) {
        if (!raw.inTransaction && isEmptied()) return
        await wait(LOG_WAIT_MS)
      }
    },
    async write(work) {
      const then: (() => void)[] = []
      const { insert, update, remove, run } = rows
      const result = await commit(() => work({ insert, update, remove, run, afterCommit: (hook) => void then.push(hook) }))
      for (const hook of then) hook()
      return result
    },
    async close() {
      await idle()
      try {
        raw.pragma('wal_checkpoint(TRUNCATE)')
      } catch (err) {
        options.log.warn({ err }, 'the log of the database stays beside it; the next start plays it in')
      }
      await source.destroy()
    },
  }
}
