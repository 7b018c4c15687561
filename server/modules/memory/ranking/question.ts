import { stem } from './stem.ts'
import type { WordVectors } from './word-vectors.ts'
import { isFunctionWord, trigramsOf, wordsOf } from './words.ts'

const MAX_CHARACTERS = 2_000
const MAX_TERMS = 24

/** A word that is asked for. */
export interface Term {
  word: string
  stem: string
  /** Rank among the word vectors, -1 for an unknown word. */
  rank: number
  /** For unknown words, to find what is spelled alike. */
  trigrams: Set<string> | null
}

export interface Question {
  text: string
  terms: Term[]
  asksWhen: boolean
  asksHowMuch: boolean
}

/** Reads a question as plain text: operators, quotes and markup mean nothing; what is too long is cut. */
export function readQuestion(q: string, vectors: WordVectors): Question {
  const text = q.slice(0, MAX_CHARACTERS).toWellFormed()
  const all = wordsOf(text)
  const telling = all.filter((word) => !isFunctionWord(word))
  const terms = new Map<string, Term>()
  for (const word of telling.length > 0 ? telling : all) {
    const key = stem(word)
    const rank = vectors.find(word)
    if (!terms.has(key) && terms.size < MAX_TERMS) {
      terms.set(key, { word, stem: key, rank, trigrams: rank < 0 && word.length > 3 ? new Set(trigramsOf(word)) : null })
    }
  }
  return {
    text,
    terms: [...terms.values()],
    asksWhen: /\bwhen\b|\b(what|which) (date|day|month|year|time)\b|\bhow long ago\b/i.test(text),
    asksHowMuch: /\bhow (long|many|much|old|often|far|big|tall|late)\b/i.test(text),
  }
}
