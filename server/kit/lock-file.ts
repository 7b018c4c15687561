import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { z } from 'zod'
import { writeFileAtomic } from './atomic-file.ts'

const Holder = z.object({ pid: z.number().int().positive(), startedAt: z.string() })

export interface Lock {
  /** The last holder ended without releasing it. */
  wasStale: boolean
  release(): void
}

export class LockedError extends Error {
  constructor(pid: number | null) {
    super(`Another Hearth${pid === null ? '' : ` (process ${pid})`} is using this data folder.`)
    this.name = 'LockedError'
  }
}

/** A connection that nobody refers to is closed by the garbage collector, and its lock with it. */
const open = new Set<BetterSqlite3.Database>()

/** The process named in the lock file; null where a crash tore it. */
function holderOf(path: string): number | null {
  try {
    return Holder.parse(JSON.parse(readFileSync(path, 'utf8'))).pid
  } catch {
    return null // the sentence is understood without the number
  }
}

/**
 * Takes the lock at `path` for this process. Throws {@link LockedError} while another live process holds it.
 *
 * The kernel decides who holds it, by an exclusive lock on the empty file beside it, which Node can only take through
 * SQLite: it ends with its process however that ends, where a process id may be reused, belong to another container or
 * be looked at by two starts at once. The file at `path` says who it is, and that it did not end properly when it is left.
 */
export function takeLock(path: string): Lock {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const held = new BetterSqlite3(`${path}.held`, { timeout: 0 })
  try {
    held.exec('BEGIN EXCLUSIVE')
    const wasStale = existsSync(path)
    writeFileAtomic(
      path,
      JSON.stringify({ pid: process.pid, startedAt: new Date().toISOString() } satisfies z.output<typeof Holder>),
      0o600,
    )
    open.add(held)
    return {
      wasStale,
      release() {
        if (!open.delete(held)) return
        rmSync(path, { force: true })
        held.close()
      },
    }
  } catch (error) {
    held.close()
    if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_BUSY')) throw new LockedError(holderOf(path))
    throw error
  }
}
