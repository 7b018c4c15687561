import BetterSqlite3 from 'better-sqlite3'
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isCorrupt } from './failures.ts'

/** Why a file is not a sound database, or null when it is. `thorough` reads every page (about 1 s per 100 MB). */
export function faultOf(path: string, thorough: boolean): string | null {
  if (statSync(path).isDirectory()) return 'it is a folder'
  let db: BetterSqlite3.Database | undefined
  try {
    db = new BetterSqlite3(path, { readonly: true, fileMustExist: true, timeout: 0 })
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    const verdict = thorough ? String(db.pragma('quick_check(1)', { simple: true })) : 'ok'
    return verdict === 'ok' ? null : verdict
  } catch (error) {
    if (isCorrupt(error)) return (error as Error).message
    throw error
  } finally {
    db?.close()
  }
}

/** Renames a damaged database and its companions so that nothing overwrites them; answers the new name. */
export function setAside(path: string, now: Date): string {
  const aside = `${path}.corrupt.${now.toISOString().replaceAll(':', '-')}`
  for (const suffix of ['', '-wal', '-shm']) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
  return aside
}

/** Copies the newest backup that is still sound into place; answers its name, or null where there is none. */
export function restoreNewest(path: string, backupsPath: string): string | null {
  const names = existsSync(backupsPath) ? readdirSync(backupsPath).filter((name) => name.endsWith('.sqlite')) : []
  const newestFirst = names.map((name) => ({ name, at: statSync(join(backupsPath, name)).mtimeMs })).sort((a, b) => b.at - a.at)
  for (const { name } of newestFirst) {
    if (faultOf(join(backupsPath, name), true) !== null) continue
    copyFileSync(join(backupsPath, name), path)
    return name
  }
  return null
}

const KEPT_BACKUPS = 5

/** Writes a copy that was read back and found sound to `backups/`, and drops all but the newest five made for upgrades. */
export function backUp(db: BetterSqlite3.Database, backupsPath: string, now: Date): string {
  const target = join(backupsPath, `before-upgrade-${now.toISOString().replaceAll(':', '-')}.sqlite`)
  const part = `${target}.part`
  rmSync(part, { force: true })
  db.prepare('VACUUM INTO ?').run(part)
  const fault = faultOf(part, true)
  if (fault) throw new Error(`The copy made before the upgrade is not sound (${fault}); the database was left as it is.`)
  renameSync(part, target)
  const upgrades = readdirSync(backupsPath).filter((name) => /^before-upgrade-.*\.sqlite$/.test(name))
  for (const old of upgrades.sort().slice(0, -KEPT_BACKUPS)) rmSync(join(backupsPath, old), { force: true })
  return target
}
