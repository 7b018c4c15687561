import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, statfs } from 'node:fs/promises'
import { type Hub, type HubDownload, HubFault, MOST_BYTES, tooLarge } from './hub.ts'
import { openPart, readPart } from './part-file.ts'

/** There is not enough room for a file and for what the rest of the house writes. */
export class NoRoom extends Error {
  constructor() {
    super('There is not enough room on the disk for this model.')
  }
}

/** Left free for everything else. */
const RESERVE_BYTES = 512 * 1024 * 1024
const MAGIC = 'GGUF'
const HASH_SLICE_BYTES = 256 * 1024

/** Rejects with {@link NoRoom} where `bytes` more in `folder` would leave too little. */
export async function checkRoom(folder: string, bytes: number): Promise<void> {
  await mkdir(folder, { recursive: true })
  const { bavail, bsize } = await statfs(folder)
  if (bytes + RESERVE_BYTES > bavail * bsize) throw new NoRoom()
}

interface TransferOptions {
  hub: Hub
  /** Under the hub's address. */
  path: string
  folder: string
  partPath: string
  /** Of the whole file, where it is known already. */
  totalBytes: number | null
  sha256: string | null
  /** Without a byte for so long, the connection counts as broken. */
  idleMs: number
  signal: AbortSignal
  /** What the hub says of the file, before the first byte. */
  onBegin(download: HubDownload): Promise<void>
  /** How many bytes there are, and how many of them are new. */
  onBytes(done: number, more: number): void
}

/** A timer that aborts unless it is set anew in time. */
function patience(ms: number) {
  const controller = new AbortController()
  const give = () => setTimeout(() => controller.abort(new HubFault('again', 'The hub fell silent.')), ms)
  let timer = give()
  return {
    signal: controller.signal,
    heard() {
      clearTimeout(timer)
      timer = give()
    },
    end: () => clearTimeout(timer),
  }
}

/** Fails of the connection come as many errors; those with a name of their own are not among them. */
function explained(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (error instanceof HubFault || error instanceof NoRoom) return error
  if (code === 'ENOSPC' || code === 'EDQUOT') return new NoRoom()
  // of the file system, and so no matter of the hub's
  if ((error as NodeJS.ErrnoException).syscall !== undefined && (error as NodeJS.ErrnoException).path !== undefined) return error
  return new HubFault('again', 'The connection to the hub broke off.', error)
}

async function receive(download: HubDownload, options: TransferOptions, heard: () => void): Promise<void> {
  const { totalBytes, etag, sha256 } = download
  const writer = await openPart(options.partPath, { bytes: download.from, etag, sha256 })
  let done = download.from
  try {
    for await (const bytes of download.body) {
      heard()
      if (done === 0 && bytes.byteLength >= MAGIC.length && Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1') !== MAGIC)
        throw new HubFault('final', 'What the hub sends is not a GGUF model.')
      if (done + bytes.byteLength > (totalBytes ?? MOST_BYTES))
        throw totalBytes === null ? tooLarge() : new HubFault('restart', 'The hub sends more than it announced.')
      await writer.write(bytes)
      done += bytes.byteLength
      options.onBytes(done, bytes.byteLength)
    }
  } finally {
    await writer.close()
  }
  if (totalBytes !== null && done < totalBytes) throw new HubFault('again', 'The connection to the hub broke off.')
}

/**
 * Fetches a file, or what is missing of it; answers whether anything of an earlier attempt was kept. Rejects with {@link HubFault},
 * {@link NoRoom}, the signal's reason, or what the file system says.
 */
export async function transfer(options: TransferOptions): Promise<{ resumed: boolean }> {
  const part = await readPart(options.partPath)
  if (part.bytes > 0 && part.bytes === options.totalBytes) return { resumed: true }
  const waited = patience(options.idleMs)
  const signal = AbortSignal.any([options.signal, waited.signal])
  // without anything to tell the file by, what is there may belong to another one
  const from = (part.etag ?? part.sha256 ?? options.sha256) ? part.bytes : 0
  try {
    const download = await options.hub.open(options.path, { from, etag: part.etag }, signal)
    if (download.from > 0) {
      if (part.sha256 !== null && download.sha256 !== null && part.sha256 !== download.sha256)
        throw new HubFault('restart', 'The hub’s file is another one than before.')
      download.sha256 ??= part.sha256
    }
    if (download.totalBytes !== null) await checkRoom(options.folder, download.totalBytes - download.from)
    await options.onBegin(download)
    options.onBytes(download.from, 0)
    await receive(download, options, waited.heard)
    return { resumed: download.from > 0 }
  } catch (error) {
    throw explained(error, signal)
  } finally {
    waited.end()
  }
}

/** SHA-256 of a file in hex, read in slices so that the loop stays free. Rejects with the signal's reason. */
export async function checksum(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const slice of createReadStream(path, { highWaterMark: HASH_SLICE_BYTES })) {
    signal.throwIfAborted()
    hash.update(slice as Buffer)
  }
  return hash.digest('hex')
}
