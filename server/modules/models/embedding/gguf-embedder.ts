import type { Logger } from '../../../kit/log.ts'
import type { Embedder } from '../../memory/embedder.ts'
import { TEXTS_AT_ONCE } from '../llama/llama-protocol.ts'
import { modelUnavailable } from '../llama/llama-reply.ts'
import type { LlamaRuntime } from '../llama/llama-runner.ts'
import type { ShelvedModel } from '../shelf/model-shelf.ts'
import { type EmbedderProcess, LoadFault, ProcessLost, startEmbedderProcess } from './embedder-process.ts'
import { prefixesFor } from './embedding-prefixes.ts'

interface GgufEmbedderDeps {
  model: ShelvedModel
  runtime: LlamaRuntime
  log: Logger
  /** Told once, when the model will not load. */
  onFault?(reason: string): void
  /** How long its process stays without work; ten minutes unless stated. */
  idleMs?: number
}

/**
 * An embedding model in a process of its own, which starts with the first text and ends when there was none for a while. Questions go
 * before passages that wait; 503 `model_unavailable` where it does not load.
 */
export interface GgufEmbedder extends Embedder {
  /** Loads it; rejects with 503 and the reason where that fails. */
  ready(): Promise<void>
  state(): { status: 'idle' | 'loading' | 'loaded' | 'error'; detail?: string }
  /** Of its process, while there is one. */
  pid(): number | undefined
  /** For good: later texts are refused. */
  stop(): Promise<void>
}

const IDLE_MS = 600_000
/** One text may make the process end; the one after it should not suffer, but a model that only crashes is of no use. */
const MOST_CRASHES = 3
const CHARS_AT_ONCE = 4_000
const SWITCHED_OFF = 'The embedding model was switched off.'
const CRASHES = 'The embedding model stops again and again.'

interface Batch {
  texts: string[]
  signal: AbortSignal | undefined
  result: PromiseWithResolvers<Float32Array[]>
}

/** Few enough texts, and short enough together, that a question behind them is answered soon. */
function* batchesOf(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = []
  let chars = 0
  for (const text of texts) {
    if (batch.length > 0 && (batch.length === TEXTS_AT_ONCE || chars + text.length > CHARS_AT_ONCE)) {
      yield batch
      batch = []
      chars = 0
    }
    batch.push(text)
    chars += text.length
  }
  if (batch.length > 0) yield batch
}

/** Makes an embedder of a GGUF file; nothing is loaded before the first text. */
export function createGgufEmbedder({ model, runtime, log, onFault, idleMs = IDLE_MS }: GgufEmbedderDeps): GgufEmbedder {
  const { file, header } = model
  const prefixes = prefixesFor(file.name, header?.title ?? null)
  const waiting: Record<'query' | 'passage', Batch[]> = { query: [], passage: [] }
  /** As the header says, until the model is loaded. */
  let dimensions = header?.dimensions ?? 0
  let current: EmbedderProcess | undefined
  let isLoaded = false
  let fault: string | null = null
  let stopped = false
  let crashes = 0
  let working = false
  let idle: NodeJS.Timeout | undefined

  const giveUp = (reason: string) => {
    if (fault !== null || stopped) return
    fault = reason
    onFault?.(reason)
  }

  /** The loaded process, started where there is none. */
  const open = async (): Promise<EmbedderProcess> => {
    if (stopped || fault !== null) throw modelUnavailable(fault ?? SWITCHED_OFF)
    if (!current) {
      const own = startEmbedderProcess(file, runtime, log)
      current = own
      void own.exited.then(() => {
        if (current !== own) return
        current = undefined
        isLoaded = false
      })
    }
    const own = current
    try {
      dimensions = await own.loaded
      if (current === own) isLoaded = true
      return own
    } catch (error) {
      if (stopped) throw modelUnavailable(SWITCHED_OFF)
      if (error instanceof LoadFault) giveUp(error.message)
      throw modelUnavailable(fault ?? SWITCHED_OFF)
    }
  }

  const run = async (batch: Batch): Promise<Float32Array[]> => {
    for (;;) {
      batch.signal?.throwIfAborted()
      const own = await open()
      try {
        const vectors = await own.embed(batch.texts, batch.signal)
        crashes = 0
        batch.signal?.throwIfAborted()
        return vectors
      } catch (error) {
        if (!(error instanceof ProcessLost)) throw error
        if (stopped) throw modelUnavailable(SWITCHED_OFF)
        log.error({ model: file.name }, error.message)
        if (++crashes >= MOST_CRASHES) giveUp(CRASHES)
      }
    }
  }

  const restLater = () => {
    idle = setTimeout(() => current?.kill(), idleMs)
    idle.unref()
  }

  const work = async () => {
    if (working) return
    working = true
    clearTimeout(idle)
    for (let batch = next(); batch; batch = next()) await run(batch).then(batch.result.resolve, batch.result.reject)
    working = false
    restLater()
  }

  const next = () => waiting.query.shift() ?? waiting.passage.shift()

  const ask = (texts: string[], kind: 'passage' | 'query', signal: AbortSignal | undefined): Promise<Float32Array[]> => {
    const batch: Batch = { texts, signal, result: Promise.withResolvers() }
    waiting[kind].push(batch)
    void work()
    return batch.result.promise
  }

  return {
    name: file.name,
    get dimensions() {
      return dimensions
    },
    async embed(texts, kind, signal) {
      signal?.throwIfAborted()
      // a text without anything in it has no direction
      const prepared = texts.map((text) => prefixes[kind] + (text.trim() === '' ? '-' : text.toWellFormed()))
      const vectors: Float32Array[] = []
      for (const batch of batchesOf(prepared)) vectors.push(...(await ask(batch, kind, signal)))
      return vectors
    },
    async ready() {
      await open()
      if (!working) restLater()
    },
    state() {
      if (fault !== null) return { status: 'error', detail: fault }
      return { status: current ? (isLoaded ? 'loaded' : 'loading') : 'idle' }
    },
    pid: () => current?.pid,
    async stop() {
      stopped = true
      clearTimeout(idle)
      const last = current
      last?.kill()
      await last?.exited
    },
  }
}
