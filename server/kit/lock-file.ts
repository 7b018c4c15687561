import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'

const Holder = z.object({ pid: z.number().int().positive(), startedAt: z.string() })
type Holder = z.output<typeof Holder>

export interface Lock {
  /** The last holder ended without releasing it. */
  wasStale: boolean
  release(): void
}

export class LockedError extends Error {
  constructor(pid: number) {
    super(`Another Hearth (process ${pid}) is using this data folder.`)
    this.name = 'LockedError'
  }
}

/** When a process started, in the kernel's own count, so that a reused pid is not taken for its old owner; '' where unknown. */
function startOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19] ?? ''
  } catch {
    return '' // no /proc on this system, or no such process: the pid alone decides
  }
}

function isAlive({ pid, startedAt }: Holder): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return pid !== process.pid && startOf(pid) === startedAt
}

function read(path: string): Holder | null {
  try {
    return Holder.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return null // torn by a crash while it was written: nobody holds it
  }
}

/** Takes the lock file at `path` for this process. Throws {@link LockedError} while another live process holds it. */
export function takeLock(path: string): Lock {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  let wasStale = false
  for (;;) {
    try {
      const file = openSync(path, 'wx', 0o600)
      writeSync(file, JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid) } satisfies Holder))
      fsyncSync(file)
      closeSync(file)
      return { wasStale, release: () => rmSync(path, { force: true }) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const holder = read(path)
      if (holder && isAlive(holder)) throw new LockedError(holder.pid)
      rmSync(path, { force: true })
      wasStale = true
    }
  }
}
