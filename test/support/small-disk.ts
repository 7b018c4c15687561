import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk extends Disposable {
  path: string
  /** Takes all the room that is left. */
  fill(): void
  /** Gives that room back. */
  clear(): void
}

/** Mounts a disk of a few megabytes; Linux, and only as root. */
export function smallDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'hearth-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'pipe' })
  const ballast = join(path, 'ballast')
  return {
    path,
    fill() {
      const file = openSync(ballast, 'a')
      for (let bytes = 1024 * 1024; bytes > 0; ) {
        try {
          writeSync(file, Buffer.alloc(bytes))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
          bytes = Math.floor(bytes / 2)
        }
      }
      closeSync(file)
    },
    clear: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', path], { stdio: 'pipe' })
      rmdirSync(path)
    },
  }
}

function tryMount(): string | null {
  try {
    smallDisk(1)[Symbol.dispose]()
    return null
  } catch (error) {
    return (error as Error).message.trim().split('\n').at(-1) ?? 'mount failed'
  }
}

/** Why no disk can be mounted here, or null; a test that needs one is skipped by it and says so in its name. */
export const noSmallDisk = tryMount()
export const needsSmallDisk = noSmallDisk === null ? '' : ` (skipped: no disk can be mounted here: ${noSmallDisk})`
