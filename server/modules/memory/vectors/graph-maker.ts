import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type HnswGraph, loadHnsw } from './hnsw-library.ts'

/** What a graph is to be made of. */
export interface GraphOrder {
  databasePath: string
  /** Where graphs are kept. */
  folder: string
  model: string
  owner: string | null
  /** What changed since the saved graph was made; null to compare all of it with the database. */
  changed: number[] | null
}

export type GraphReport = { kind: 'made'; path: string; dimensions: number; count: number } | { kind: 'none' }

// bundled, it lies beside this file under its built name
const WORKER = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './graph-worker.ts' : './graph-worker.js', import.meta.url))

function inWorker(order: GraphOrder, signal: AbortSignal): Promise<GraphReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, { workerData: order, execArgv: [], env: {} })
    const stop = () => void worker.terminate()
    signal.addEventListener('abort', stop, { once: true })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => {
      signal.removeEventListener('abort', stop)
      reject(signal.reason ?? new Error('The worker that makes the search index ended without one'))
    })
  })
}

/**
 * Makes the graph of an owner’s vectors in a thread of its own, from what was saved of it and what the database holds, saves it and reads it
 * in here, off the loop. Null where nothing is to be made of, or the library is not there.
 */
export async function makeGraph(order: GraphOrder, signal: AbortSignal): Promise<HnswGraph | null> {
  signal.throwIfAborted()
  const report = await inWorker(order, signal)
  if (report.kind !== 'made') return null
  const hnsw = await loadHnsw()
  if (!hnsw) return null
  const graph = new hnsw.HierarchicalNSW('ip', report.dimensions)
  await graph.readIndex(report.path)
  signal.throwIfAborted()
  return graph
}

/**
 * Frees a graph that is searched no more. Left to the garbage collector a large one would hold up the loop; the library frees it in a thread
 * of its own where another, here an empty one, is read in its place.
 */
export async function releaseGraph(graph: HnswGraph, folder: string): Promise<void> {
  const hnsw = await loadHnsw()
  if (!hnsw) return
  const empty = new hnsw.HierarchicalNSW('ip', graph.getNumDimensions())
  empty.initIndex(1)
  const path = join(folder, `${randomUUID()}.part`)
  try {
    await empty.writeIndex(path)
    await graph.readIndex(path)
  } finally {
    await rm(path, { force: true })
  }
}
