import type { LlamaEmbeddingContext, LlamaModel } from 'node-llama-cpp'
import { openLlama, threadsOf } from './llama-load.ts'
import type { LoadEmbedderOrder } from './llama-protocol.ts'

/** A loaded model that turns texts into vectors, one after the other. */
export interface EmbeddingEngine {
  contextTokens: number
  dimensions: number
  /** Unit vectors, each as base64 of its 32-bit floats; fewer than texts where the signal aborted. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<string[]>
}

/** More characters than this per token are not read: no tokenizer that is in use needs them to fill the context. */
const MOST_CHARS_PER_TOKEN = 16
/** What the model sets before and after a text, and one that must stay free. */
const SPARE_TOKENS = 4

function unit(vector: readonly number[]): Float32Array {
  const norm = Math.hypot(...vector)
  if (!(norm > 0) || !Number.isFinite(norm)) throw new Error('The model gave no usable vector')
  return Float32Array.from(vector, (value) => value / norm)
}

function createEngine(model: LlamaModel, context: LlamaEmbeddingContext, contextTokens: number): EmbeddingEngine {
  const room = contextTokens - SPARE_TOKENS
  const vectorOf = async (text: string) => {
    // as plain text: what looks like a control token is not one
    const tokens = model.tokenize(text.slice(0, room * MOST_CHARS_PER_TOKEN), false).slice(0, room)
    const { vector } = await context.getEmbeddingFor(tokens)
    return Buffer.from(unit(vector).buffer).toString('base64')
  }
  return {
    contextTokens,
    dimensions: model.embeddingVectorSize,
    async embed(texts, signal) {
      const vectors: string[] = []
      for (const text of texts) {
        if (signal.aborted) break
        vectors.push(await vectorOf(text))
      }
      return vectors
    },
  }
}

/** Loads the embedding model of a GGUF file; `onLog` receives the native library's warnings. */
export async function loadEmbeddingEngine(order: LoadEmbedderOrder, onLog: (line: string) => void): Promise<EmbeddingEngine> {
  const llama = await openLlama(order.gpu, onLog)
  const model = await llama.loadModel({ modelPath: order.path })
  const contextTokens = Math.min(order.contextTokens, model.trainContextSize)
  // encoders look at a text whole, so it must fit into one batch
  const context = await model.createEmbeddingContext({
    contextSize: contextTokens,
    batchSize: contextTokens,
    threads: threadsOf(llama, order.threads),
  })
  return createEngine(model, context, contextTokens)
}
