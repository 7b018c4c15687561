import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, readdirSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { isCorrupt } from './failures.ts'

const MARK_AT = 68
const MARK_BYTES = 4

/** The database's own mark as its file holds it, whatever a log beside it says; 0 where it has none. */
function markInFile(path: string): number {
  const header = Buffer.alloc(MARK_BYTES)
  const file = openSync(path, 'r')
  readSync(file, header, 0, MARK_BYTES, MARK_AT)
  closeSync(file)
  return header.readInt32BE()
}

function faultInside(db: BetterSqlite3.Database, path: string, thorough: boolean): string | null {
  const { tables, ours } = db
    .prepare(`SELECT count(*) AS tables, count(*) FILTER (WHERE name = 'migrations') AS ours FROM sqlite_schema`)
    .get() as Record<string, number>
  const mark = markInFile(path)
  // SQLite plays any log back into any database: the mark tells a log that was left by another one.
  if (mark !== 0 && db.pragma('application_id', { simple: true }) !== mark) return 'its log belongs to another database'
  if (tables !== 0 && ours === 0) return 'it is not a database of Hearth'
  const verdict = thorough ? String(db.pragma('quick_check(1)', { simple: true })) : 'ok'
  return verdict === 'ok' ? null : verdict
}

/** Why a file is not a sound database, or null when it is. `thorough` reads every page (about 1 s per 100 MB). */
export function faultOf(path: string, thorough: boolean): string | null {
  if (statSync(path).isDirectory()) return 'it is a folder'
  if (statSync(path).size === 0) return 'it is empty'
  let db: BetterSqlite3.Database | undefined
  try {
    // What a crash left half done in its very first moment is undone by a connection that may write.
    db = new BetterSqlite3(path, { readonly: !existsSync(`${path}-journal`), fileMustExist: true, timeout: 0 })
    return faultInside(db, path, thorough)
  } catch (error) {
    if (isCorrupt(error)) return (error as Error).message
    throw error
  } finally {
    db?.close()
  }
}

/** Renames a damaged database, or only its log, so that nothing overwrites it; answers the new name. */
export function setAside(path: string, now: Date, suffixes = ['', '-wal', '-shm', '-journal']): string {
  const aside = `${path}.corrupt.${now.toISOString().replaceAll(':', '-')}`
  for (const suffix of suffixes) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
  return aside
}

function isSound(path: string): boolean {
  try {
    return faultOf(path, true) === null
  } catch {
    return false // a backup that cannot be read is of no more use than a damaged one
  }
}

const sqliteFiles = (folder: string) => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.sqlite')) : [])

export const hasBackup = (backupsPath: string): boolean => sqliteFiles(backupsPath).length > 0

/** Copies the newest backup that is still sound into place; answers its name, or null where there is none. */
export function restoreNewest(path: string, backupsPath: string): string | null {
  const names = sqliteFiles(backupsPath)
  const newestFirst = names.map((name) => ({ name, at: statSync(join(backupsPath, name)).mtimeMs })).sort((a, b) => b.at - a.at)
  const newest = newestFirst.find(({ name }) => isSound(join(backupsPath, name)))
  if (!newest) return null
  copyFileSync(join(backupsPath, newest.name), `${path}.part`)
  const copy = openSync(`${path}.part`, 'r+')
  fsyncSync(copy)
  closeSync(copy)
  renameSync(`${path}.part`, path)
  return newest.name
}

const KEPT_BACKUPS = 5

function copySound(db: BetterSqlite3.Database, path: string): void {
  db.prepare('VACUUM INTO ?').run(path)
  const fault = faultOf(path, true)
  if (fault) throw new Error(`The copy made before the upgrade is not sound (${fault}); the database was left as it is.`)
}

/** Writes a copy that was read back and found sound to `backups/`, and drops all but the newest five made for upgrades. */
export function backUp(db: BetterSqlite3.Database, backupsPath: string, now: Date): string {
  const target = join(backupsPath, `before-upgrade-${now.toISOString().replaceAll(':', '-')}.sqlite`)
  const part = `${target}.part`
  try {
    copySound(db, part)
    renameSync(part, target)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
  const upgrades = readdirSync(backupsPath).filter((name) => /^before-upgrade-.*\.sqlite$/.test(name))
  for (const old of upgrades.sort().slice(0, -KEPT_BACKUPS)) rmSync(join(backupsPath, old), { force: true })
  return target
}
