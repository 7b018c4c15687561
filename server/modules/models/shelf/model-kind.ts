import type { ModelKind } from '../models.contract.ts'
import type { GgufHeader } from './gguf-header.ts'

/** Architectures that only ever turn text into vectors. */
const ENCODERS = /^(bert|nomic-bert|jina-bert|neo-bert|modern-bert|eurobert|gemma-embedding|t5encoder)/
/** Values of `pooling_type` that make one vector of a text: mean, first token, last token. */
const POOLINGS = [1, 2, 3]

/** What a model is good for: one that pools its output into a vector does not speak. */
export function modelKind({ architecture, facts }: GgufHeader): ModelKind {
  const pooling = facts.get(`${architecture}.pooling_type`)
  return ENCODERS.test(architecture) || (typeof pooling === 'number' && POOLINGS.includes(pooling)) ? 'embedding' : 'chat'
}
