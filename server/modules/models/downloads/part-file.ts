import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'

const Mark = z.object({ bytes: z.int().nonnegative(), etag: z.string().nullable(), sha256: z.string().nullable() })

/** What came of a file so far, and by what the rest is known to belong to it. */
export interface PartFile {
  /** Bytes that are certainly on the disk. */
  bytes: number
  etag: string | null
  /** Of the whole file, as the hub told it. */
  sha256: string | null
}

/** Bytes that a loss of power may cost. */
const SYNC_EVERY_BYTES = 16 * 1024 * 1024
const markOf = (path: string) => `${path}.json`

/** What is there of the file at `path`; nothing where its mark is missing or does not fit. */
export async function readPart(path: string): Promise<PartFile> {
  const nothing = { bytes: 0, etag: null, sha256: null }
  try {
    const mark = Mark.safeParse(JSON.parse(await readFile(markOf(path), 'utf8')))
    const { size } = await stat(path)
    return mark.success && size >= mark.data.bytes ? mark.data : nothing
  } catch {
    return nothing
  }
}

export async function removePart(path: string): Promise<void> {
  await Promise.all([rm(path, { force: true }), rm(markOf(path), { force: true })])
}

export interface PartWriter {
  /** Resolves when it is handed to the system; every so often when it is on the disk. */
  write(bytes: Uint8Array): Promise<void>
  /** Brings all to the disk. */
  close(): Promise<void>
}

/** Goes on writing the file at `path` after the first `bytes` of it; what is behind them is cut off. */
export async function openPart(path: string, { bytes: from, ...marks }: PartFile): Promise<PartWriter> {
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, from > 0 ? 'r+' : 'w')
  let at = from
  let synced = from

  const sync = async () => {
    await file.datasync()
    synced = at
    // a torn mark is as good as none
    await writeFile(markOf(path), JSON.stringify({ bytes: synced, ...marks } satisfies PartFile))
  }

  try {
    await file.truncate(from)
    await sync()
  } catch (error) {
    await file.close()
    throw error
  }

  return {
    async write(bytes) {
      for (let written = 0; written < bytes.byteLength; ) {
        const { bytesWritten } = await file.write(bytes, written, bytes.byteLength - written, at)
        written += bytesWritten
        at += bytesWritten
      }
      if (at - synced >= SYNC_EVERY_BYTES) await sync()
    },
    async close() {
      try {
        await sync()
      } finally {
        await file.close()
      }
    },
  }
}
