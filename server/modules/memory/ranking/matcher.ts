import type { LexiconWord } from './lexicon.ts'
import type { Passage } from './passage.ts'
import type { Term } from './question.ts'
import type { WordVectors } from './word-vectors.ts'
import { isCharacter, isFunctionWord, trigramsOf } from './words.ts'

/** Words of a usual chunk; longer texts hold a word more easily by chance. */
const USUAL_WORDS = 25
const LONG_WORDS = 100

/** How near a word in meaning must be to count, and for how much of the word itself it may count. */
const NEAR = 0.45
const NEAR_WORTH = 0.6
const EXACT = 2

const DIGIT = /\d/

function likeness(a: Set<string>, other: string): number {
  const b = new Set(trigramsOf(other))
  let shared = 0
  for (const trigram of b) if (a.has(trigram)) shared++
  return (2 * shared) / (a.size + b.size)
}

/**
 * Matches passages against the terms of one question: how well each is met, 1 for the word itself once in a usual chunk. What it
 * learns of a word it keeps for the next passage.
 */
export function createMatcher(terms: readonly Term[], vectors: WordVectors): (passage: Passage) => Float32Array {
  const nearness = new Map<LexiconWord, Float32Array | null>()
  const isNumber = terms.map(({ word }) => DIGIT.test(word))
  const isInside = terms.map(({ word }) => isCharacter(word))

  function compare({ word, stem, rank }: LexiconWord): Float32Array | null {
    const values = new Float32Array(terms.length)
    const vague = isFunctionWord(word) || DIGIT.test(word)
    terms.forEach((term, at) => {
      if (term.stem === stem || (isInside[at] && word.includes(term.word))) values[at] = EXACT
      else if (!vague && !isNumber[at]) {
        const near = term.trigrams ? likeness(term.trigrams, word) : term.rank >= 0 && rank >= 0 ? vectors.similarity(term.rank, rank) : 0
        values[at] = Math.max(0, (NEAR_WORTH * (near - NEAR)) / (1 - NEAR))
      }
    })
    return values.some((value) => value > 0) ? values : null
  }

  return ({ words }) => {
    const counts = new Uint16Array(terms.length)
    const met = new Float32Array(terms.length)
    for (const word of words) {
      let near = nearness.get(word)
      if (near === undefined) {
        near = compare(word)
        nearness.set(word, near)
      }
      if (near === null) continue
      for (let at = 0; at < near.length; at++) {
        const value = near[at] as number
        if (value === EXACT) counts[at] = (counts[at] as number) + 1
        else if (value > (met[at] as number)) met[at] = value
      }
    }
    const length = Math.min(words.length, LONG_WORDS) / USUAL_WORDS
    const damping = words.length > LONG_WORDS ? 1 / (1 + 0.15 * Math.log2(words.length / LONG_WORDS)) : 1
    for (let at = 0; at < terms.length; at++) {
      const count = counts[at] as number
      const exact = count > 0 ? Math.min(1.6, (count * 2.2) / (count + 1.2 * (0.7 + 0.3 * length))) : 0
      met[at] = Math.max(exact, met[at] as number) * damping
    }
    return met
  }
}
