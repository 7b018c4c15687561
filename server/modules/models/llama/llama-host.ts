import { readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { AppError } from '../../../kit/errors.ts'
import { explainLoadFault } from '../shelf/load-faults.ts'
import { type EmbeddingEngine, loadEmbeddingEngine } from './embedding-engine.ts'
import { type LlamaEngine, loadLlamaEngine } from './llama-engine.ts'
import { openLlama } from './llama-load.ts'
import { type EmbedOrder, type GenerateOrder, type HostNews, HostOrder } from './llama-protocol.ts'

/**
 * The process that holds an embedded model, one that speaks or one that makes vectors: native code that aborts takes this one down and
 * not the server. It is started by llama-child.ts, loads one model or describes the machine, and ends with its parent's channel.
 */

/** A little behind the server, which must answer while a reply is generated; without a competitor it costs nothing. */
const NICENESS = 3
const LOG_LINES = 20

const logTail: string[] = []
const log = (line: string) => {
  logTail.push(line.trim())
  if (logTail.length > LOG_LINES) logTail.shift()
  process.stderr.write(`${line.trim()}\n`)
}

interface Running {
  abort: AbortController
  results: Map<number, (result: unknown) => void>
}

const running = new Map<string, Running>()
let engine: LlamaEngine | undefined
let embedder: EmbeddingEngine | undefined

const tell = (news: HostNews) => {
  if (process.connected) process.send?.(news)
}

function offerOneself(): void {
  try {
    // where memory runs out, this process is the one to end
    if (process.platform === 'linux') writeFileSync('/proc/self/oom_score_adj', '800')
  } catch (error) {
    log(`oom_score_adj: ${String(error)}`)
  }
}

/** After loading, which is over sooner this way. */
function standBack(): void {
  // on Linux a thread has its own priority and hands it to those it starts later
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid]
  for (const thread of threads) setPriority(thread, NICENESS)
}

async function load(work: () => Promise<HostNews>): Promise<void> {
  try {
    const loaded = await work()
    standBack()
    tell(loaded)
  } catch (error) {
    // the native log arrives through the event loop, after the error
    await new Promise((resolve) => setTimeout(resolve, 50))
    const cause = [String(error), ...logTail].join('\n')
    tell({ type: 'load-failed', reason: explainLoadFault(cause), cause })
  }
}

async function describe(): Promise<HostNews> {
  const llama = await openLlama('auto', log)
  if (llama.gpu === false) return { type: 'described', gpu: null, gpuBytes: null }
  const [[name], { total }] = await Promise.all([llama.getGpuDeviceNames(), llama.getVramState()])
  return { type: 'described', gpu: name ?? llama.gpu, gpuBytes: total }
}

async function embed({ id, texts }: EmbedOrder): Promise<void> {
  const entry: Running = { abort: new AbortController(), results: new Map() }
  running.set(id, entry)
  try {
    if (!embedder) throw new Error('No embedding model is loaded')
    tell({ type: 'vectors', id, vectors: await embedder.embed(texts, entry.abort.signal) })
  } catch (error) {
    tell({ type: 'failed', id, code: 'internal', message: error instanceof Error ? error.message : String(error) })
  } finally {
    running.delete(id)
  }
}

async function generate(order: GenerateOrder): Promise<void> {
  const { id } = order
  const entry: Running = { abort: new AbortController(), results: new Map() }
  running.set(id, entry)
  let calls = 0
  try {
    if (!engine) throw new Error('No model is loaded')
    const done = await engine.generate(order, {
      signal: entry.abort.signal,
      onText: (text) => tell({ type: 'text', id, text }),
      call: (name, params) => {
        const callId = ++calls
        tell({ type: 'call', id, callId, name, params })
        return new Promise((resolve) => entry.results.set(callId, resolve))
      },
    })
    tell({ type: 'done', id, ...done })
  } catch (error) {
    const code = error instanceof AppError && error.code === 'too_large' ? 'too_large' : 'internal'
    tell({ type: 'failed', id, code, message: error instanceof Error ? error.message : String(error) })
  } finally {
    running.delete(id)
  }
}

function obey(order: HostOrder): void {
  if (order.type === 'load')
    void load(async () => {
      engine = await loadLlamaEngine(order, log)
      return { type: 'loaded', contextTokens: engine.contextTokens }
    })
  else if (order.type === 'load-embedder')
    void load(async () => {
      embedder = await loadEmbeddingEngine(order, log)
      return { type: 'embedder-loaded', contextTokens: embedder.contextTokens, dimensions: embedder.dimensions }
    })
  else if (order.type === 'describe') void load(describe)
  else if (order.type === 'generate') void generate(order)
  else if (order.type === 'embed') void embed(order)
  else if (order.type === 'cancel') running.get(order.id)?.abort.abort()
  else running.get(order.id)?.results.get(order.callId)?.(order.result)
}

offerOneself()
// at once, since an orderly exit runs native destructors that may wait for work on its way
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', (message) => obey(HostOrder.parse(message)))
