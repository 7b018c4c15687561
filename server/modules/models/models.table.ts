import { id, table, text, textOrNull } from '../../db/table.ts'

/** A download that was asked for, so that it goes on after a restart. */
export interface ModelDownloadRow {
  id: string
  /** Name of the model it becomes, without `.gguf`. */
  name: string
  /** Under the hub's address. */
  path: string
  sha256: string | null
  totalBytes: number | null
  status: 'waiting' | 'running' | 'paused' | 'checking' | 'failed' | 'done'
  error: string | null
  createdAt: string
}
export const ModelDownloadTable = table<ModelDownloadRow>('model_download', {
  id,
  name: text,
  path: text,
  sha256: textOrNull,
  totalBytes: { type: 'integer', nullable: true },
  status: text,
  error: textOrNull,
  createdAt: text,
})
