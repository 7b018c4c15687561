import type { Database } from '../../../db/database.ts'
import { notFound } from '../../../kit/errors.ts'
import type { ModelDownload } from '../models.contract.ts'
import { type ModelDownloadRow, ModelDownloadTable } from '../models.table.ts'
import { createTransferRate } from './transfer-rate.ts'

/** What is known of a download besides its row. */
export interface Progress {
  doneBytes: number
  /** Why the last attempt failed, while another is waited for. */
  trouble: string | null
  rate: ReturnType<typeof createTransferRate>
  /** When it was last told of, on the clock of `performance`. */
  toldAt: number
}

interface DownloadBookDeps {
  db: Database
  publish(download: ModelDownload): void
  /** Progress is told no more often than this. */
  tellMs: number
}

/** Keeps the rows of downloads together with how far each is, and tells of every change. */
export function createDownloadBook({ db, publish, tellMs }: DownloadBookDeps) {
  const progress = new Map<string, Progress>()

  const progressOf = (id: string): Progress => {
    const known = progress.get(id) ?? { doneBytes: 0, trouble: null, rate: createTransferRate(), toldAt: 0 }
    progress.set(id, known)
    return known
  }

  const shown = ({ id, name, status, totalBytes, error }: ModelDownloadRow): ModelDownload => {
    const { doneBytes, trouble, rate } = progressOf(id)
    return {
      id,
      name,
      status,
      doneBytes: status === 'done' ? (totalBytes ?? doneBytes) : doneBytes,
      totalBytes,
      bytesPerSecond: status === 'running' ? rate.perSecond() : 0,
      error: error ?? trouble,
    }
  }

  const tell = (id: string): void => {
    const row = db.get(ModelDownloadTable, id)
    if (!row) return
    progressOf(id).toldAt = performance.now()
    publish(shown(row))
  }

  return {
    progressOf,
    shown,
    tell,
    tellSometimes(id: string): void {
      if (performance.now() - progressOf(id).toldAt >= tellMs) tell(id)
    },
    /** Throws 404. */
    rowOf(id: string): ModelDownloadRow {
      const row = db.get(ModelDownloadTable, id)
      if (!row) throw notFound('This download')
      return row
    },
    async change(id: string, patch: Partial<ModelDownloadRow>): Promise<void> {
      await db.write((tx) => tx.update(ModelDownloadTable, id, patch))
      tell(id)
    },
    /** Oldest first. */
    list: (): ModelDownload[] => db.find(ModelDownloadTable, {}, { order: 'createdAt asc' }).map(shown),
    drop: (id: string): void => void progress.delete(id),
  }
}
