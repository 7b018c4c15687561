import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '../../../db/database.ts'
import { BOUND_TEXT } from '../../../db/rows.ts'
import type { Logger } from '../../../kit/log.ts'
import { graphKey, removeOthers } from './graph-file.ts'
import { makeGraph, releaseGraph } from './graph-maker.ts'
import { createNearest, type Near } from './nearest.ts'
import { createPartition, type GraphLimits, type Partition } from './partition.ts'

export interface VectorIndexDeps {
  db: Database
  /** The embedding model whose vectors these are. */
  model: string
  databasePath: string
  /** Where graphs are kept. */
  folder: string
  log: Logger
  limits?: GraphLimits
}

/** Whose memory: a person’s, or null for the household’s. */
export type Owner = string | null

/** Five thousand vectors are looked at in two milliseconds. */
const LIMITS: GraphLimits = { graphFrom: 5_000, renewFrom: 1_000 }
const PAGE = 250
/** Changes are gathered for so long before a new graph is made of them. */
const GATHER_MS = 1_000
const AFTER_FAILURE_MS = 60_000

/** Everybody who owns chunks: one look into the index for each, where DISTINCT would walk along all of it. */
const OWNERS = `WITH RECURSIVE "person_owner"("id") AS (
    SELECT min("personId") FROM "memory_chunk"
    UNION ALL SELECT (SELECT min("personId") FROM "memory_chunk" WHERE "personId" > "person_owner"."id") FROM "person_owner" WHERE "person_owner"."id" IS NOT NULL)
  SELECT "id" AS "owner" FROM "person_owner" WHERE "id" IS NOT NULL
  UNION ALL SELECT NULL WHERE EXISTS (SELECT 1 FROM "memory_chunk" WHERE "personId" IS NULL)`
const isOf = (owner: Owner): string => (owner === null ? 'c."personId" IS NULL' : `c."personId" = ${BOUND_TEXT}`)

export type VectorIndex = ReturnType<typeof createVectorIndex>

/** Vectors as they are stored: 32-bit floats, little-endian. */
export const toVector = (stored: Buffer): Float32Array => new Float32Array(Uint8Array.from(stored).buffer)

/**
 * The vectors of one embedding model, by whose memory they belong to, so that a search among few is as good as one among all. What is
 * in the database is the truth: graphs are made from it, compared with it at the start, and made anew where they are missing or damaged.
 */
export function createVectorIndex({ db, model, databasePath, folder, log, limits = LIMITS }: VectorIndexDeps) {
  const partitions = new Map<Owner, Partition>()
  const waiting = new Set<Owner>()
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let making: Promise<void> | null = null
  let opening: Promise<void> | null = null
  let isOpen = false
  /** False once it turns out that the library is not there. */
  let makesGraphs = true

  function partitionOf(owner: Owner): Partition {
    const known = partitions.get(owner) ?? createPartition(limits)
    partitions.set(owner, known)
    return known
  }

  /** Makes the graph of one owner; false where there is none to be had. */
  async function make(owner: Owner, compare: boolean): Promise<boolean> {
    const partition = partitionOf(owner)
    const { from, changed } = partition.beginGraph()
    const order = { databasePath, folder, model, owner, changed: compare ? null : changed }
    const graph = await makeGraph(order, stopping.signal)
    if (!graph) {
      makesGraphs = false
      return false
    }
    const before = partition.useGraph(graph, from)
    if (before) await releaseGraph(before, folder).catch(toLog)
    return true
  }

  async function makeWaiting(): Promise<void> {
    for (const owner of waiting) {
      waiting.delete(owner)
      try {
        await make(owner, !partitionOf(owner).hasGraph())
      } catch (err) {
        if (stopping.signal.aborted) return
        log.warn({ err }, 'the search index of memory could not be written; it is searched from memory meanwhile')
        return gather(AFTER_FAILURE_MS)
      }
    }
  }

  function gather(waitMs: number): void {
    if (timer || stopping.signal.aborted) return
    timer = setTimeout(() => {
      timer = undefined
      making = makeWaiting().finally(() => {
        making = null
        for (const [owner, partition] of partitions) if (partition.wantsGraph()) changed(owner, partition)
      })
    }, waitMs)
    timer.unref()
  }

  function changed(owner: Owner, partition: Partition): void {
    if (!isOpen || !makesGraphs || making || waiting.has(owner) || !partition.wantsGraph()) return
    waiting.add(owner)
    gather(GATHER_MS)
  }

  const hasMany = (owner: Owner): boolean =>
    db.select(`SELECT 1 FROM "memory_chunk" c WHERE ${isOf(owner)} LIMIT 1 OFFSET ${limits.graphFrom - 1}`, owner === null ? [] : [owner])
      .length > 0

  /** Reads the vectors of an owner with few of them, page by page along an index. */
  async function readFew(owner: Owner): Promise<void> {
    const sql = `SELECT c."seq", c."observedAt", v."vector" FROM "memory_chunk" c JOIN "memory_vector" v ON v."seq" = c."seq"
      WHERE v."model" = ${BOUND_TEXT} AND ${isOf(owner)} AND (c."observedAt", c."seq") > (${BOUND_TEXT}, (? + 0)) AND c."supersededById" IS NULL
      ORDER BY c."observedAt", c."seq" LIMIT ${PAGE}`
    const partition = partitionOf(owner)
    let last = { observedAt: '', seq: 0 }
    while (!stopping.signal.aborted) {
      const bound = [model, ...(owner === null ? [] : [owner]), last.observedAt, last.seq]
      const rows = db.select<{ seq: number; observedAt: string; vector: Buffer }>(sql, bound)
      for (const { seq, vector } of rows) partition.add(seq, toVector(vector))
      const end = rows.at(-1)
      if (!end) return
      last = end
      await nextTurn()
    }
  }

  async function open(): Promise<void> {
    const owners = db.select<{ owner: Owner }>(OWNERS).map(({ owner }) => owner)
    const many = new Set(owners.filter(hasMany))
    for (const owner of owners.toSorted((one, other) => Number(many.has(one)) - Number(many.has(other)))) {
      if (stopping.signal.aborted) return
      const found = many.has(owner) && makesGraphs && (await make(owner, true).catch(toLog))
      if (!found) await readFew(owner)
    }
    isOpen = true
    await removeOthers(folder, new Set(owners.map((owner) => graphKey(model, owner)))).catch(toLog)
    for (const [owner, partition] of partitions) changed(owner, partition)
  }

  function toLog(err: unknown): false {
    if (!stopping.signal.aborted) log.warn({ err }, 'the search index of memory could not be read or written')
    return false
  }

  return {
    model,
    folder,
    /** Reads in what there is; searches answer with what is there meanwhile. */
    open(): Promise<void> {
      opening ??= open().catch((err: unknown) => void toLog(err))
      return opening
    },
    isReady: () => isOpen,
    isMaking: () => making !== null,

    /** To be called when the vector is on the disk. */
    add(seq: number, owner: Owner, vector: Float32Array): void {
      const partition = partitionOf(owner)
      if (!partition.add(seq, vector)) log.warn({ model, dimensions: vector.length }, 'a vector of another length was left out')
      changed(owner, partition)
    },

    /** It is found no more from now on. */
    remove(seq: number, owner: Owner): void {
      const partition = partitions.get(owner)
      if (!partition) return
      partition.remove(seq)
      changed(owner, partition)
    },

    /** Most similar first, among what these own. */
    async nearest(query: Float32Array, k: number, owners: readonly Owner[] | 'all'): Promise<Near[]> {
      const asked = owners === 'all' ? [...partitions.values()] : owners.flatMap((owner) => partitions.get(owner) ?? [])
      const found = await Promise.all(asked.map((partition) => partition.nearest(query, k)))
      if (found.length === 1) return found[0] ?? []
      const nearest = createNearest(k)
      for (const { seq, similarity } of found.flat()) nearest.offer(seq, similarity)
      return nearest.list()
    },

    async stop(): Promise<void> {
      clearTimeout(timer)
      stopping.abort()
      await Promise.all([opening, making])
    },
  }
}
