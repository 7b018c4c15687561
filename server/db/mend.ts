import { existsSync, statSync } from 'node:fs'
import type { Logger } from '../kit/log.ts'
import { faultOf, hasBackup, restoreNewest, setAside } from './integrity.ts'

export interface MendOptions {
  path: string
  backupsPath: string
  /** The last run ended without closing: every page is checked. */
  wasUnclean: boolean
  log: Logger
}

/** Files up to this size are read whole at every start, which takes a third of a second; larger ones after an unclean end. */
const ALWAYS_CHECKED_BYTES = 32 * 1024 * 1024

function faultAtStart({ path, backupsPath, wasUnclean }: MendOptions): string | null {
  if (!existsSync(path)) return existsSync(`${path}-wal`) || hasBackup(backupsPath) ? 'it is missing' : null
  return faultOf(path, wasUnclean || statSync(path).size <= ALWAYS_CHECKED_BYTES)
}

/** Whether the database is sound once its log is out of the way: newer than any backup, but for what was in the log. */
function isSoundAlone(path: string): boolean {
  return existsSync(path) && statSync(path).isFile() && faultOf(path, true) === null
}

/**
 * Sets a damaged database aside, or its log where that is all that is wrong, and puts the newest sound backup in its
 * place, if there is one. Answers what was found and done; null when all is well.
 */
export function mend(options: MendOptions): string | null {
  const { path, backupsPath, log } = options
  const fault = faultAtStart(options)
  if (!fault) return null
  const now = new Date()
  if (existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0) {
    const aside = setAside(path, now, ['-wal', '-shm'])
    if (isSoundAlone(path)) {
      log.error({ fault, aside }, 'the log of the database was damaged and was set aside')
      return 'The log of the database was damaged and was set aside. What was written last may be missing.'
    }
  }
  const aside = setAside(path, now)
  const restored = restoreNewest(path, backupsPath)
  const then = restored ? `The backup ${restored} took its place.` : 'There was no backup, so an empty one took its place.'
  log.error({ fault, aside, restored }, 'the database was damaged and was set aside')
  return `The database was damaged and was set aside. ${then}`
}
