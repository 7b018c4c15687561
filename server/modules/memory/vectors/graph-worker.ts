import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import BetterSqlite3 from 'better-sqlite3'
import { writeFileAtomic } from '../../../kit/atomic-file.ts'
import { digestOf, type GraphNote, graphKey, notePath, readNote } from './graph-file.ts'
import type { GraphOrder, GraphReport } from './graph-maker.ts'
import { GRAPH, type Hnsw, type HnswGraph, loadHnsw } from './hnsw-library.ts'

/** Rows read at once: a long reader would keep the log of the database from being played in. */
const PAGE = 500
/** A graph is made anew when so much of it is dead. */
const MOST_DEAD = 0.3
const HEADROOM = 1.2

interface StoredVector {
  seq: number
  vector: Buffer
}

const order = workerData as GraphOrder
const key = graphKey(order.model, order.owner)
const ownerIs = order.owner === null ? 'c."personId" IS NULL AND ? IS NULL' : 'c."personId" = ?'
const db = new BetterSqlite3(order.databasePath, { readonly: true, timeout: 5_000 })
const from = `FROM "memory_vector" v JOIN "memory_chunk" c ON c."seq" = v."seq"
  WHERE v."model" = ? AND ${ownerIs} AND c."supersededById" IS NULL`
const countRows = db.prepare(`SELECT count(*) AS "count", max(length(v."vector")) AS "bytes" ${from}`)
const nextRows = db.prepare(`SELECT v."seq", v."vector" ${from} AND v."seq" > ? ORDER BY v."seq" LIMIT ${PAGE}`)
const oneRow = db.prepare(`SELECT v."seq", v."vector" ${from} AND v."seq" = ?`)

const numbersOf = (vector: Buffer): number[] => Array.from(new Float32Array(Uint8Array.from(vector).buffer))

function* allRows(): Generator<StoredVector> {
  let after = 0
  for (;;) {
    const rows = nextRows.all(order.model, order.owner, after) as StoredVector[]
    if (rows.length === 0) return
    yield* rows
    after = (rows.at(-1) as StoredVector).seq
  }
}

interface Opened {
  graph: HnswGraph
  /** Every label in it, and whether it counts still. */
  labels: Map<number, 'live' | 'dead'>
}

const createGraph = ({ HierarchicalNSW }: Hnsw, dimensions: number, count: number): Opened => {
  const graph = new HierarchicalNSW('ip', dimensions)
  graph.initIndex(Math.ceil(count * HEADROOM) + PAGE, GRAPH.links, GRAPH.construction)
  return { graph, labels: new Map() }
}

/** The saved graph, where it is what its note says it is. */
async function openSaved({ HierarchicalNSW }: Hnsw, dimensions: number): Promise<{ opened: Opened; note: GraphNote } | null> {
  const note = readNote(order.folder, key)
  if (!note || note.model !== order.model || note.owner !== order.owner || note.dimensions !== dimensions) return null
  try {
    const path = join(order.folder, note.file)
    if ((await digestOf(path)) !== note.sha256) return null
    const graph = new HierarchicalNSW('ip', dimensions)
    graph.readIndexSync(path)
    return { opened: { graph, labels: new Map(graph.getIdsList().map((label) => [label, 'live'])) }, note }
  } catch {
    return null
  }
}

/** Takes a vector in, unless it is there as it is; answers whether anything changed. */
function take({ graph, labels }: Opened, { seq, vector }: StoredVector): boolean {
  const numbers = numbersOf(vector)
  if (labels.has(seq)) {
    try {
      const known = graph.getPoint(seq)
      if (known.length === numbers.length && known.every((value, place) => value === numbers[place])) return false
    } catch {
      // marked as dead; adding it brings it back
    }
  } else if (graph.getCurrentCount() >= graph.getMaxElements()) {
    graph.resizeIndex(Math.ceil(graph.getMaxElements() * HEADROOM) + PAGE)
  }
  graph.addPoint(numbers, seq)
  labels.set(seq, 'live')
  return true
}

function drop({ graph, labels }: Opened, seq: number): boolean {
  if (labels.get(seq) !== 'live') return false
  labels.set(seq, 'dead')
  try {
    graph.markDelete(seq)
    return true
  } catch {
    return false // it was dead already
  }
}

/** Brings a graph to what the database holds, all of it or only what is said to have changed. */
function bringUpToDate(opened: Opened, dimensions: number, changed: readonly number[] | null): boolean {
  let differs = false
  const fits = ({ vector }: StoredVector) => vector.length === dimensions * 4
  if (changed) {
    for (const seq of changed) {
      const row = oneRow.get(order.model, order.owner, seq) as StoredVector | undefined
      differs = (row && fits(row) ? take(opened, row) : drop(opened, seq)) || differs
    }
    return differs
  }
  const unseen = new Set(opened.labels.keys())
  for (const row of allRows()) {
    if (!fits(row)) continue
    differs = take(opened, row) || differs
    unseen.delete(row.seq)
  }
  for (const seq of unseen) differs = drop(opened, seq) || differs
  return differs
}

async function save({ graph, labels }: Opened, dimensions: number): Promise<GraphNote> {
  mkdirSync(order.folder, { recursive: true })
  const file = `${key}-${randomBytes(6).toString('hex')}.hnsw`
  const path = join(order.folder, file)
  const part = `${path}.part`
  graph.writeIndexSync(part)
  const descriptor = openSync(part, 'r+')
  fsyncSync(descriptor)
  closeSync(descriptor)
  const sha256 = await digestOf(part)
  renameSync(part, path)
  const before = readNote(order.folder, key)
  const note: GraphNote = { model: order.model, owner: order.owner, dimensions, count: labels.size, file, sha256 }
  writeFileAtomic(notePath(order.folder, key), JSON.stringify(note))
  if (before) rmSync(join(order.folder, before.file), { force: true })
  return note
}

async function make(): Promise<GraphReport> {
  const hnsw = await loadHnsw()
  if (!hnsw) return { kind: 'none' }
  const { count, bytes } = countRows.get(order.model, order.owner) as { count: number; bytes: number | null }
  const dimensions = (bytes ?? 0) / 4
  if (count === 0 || dimensions === 0) return { kind: 'none' }
  const saved = await openSaved(hnsw, dimensions)
  let opened = saved?.opened ?? createGraph(hnsw, dimensions, count)
  let differs = bringUpToDate(opened, dimensions, saved ? order.changed : null)
  if (opened.labels.size * (1 - MOST_DEAD) > count) {
    opened = createGraph(hnsw, dimensions, count)
    differs = bringUpToDate(opened, dimensions, null)
  }
  const note = saved && !differs ? saved.note : await save(opened, dimensions)
  return { kind: 'made', path: join(order.folder, note.file), dimensions, count: note.count }
}

const report = await make().finally(() => db.close())
parentPort?.postMessage(report)
