import type { ModelKind } from './models.contract.ts'
import type { GgufHeader } from './shelf/gguf-header.ts'

/** How a model is run: contexts side by side, and tokens in each of them. */
export const SHAPE = {
  chat: { slots: 4, contextTokens: 8192, fewestTokens: 2048 },
  embedding: { slots: 1, contextTokens: 2048, fewestTokens: 512 },
} as const satisfies Record<ModelKind, object>

/** Buffers and the library itself, about. */
const FIXED_BYTES = 300_000_000
const RARE_ARCHITECTURE_KV_BYTES = 100_000
/** Gemma 3 keeps all of the context in every sixth layer and a window in the others. */
const WINDOWED = /^gemma-?3/
const FULL_SHARE = 1 / 6

export interface MemoryNeed {
  /** With the longest context Hearth uses. */
  usual: number
  /** With the shortest that is of use. */
  least: number
}

export interface ModelMeasures {
  sizeBytes: number
  /** What one token of context takes. */
  contextBytesPerToken: number
  contextTokens: number | null
}

/** What a model needs once it is loaded, about, in bytes. */
export function memoryNeed(kind: ModelKind, { sizeBytes, contextBytesPerToken, contextTokens }: ModelMeasures): MemoryNeed {
  const shape = SHAPE[kind]
  const need = (tokens: number) =>
    sizeBytes + FIXED_BYTES + contextBytesPerToken * shape.slots * Math.min(tokens, contextTokens ?? Number.POSITIVE_INFINITY)
  return { usual: Math.round(need(shape.contextTokens)), least: Math.round(need(shape.fewestTokens)) }
}

/** Bytes of keys and values (16 bits each) that one token of context takes, from what the header says of the layers. */
export function contextBytesPerToken({ architecture, blocks, dimensions, facts }: GgufHeader): number {
  const fact = (name: string) => {
    const value = facts.get(`${architecture}.${name}`)
    return typeof value === 'number' && value > 0 ? value : undefined
  }
  const heads = fact('attention.head_count')
  if (!blocks || !dimensions || !heads) return RARE_ARCHITECTURE_KV_BYTES
  const keyLength = fact('attention.key_length') ?? dimensions / heads
  const valueLength = fact('attention.value_length') ?? dimensions / heads
  const full = blocks * (fact('attention.head_count_kv') ?? heads) * (keyLength + valueLength) * 2
  const window = fact('attention.sliding_window')
  if (!window || !WINDOWED.test(architecture)) return full
  return full * (FULL_SHARE + (1 - FULL_SHARE) * Math.min(1, window / SHAPE.chat.contextTokens))
}
