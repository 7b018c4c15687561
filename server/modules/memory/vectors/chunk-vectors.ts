import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Database, Transaction } from '../../../db/database.ts'
import { BOUND_TEXT } from '../../../db/rows.ts'
import type { EventBus } from '../../../kit/events.ts'
import type { Logger } from '../../../kit/log.ts'
import type { Embedder } from '../embedder.ts'
import { memoryIndexed } from '../memory.contract.ts'
import type { ChunkRow } from '../memory.table.ts'
import type { Near } from './nearest.ts'
import { createVectorIndex, type Owner, toVector, type VectorIndex } from './vector-index.ts'

/** Which embedder is to be used, and word of another. */
export interface Embedders {
  current(): Embedder
  /** Returns what ends the listening. */
  onChange(listener: (embedder: Embedder) => void): () => void
}

export interface ChunkVectorsDeps {
  db: Database
  events: EventBus
  embedders: Embedders
  /** The embedder that needs no model and answers within milliseconds. */
  defaultEmbedder: Embedder
  databasePath: string
  /** Where graphs are kept. */
  folder: string
  log: Logger
}

export interface Embedded {
  model: string
  vector: Float32Array
}

type Waiting = Pick<ChunkRow, 'id' | 'title' | 'content'> & { seq: number }

/** The text is still what was embedded. */
const IS_SAME = `"id" = ${BOUND_TEXT} AND "title" = ${BOUND_TEXT} AND "content" = ${BOUND_TEXT}`

/** Not embedded by the model that is bound twice: two ranges of an index, where "is not" would look at every row. */
const IS_WAITING = `"embeddingModel" < ${BOUND_TEXT} OR "embeddingModel" > ${BOUND_TEXT}`

/** A slow embedder may hold a request up so long; then the chunk is kept without and embedded behind it. */
const PATIENCE_MS = { store: 150, search: 1_000 }
const BATCH = { rows: 24, characters: 60_000 }
const RETRY_MS = { first: 2_000, longest: 120_000 }
const TRIED_SINGLY = 3
const TELL_EVERY_MS = 500
const CLEAR_PAGE = 500

/** What of a chunk is embedded; a title that its text begins with says nothing more. */
export const embeddedText = ({ title, content }: Pick<ChunkRow, 'title' | 'content'>): string => {
  const own = title.replace(/…$/, '').trim()
  return content.includes(own) ? content : `${title}\n${content}`
}

const folderOf = (model: string): string => createHash('sha256').update(model).digest('hex').slice(0, 16)

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

export type ChunkVectors = ReturnType<typeof createChunkVectors>

/**
 * Embeds chunks and finds the near ones. When another embedding model is chosen every chunk is embedded anew behind the scenes, while the
 * vectors of the one before go on serving; what is still to be done is told by the rows, so that it goes on after a crash.
 */
export function createChunkVectors({ db, events, embedders, defaultEmbedder, databasePath, folder, log }: ChunkVectorsDeps) {
  interface Side {
    embedder: Embedder
    index: VectorIndex
  }
  let serving: Side | null = null
  /** What serves once all chunks are embedded with it. */
  let coming: Side | null = null
  let running: { abort: AbortController; done: Promise<void> } | null = null
  let retryTimer: NodeJS.Timeout | undefined
  let retryMs = RETRY_MS.first
  let fault: string | null = null
  let toldAt = 0
  let isStopped = true
  let changing = Promise.resolve()
  let unsubscribe: (() => void) | undefined
  /** Chunks that the embedder failed on alone; they are left out until the next start. */
  const refused = new Set<string>()

  const sideOf = (embedder: Embedder): Side => ({
    embedder,
    index: createVectorIndex({ db, model: embedder.name, databasePath, folder: join(folder, folderOf(embedder.name)), log }),
  })
  const sides = (): Side[] => [serving, coming].filter((side) => side !== null)
  const target = (): Embedder => embedders.current()
  const hasChunks = () => db.select('SELECT 1 FROM "memory_chunk" LIMIT 1').length > 0
  const isEmbeddedBy = (model: string) =>
    db.select(`SELECT 1 FROM "memory_chunk" WHERE "embeddingModel" = ${BOUND_TEXT} LIMIT 1`, [model]).length > 0

  function waiting(model: string, limit: number): Waiting[] {
    const sql = `SELECT "seq", "id", "title", "content" FROM "memory_chunk" WHERE ${IS_WAITING} LIMIT (? + 0)`
    return db.select<Waiting>(sql, [model, model, limit + refused.size]).filter(({ id }) => !refused.has(id))
  }

  /** Nothing is made or read before the first chunk or search. */
  function open(): Side {
    if (serving) return serving
    const wanted = target()
    const before = wanted !== defaultEmbedder && waiting(wanted.name, 1).length > 0 && isEmbeddedBy(defaultEmbedder.name)
    serving = sideOf(before ? defaultEmbedder : wanted)
    void serving.index.open()
    if (before) {
      coming = sideOf(wanted)
      void coming.index.open()
    }
    return serving
  }

  function tell(model: string, isLast: boolean): void {
    if (!isLast && performance.now() - toldAt < TELL_EVERY_MS) return
    toldAt = performance.now()
    const { chunks, embedded } = counts(model)
    events.publish(memoryIndexed, { embeddingModel: model, done: embedded, total: chunks })
  }

  /** Those that wait are counted, not those that are embedded: most of the time there are none of them. */
  function counts(model: string): { chunks: number; embedded: number } {
    const one = (sql: string, bound: string[] = []) => db.select<{ n: number }>(sql, bound)[0]?.n ?? 0
    const chunks = one('SELECT count(*) AS "n" FROM "memory_chunk"')
    return { chunks, embedded: chunks - one(`SELECT count(*) AS "n" FROM "memory_chunk" WHERE ${IS_WAITING}`, [model, model]) }
  }

  /** Writes the vectors of those that are still what was embedded. */
  async function keep(rows: Waiting[], vectors: Float32Array[], side: Side): Promise<void> {
    const model = side.embedder.name
    await db.write((tx) => {
      for (const [place, row] of rows.entries()) {
        const vector = vectors[place]
        const isSame =
          tx.run(`UPDATE "memory_chunk" SET "embeddingModel" = ? WHERE ${IS_SAME}`, [model, row.id, row.title, row.content]) > 0
        if (isSame && vector) putVector(tx, row.seq, { model, vector })
      }
      tx.afterCommit(() => {
        for (const [place, row] of rows.entries()) {
          const vector = vectors[place]
          const [now] = db.select<Pick<ChunkRow, 'personId' | 'supersededById'>>(
            `SELECT "personId", "supersededById" FROM "memory_chunk" WHERE ${IS_SAME}`,
            [row.id, row.title, row.content],
          )
          if (vector && now?.supersededById === null) side.index.add(row.seq, now.personId, vector)
        }
      })
    })
  }

  /** One by one where they fail together, so that a text that cannot be embedded holds no other up. */
  async function embedRows(rows: Waiting[], side: Side, signal: AbortSignal): Promise<void> {
    try {
      const vectors = await side.embedder.embed(rows.map(embeddedText), 'passage', signal)
      if (vectors.length !== rows.length)
        throw new Error(`${side.embedder.name} answered ${vectors.length} vectors for ${rows.length} texts`)
      await keep(rows, vectors, side)
    } catch (error) {
      if (signal.aborted || rows.length === 1) throw error
      await embedSingly(rows, side, signal)
    }
  }

  /** The embedder has failed, not a text, where it takes none of the first few. */
  async function embedSingly(rows: Waiting[], side: Side, signal: AbortSignal): Promise<void> {
    const failed: { id: string; error: unknown }[] = []
    for (const [place, row] of rows.entries()) {
      try {
        await embedRows([row], side, signal)
      } catch (error) {
        failed.push({ id: row.id, error })
        if (signal.aborted || (failed.length > place && (place === rows.length - 1 || failed.length === TRIED_SINGLY))) throw error
      }
    }
    for (const { id, error } of failed) {
      refused.add(id)
      log.warn({ err: error, chunkId: id }, 'a remembered text could not be embedded')
    }
  }

  const batchOf = (rows: Waiting[]): Waiting[] => {
    let characters = 0
    return rows.filter(({ content }, place) => {
      characters += content.length
      return place === 0 || characters <= BATCH.characters
    })
  }

  async function embedAll(side: Side, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const rows = batchOf(waiting(side.embedder.name, BATCH.rows))
      if (rows.length === 0) {
        fault = null
        return
      }
      await embedRows(rows, side, signal)
      fault = null
      retryMs = RETRY_MS.first
      tell(side.embedder.name, false)
      await wait(1) // the loop belongs to who asks
    }
  }

  /** Vectors of other models are of no use any more. */
  async function clearOthers(model: string, signal: AbortSignal): Promise<void> {
    const last = db.select<{ seq: number }>('SELECT max("seq") AS "seq" FROM "memory_vector"')[0]?.seq ?? 0
    for (let seq = 0; seq < last && !signal.aborted; seq += CLEAR_PAGE) {
      await db.write((tx) =>
        tx.run('DELETE FROM "memory_vector" WHERE "seq" > (? + 0) AND "seq" <= (? + 0) AND "model" <> ?', [seq, seq + CLEAR_PAGE, model]),
      )
      await wait(1)
    }
  }

  async function work(signal: AbortSignal): Promise<void> {
    const opened = open()
    const side = coming ?? opened
    const hadWork = waiting(side.embedder.name, 1).length > 0
    await embedAll(side, signal)
    if (hadWork) tell(side.embedder.name, true)
    if (side !== coming) return removeOtherGraphs(side)
    const before = serving
    await Promise.race([side.index.open(), aborted(signal)])
    signal.throwIfAborted()
    serving = side
    coming = null
    await before?.index.stop()
    await clearOthers(side.embedder.name, signal)
    await removeOtherGraphs(side)
  }

  async function removeOtherGraphs({ index }: Side): Promise<void> {
    for (const name of await readdir(folder).catch(() => [])) {
      if (join(folder, name) !== index.folder) await rm(join(folder, name), { recursive: true, force: true })
    }
  }

  /** Works off what waits to be embedded, unless that is going on already. */
  function wake(): void {
    if (isStopped || running) return
    clearTimeout(retryTimer)
    const abort = new AbortController()
    const done = work(abort.signal)
      .catch((error: unknown) => {
        if (abort.signal.aborted) return
        const before = fault
        fault = error instanceof Error ? error.message : 'The embedding model failed.'
        if (fault !== before) log.warn({ err: error }, 'memory could not be embedded; it is tried again')
        retryTimer = setTimeout(wake, retryMs).unref()
        retryMs = Math.min(2 * retryMs, RETRY_MS.longest)
      })
      .finally(() => {
        running = null
        if (!abort.signal.aborted && fault === null && serving && waiting((coming ?? serving).embedder.name, 1).length > 0) wake()
      })
    running = { abort, done }
  }

  async function change(embedder: Embedder): Promise<void> {
    if (!serving || isStopped) return
    running?.abort.abort()
    await running?.done
    refused.clear()
    fault = null
    const dropped = coming
    coming = embedder.name === serving.embedder.name ? null : sideOf(embedder)
    if (!coming) serving.embedder = embedder
    await dropped?.index.stop()
    void coming?.index.open()
    wake()
  }

  /** The vector, or null where it is not there in time. */
  async function inTime(embedder: Embedder, text: string, kind: 'passage' | 'query', patienceMs: number): Promise<Float32Array | null> {
    const cut = new AbortController()
    const embedding = embedder.embed([text], kind, cut.signal).then(
      ([vector]) => vector ?? null,
      () => null,
    )
    if (embedder === defaultEmbedder) return embedding
    const late = wait(patienceMs, null, { signal: cut.signal }).catch(() => null)
    return Promise.race([embedding, late]).finally(() => cut.abort())
  }

  return {
    /** The text's vectors by the embedders in use; those that take long are made later, from the row. */
    async embed(chunk: Pick<ChunkRow, 'title' | 'content'>): Promise<Embedded[]> {
      open()
      const text = embeddedText(chunk)
      const made = await Promise.all(
        sides().map(async ({ embedder }) => ({
          model: embedder.name,
          vector: await inTime(embedder, text, 'passage', PATIENCE_MS.store),
        })),
      )
      return made.filter((each): each is Embedded => each.vector !== null)
    },

    /** Which of these the row names: the newest model's, or nothing where that one is still to come. */
    modelOf: (embedded: Embedded[]): string => embedded.find(({ model }) => model === (coming ?? open()).embedder.name)?.model ?? '',

    /** Stores vectors within the write of their row, and takes them into the index after it. */
    put(tx: Transaction, seq: number, owner: Owner, embedded: Embedded[]): void {
      for (const each of embedded) putVector(tx, seq, each)
      tx.afterCommit(() => {
        for (const { model, vector } of embedded)
          sides()
            .find(({ embedder }) => embedder.name === model)
            ?.index.add(seq, owner, vector)
        if (!embedded.some(({ model }) => model === (coming ?? open()).embedder.name)) wake()
      })
    },

    /** Removes the vectors of a text that is changing, within its write. */
    clear(tx: Transaction, seq: number, owner: Owner): void {
      tx.run('DELETE FROM "memory_vector" WHERE "seq" = (? + 0)', [seq])
      this.forget(tx, seq, owner)
    },

    /** It is found no more as soon as the write is done. */
    forget(tx: Transaction, seq: number, owner: Owner): void {
      tx.afterCommit(() => {
        for (const { index } of sides()) index.remove(seq, owner)
      })
    },

    /** A chunk that goes to another owner takes its vectors along. */
    move(tx: Transaction, seq: number, from: Owner, to: Owner): void {
      this.forget(tx, seq, from)
      this.restore(tx, seq, to)
    },

    /** What was forgotten is found again as soon as the write is done, by the vectors that were kept. */
    restore(tx: Transaction, seq: number, owner: Owner): void {
      tx.afterCommit(() => {
        for (const { index } of sides()) {
          const [stored] = db.select<{ vector: Buffer }>(
            `SELECT "vector" FROM "memory_vector" WHERE "seq" = (? + 0) AND "model" = ${BOUND_TEXT}`,
            [seq, index.model],
          )
          if (stored) index.add(seq, owner, toVector(stored.vector))
        }
        wake() // its text may have changed while it was history
      })
    },

    /** The vector of a question for `nearest`; null where there is none in time, and full text answers alone. */
    embedQuery: (text: string): Promise<Float32Array | null> => inTime(open().embedder, text, 'query', PATIENCE_MS.search),
    nearest: (vector: Float32Array, k: number, owners: readonly Owner[] | 'all'): Promise<Near[]> =>
      open().index.nearest(vector, k, owners),

    status() {
      const { name } = target()
      const found = counts(name)
      const isBehind = found.embedded + refused.size < found.chunks
      const isBuilding = serving !== null && (!serving.index.isReady() || isBehind || coming !== null)
      return {
        embeddingModel: name,
        ...found,
        status: fault ? ('error' as const) : isBuilding ? ('building' as const) : ('ready' as const),
        ...(fault && { detail: fault }),
      }
    },

    async start(): Promise<void> {
      isStopped = false
      unsubscribe = embedders.onChange((embedder) => {
        changing = changing.then(() => change(embedder)).catch((err: unknown) => log.error({ err }, 'memory could not change its model'))
      })
      if (hasChunks()) wake()
    },

    async stop(): Promise<void> {
      isStopped = true
      unsubscribe?.()
      clearTimeout(retryTimer)
      running?.abort.abort()
      await Promise.all([running?.done, changing, ...sides().map(({ index }) => index.stop())])
    },
  }
}

/** A row of one model's vector for a chunk, in place of an older one. */
function putVector(tx: Transaction, seq: number, { model, vector }: Embedded): void {
  tx.run(
    'INSERT INTO "memory_vector" ("seq", "model", "vector") VALUES (?, ?, ?) ON CONFLICT ("seq", "model") DO UPDATE SET "vector" = excluded."vector"',
    [seq, model, Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)],
  )
}
