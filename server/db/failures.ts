import { AppError } from '../kit/errors.ts'

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

/** Another connection holds the lock. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY')
/** The file is not, or no longer, a sound database. */
export const isCorrupt = (error: unknown): boolean => codeOf(error) === 'SQLITE_NOTADB' || codeOf(error).startsWith('SQLITE_CORRUPT')
/** The disk failed under a write: what the operating system still holds of it cannot be trusted. */
export const isDiskFailure = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_IOERR')
const isFull = (error: unknown): boolean => codeOf(error) === 'SQLITE_FULL' || codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT'

/** Failures of the disk and of the database as answers: 507 `disk_full`, 503 `busy`; anything else unchanged. */
export function translateFailure(error: unknown): unknown {
  if (isFull(error)) return new AppError(507, 'disk_full', 'There is no room left on the disk. Nothing was changed.', { cause: error })
  if (isBusy(error))
    return new AppError(503, 'busy', 'Hearth is busy. Please try again.', { headers: { 'retry-after': '1' }, cause: error })
  return error
}
