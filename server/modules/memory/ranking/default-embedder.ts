import { createPace } from '../../../kit/pace.ts'
import type { Embedder } from '../embedder.ts'
import { loadWordVectors, type WordVectors, wordHashes } from './word-vectors.ts'
import { trigramsOf, wordsOf } from './words.ts'

const DIMENSIONS = 100
/** Of a long text the beginning stands for the whole. */
const MAX_CHARACTERS = 8_000
/** Words commoner than this share of running text say less than half of what a rare word says. */
const COMMON = 1e-3

/** Adds a direction that belongs to these three characters alone, so that words spelled alike lie close. */
function addTrigram(sum: Float32Array, trigram: string, weight: number): void {
  let [state] = wordHashes(trigram)
  state ||= 1
  for (let at = 0; at < DIMENSIONS; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    sum[at] = (sum[at] as number) + (state & 1 ? weight : -weight)
  }
}

function embedOne(text: string, vectors: WordVectors): Float32Array {
  const sum = new Float32Array(DIMENSIONS)
  const words = wordsOf(text.slice(0, MAX_CHARACTERS))
  for (const word of words) {
    const rank = vectors.find(word)
    const weight = COMMON / (COMMON + vectors.frequency(rank))
    if (rank >= 0) vectors.addTo(sum, rank, weight)
    else {
      const trigrams = trigramsOf(word)
      for (const trigram of trigrams) addTrigram(sum, trigram, weight / Math.sqrt(trigrams.length * DIMENSIONS))
    }
  }
  if (words.length === 0) addTrigram(sum, text.slice(0, 3), 1)
  const length = Math.hypot(...sum) || 1
  return sum.map((value) => value / length)
}

/** Embeds without any model: the mean of the words' vectors, rare words weighing more, unknown words by their spelling. */
export function createDefaultEmbedder(resourcesPath: string): Embedder {
  const pace = createPace()
  return {
    name: 'hearth-words-1',
    dimensions: DIMENSIONS,
    async embed(texts, _kind, signal) {
      const vectors = await loadWordVectors(resourcesPath)
      const embedded: Float32Array[] = []
      for (const text of texts) {
        signal?.throwIfAborted()
        await pace()
        embedded.push(embedOne(text, vectors))
      }
      return embedded
    },
  }
}
