import { randomUUID } from 'node:crypto'
import type { Logger } from '../../../kit/log.ts'
import { startLlamaChild } from '../llama/llama-child.ts'
import type { HostNews } from '../llama/llama-protocol.ts'
import type { LlamaRuntime } from '../llama/llama-runner.ts'
import { SHAPE } from '../memory-need.ts'
import { CRASHED_LOADING, OUT_OF_MEMORY } from '../shelf/load-faults.ts'
import type { ModelFile } from '../shelf/model-files.ts'

/** The model did not load; the message says why in plain words. */
export class LoadFault extends Error {}
/** The process ended while it worked. */
export class ProcessLost extends Error {}

/** One run of a model process that makes vectors. */
export interface EmbedderProcess {
  readonly pid: number | undefined
  /** How long its vectors are; rejects with {@link LoadFault}. */
  readonly loaded: Promise<number>
  /** As many texts as the protocol allows at once; those not begun when the signal aborts are left out. Rejects with {@link ProcessLost}. */
  embed(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]>
  kill(): void
  readonly exited: Promise<unknown>
}

/** A batch that takes longer is stuck in native code. */
const STUCK_MS = 300_000

type Answer = Extract<HostNews, { type: 'vectors' | 'failed' }>

/** A copy, since bytes of the pool need not lie on a float's border. */
const decoded = (vector: string) => new Float32Array(Uint8Array.from(Buffer.from(vector, 'base64')).buffer)

/** Starts a process and has it load `file`. */
export function startEmbedderProcess(file: ModelFile, runtime: LlamaRuntime, log: Logger): EmbedderProcess {
  const { promise: loaded, resolve, reject } = Promise.withResolvers<number>()
  const waiting = new Map<string, PromiseWithResolvers<Answer>>()
  // whoever waits for it hears of it; where nobody does, the exit is enough
  loaded.catch(() => undefined)

  const child = startLlamaChild(log, (news) => {
    if (news.type === 'embedder-loaded') resolve(news.dimensions)
    else if (news.type === 'load-failed') {
      log.error({ model: file.name, cause: news.cause }, news.reason)
      reject(new LoadFault(news.reason))
      child.kill()
    } else if (news.type === 'vectors' || news.type === 'failed') waiting.get(news.id)?.resolve(news)
  })
  void child.exited.then((signal) => {
    // nobody else kills it but a system that needs its memory
    reject(new LoadFault(signal === 'SIGKILL' ? OUT_OF_MEMORY : CRASHED_LOADING))
    for (const answer of waiting.values()) answer.reject(new ProcessLost('The embedding model stopped unexpectedly.'))
  })
  child.send({
    type: 'load-embedder',
    path: file.path,
    gpu: runtime.gpu,
    threads: runtime.threads ?? null,
    contextTokens: SHAPE.embedding.contextTokens,
  })

  return {
    pid: child.pid,
    loaded,
    kill: child.kill,
    exited: child.exited,
    async embed(texts, signal) {
      const id = randomUUID()
      const answer = Promise.withResolvers<Answer>()
      const cancel = () => child.send({ type: 'cancel', id })
      const stuck = setTimeout(child.kill, STUCK_MS)
      waiting.set(id, answer)
      signal?.addEventListener('abort', cancel, { once: true })
      try {
        child.send({ type: 'embed', id, texts: [...texts] })
        const news = await answer.promise
        if (news.type === 'failed') throw new Error(`the embedding model failed: ${news.message}`)
        return news.vectors.map(decoded)
      } finally {
        clearTimeout(stuck)
        waiting.delete(id)
        signal?.removeEventListener('abort', cancel)
      }
    },
  }
}
