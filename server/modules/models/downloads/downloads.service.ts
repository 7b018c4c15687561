import { randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../../db/database.ts'
import { AppError, conflict } from '../../../kit/errors.ts'
import type { Logger } from '../../../kit/log.ts'
import type { ModelDownload } from '../models.contract.ts'
import { type ModelDownloadRow, ModelDownloadTable } from '../models.table.ts'
import { GgufFault, readGgufHeader } from '../shelf/gguf-header.ts'
import { modelExists, PART_FOLDER } from '../shelf/place-file.ts'
import { createDownloadBook } from './download-book.ts'
import { type Hub, HubFault } from './hub.ts'
import { readPart, removePart } from './part-file.ts'
import { checkRoom, checksum, NoRoom, transfer } from './transfer.ts'

export interface DownloadsDeps {
  db: Database
  modelsPath: string
  hub: Hub
  /** Moves a whole file into the models folder; 409 rather than over another. */
  place(from: string, to: string): Promise<void>
  publish(download: ModelDownload): void
  log: Logger
  waits?: Partial<typeof WAITS>
}

/** What is to be fetched. */
export interface Wanted {
  name: string
  path: string
  sha256: string | null
  /** About, where it is known. */
  sizeBytes: number | null
}

export type DownloadsService = ReturnType<typeof createDownloadsService>

const WAITS = { firstMs: 500, longestMs: 60_000, idleMs: 30_000, tellMs: 250 }
/** Attempts in a row that got no further; with the pauses between them a good quarter of an hour. */
const MOST_ATTEMPTS = 24
const WRONG_SUM = 'What arrived is not what the hub announced: the checksum differs.'
const NO_LONGER = 'paused, cancelled or the server stops'

interface Running {
  id: string
  stop: AbortController
  ended: Promise<void>
}

const diskFull = (error: NoRoom) => new AppError(507, 'disk_full', error.message)

/** Fetches models from a hub, one at a time; each is a row, so that it goes on after a restart. */
export function createDownloadsService({ db, modelsPath, hub, place, publish, log, waits }: DownloadsDeps) {
  const { firstMs, longestMs, idleMs, tellMs } = { ...WAITS, ...waits }
  let running: Running | null = null
  let started = false
  let adding: Promise<unknown> = Promise.resolve()

  const book = createDownloadBook({ db, publish, tellMs })
  const { rowOf, shown, change, progressOf } = book
  const partPath = (id: string) => join(modelsPath, PART_FOLDER, id)

  /** Attempts until the file is there; whoever gets further than before may fail as often again. */
  const fetchAll = async (id: string, signal: AbortSignal): Promise<{ resumed: boolean }> => {
    const own = progressOf(id)
    let furthest = own.doneBytes
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      const row = rowOf(id)
      try {
        return await transfer({
          hub,
          path: row.path,
          folder: modelsPath,
          partPath: partPath(id),
          totalBytes: row.totalBytes,
          sha256: row.sha256,
          idleMs,
          signal,
          async onBegin({ totalBytes }) {
            own.trouble = null
            if (totalBytes !== row.totalBytes) await change(id, { totalBytes })
          },
          onBytes(done, more) {
            if (done > furthest) attempt = 0
            furthest = Math.max(furthest, done)
            own.doneBytes = done
            own.rate.add(more)
            book.tellSometimes(id)
          },
        })
      } catch (error) {
        if (signal.aborted || !(error instanceof HubFault) || !['again', 'restart'].includes(error.kind)) throw error
        if (attempt >= MOST_ATTEMPTS) throw new HubFault('final', error.message, error)
        log.warn({ err: error, download: row.name, attempt }, 'a download is tried again')
        if (error.kind === 'restart') await startOver(id)
        own.trouble = error.message
        book.tell(id)
        await wait(Math.min(longestMs, firstMs * 2 ** attempt), undefined, { signal })
      }
    }
  }

  const startOver = async (id: string) => {
    await removePart(partPath(id))
    progressOf(id).doneBytes = 0
  }

  /** Whether what arrived is what was wanted; where an old part was continued, the part may be to blame. */
  const isSound = async (id: string, signal: AbortSignal): Promise<boolean> => {
    // what was asked for with a checksum keeps it; the hub's own goes with the part it was told of
    const sha256 = rowOf(id).sha256 ?? (await readPart(partPath(id))).sha256
    return sha256 === null || (await checksum(partPath(id), signal)) === sha256
  }

  /** Whether the server ended between putting it in its place and writing that down. */
  const isPlaced = async ({ id, name, totalBytes }: ModelDownloadRow): Promise<boolean> => {
    if ((await readPart(partPath(id))).bytes > 0) return false
    const placed = await stat(join(modelsPath, `${name}.gguf`)).catch(() => null) // one that cannot be looked at is fetched again
    return placed !== null && placed.size === totalBytes
  }

  const fetchAndPlace = async (id: string, signal: AbortSignal) => {
    if (await isPlaced(rowOf(id))) return change(id, { status: 'done', error: null })
    await change(id, { status: 'running', error: null })
    let { resumed } = await fetchAll(id, signal)
    await change(id, { status: 'checking' })
    while (!(await isSound(id, signal))) {
      await startOver(id)
      if (!resumed) throw new HubFault('final', WRONG_SUM)
      await change(id, { status: 'running' })
      resumed = (await fetchAll(id, signal)).resumed
      await change(id, { status: 'checking' })
    }
    await readGgufHeader(partPath(id))
    signal.throwIfAborted()
    const { name } = rowOf(id)
    await place(partPath(id), join(modelsPath, `${name}.gguf`))
    await removePart(partPath(id))
    await change(id, { status: 'done', error: null, totalBytes: rowOf(id).totalBytes ?? progressOf(id).doneBytes })
    log.info({ model: name }, 'a model was downloaded')
  }

  const failed = async (id: string, error: unknown) => {
    const expected = error instanceof HubFault || error instanceof NoRoom || error instanceof GgufFault || error instanceof AppError
    if (expected) log.warn({ err: error, download: id }, 'a download failed')
    else log.error({ err: error, download: id }, 'a download failed')
    if (error instanceof GgufFault) await startOver(id)
    const reason = expected ? error.message : 'The file could not be written.'
    await change(id, { status: 'failed', error: reason })
  }

  const handle = async (id: string, signal: AbortSignal) => {
    const own = progressOf(id)
    own.rate.reset()
    try {
      await fetchAndPlace(id, signal)
    } catch (error) {
      // whoever stopped it says what becomes of it
      if (!signal.aborted) await failed(id, error)
    } finally {
      own.trouble = null
    }
  }

  const next = () => db.first(ModelDownloadTable, { status: 'waiting' }, { order: 'createdAt asc' })

  const work = () => {
    if (running || !started) return
    const row = next()
    if (!row) return
    const stop = new AbortController()
    const ended = handle(row.id, stop.signal)
      .catch((err: unknown) => log.error({ err, download: row.id }, 'a download could not be written down'))
      .finally(() => {
        running = null
        work()
      })
    running = { id: row.id, stop, ended }
  }

  /** Resolves when nothing is being done for it. */
  const halt = async (id: string) => {
    if (running?.id !== id) return
    running.stop.abort(new Error(NO_LONGER))
    await running.ended
  }

  /** Takes it out of the queue, whether it waits or runs. */
  const park = async (id: string) => {
    do {
      await halt(id)
      // it may have come to its end meanwhile
      if (['waiting', 'running', 'checking'].includes(rowOf(id).status)) await change(id, { status: 'paused' })
    } while (running?.id === id)
  }

  const enqueue = async (id: string) => {
    await change(id, { status: 'waiting', error: null })
    work()
    return shown(rowOf(id))
  }

  const add = async ({ name, path, sha256, sizeBytes }: Wanted): Promise<ModelDownload> => {
    const known = db.find(ModelDownloadTable).filter((row) => row.name.toLowerCase() === name.toLowerCase())
    const same = known.find((row) => row.path === path && row.status !== 'done')
    if (same) return ['paused', 'failed'].includes(same.status) ? enqueue(same.id) : shown(same)
    if (known.some((row) => row.status !== 'done')) throw modelExists(name)
    await checkRoom(modelsPath, sizeBytes ?? 0).catch((error: unknown) => {
      throw error instanceof NoRoom ? diskFull(error) : error
    })
    const row: ModelDownloadRow = {
      id: randomUUID(),
      name,
      path,
      sha256,
      totalBytes: null,
      status: 'waiting',
      error: null,
      createdAt: new Date().toISOString(),
    }
    await db.write((tx) => {
      for (const { id } of known) tx.remove(ModelDownloadTable, { id })
      tx.insert(ModelDownloadTable, row)
    })
    book.tell(row.id)
    work()
    return shown(rowOf(row.id))
  }

  /** Removes what belongs to no download any more, such as an import that a crash cut off. What cannot be removed stops nothing. */
  const tidy = async () => {
    const kept = new Set(db.find(ModelDownloadTable).flatMap(({ id, status }) => (status === 'done' ? [] : [id, `${id}.json`])))
    try {
      const left = await readdir(join(modelsPath, PART_FOLDER))
      for (const entry of left) if (!kept.has(entry)) await rm(join(modelsPath, PART_FOLDER, entry), { recursive: true, force: true })
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code !== 'ENOENT') log.warn({ err }, 'what is left of old downloads cannot be removed')
    }
  }

  return {
    list: book.list,
    /** Goes on with a download of the same file if there is one. 409 `model_exists`, 507 `disk_full`. */
    add(wanted: Wanted): Promise<ModelDownload> {
      const added = adding.then(() => add(wanted))
      adding = added.catch(() => undefined) // whoever asked hears of it
      return added
    },
    async pause(id: string): Promise<ModelDownload> {
      const { status } = rowOf(id)
      if (status === 'done' || status === 'failed') throw conflict('conflict', 'This download is over.')
      await park(id)
      return shown(rowOf(id))
    },
    async resume(id: string): Promise<ModelDownload> {
      const row = rowOf(id)
      if (row.status === 'done') throw conflict('conflict', 'This download is over.')
      return row.status === 'paused' || row.status === 'failed' ? enqueue(id) : shown(row)
    },
    async cancel(id: string): Promise<void> {
      await park(id)
      await db.write((tx) => tx.remove(ModelDownloadTable, { id }))
      await removePart(partPath(id))
      book.drop(id)
    },
    /** Clears finished downloads of a model that was deleted. */
    forget: (name: string): Promise<number> => db.write((tx) => tx.remove(ModelDownloadTable, { name, status: 'done' })),
    async start(): Promise<void> {
      started = true
      await tidy()
      const rows = db.find(ModelDownloadTable)
      for (const { id } of rows) progressOf(id).doneBytes = (await readPart(partPath(id))).bytes
      const cut = rows.filter(({ status }) => status === 'running' || status === 'checking')
      await db.write((tx) => {
        for (const { id } of cut) tx.update(ModelDownloadTable, id, { status: 'waiting' })
      })
      work()
    },
    async stop(): Promise<void> {
      started = false
      if (running) await halt(running.id)
    },
  }
}
