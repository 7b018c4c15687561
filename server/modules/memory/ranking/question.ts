import type { Lexicon, LexiconWord } from './lexicon.ts'
import { isFunctionWord, trigramsOf, wordsOf } from './words.ts'

const MAX_CHARACTERS = 2_000
const MAX_TERMS = 24

/** A word that is asked for. */
export interface Term extends LexiconWord {
  /** For a word that has no vector, to find what is spelled alike. */
  trigrams: Set<string> | null
}

export interface Question {
  text: string
  terms: Term[]
  asksWhen: boolean
  asksHowMuch: boolean
}

/** Reads a question as plain text: operators, quotes and markup mean nothing; what is too long is cut. */
export function readQuestion(q: string, lexicon: Lexicon): Question {
  const text = q.slice(0, MAX_CHARACTERS).toWellFormed()
  const all = wordsOf(text)
  const telling = all.filter((word) => !isFunctionWord(word))
  const terms = new Map<string, Term>()
  for (const word of (telling.length > 0 ? telling : all).map(lexicon.look)) {
    if (terms.has(word.stem) || terms.size >= MAX_TERMS) continue
    terms.set(word.stem, { ...word, trigrams: word.rank < 0 && word.word.length > 3 ? new Set(trigramsOf(word.word)) : null })
  }
  return {
    text,
    terms: [...terms.values()],
    asksWhen: /\bwhen\b|\b(what|which) (date|day|month|year|time)\b|\bhow long ago\b/i.test(text),
    asksHowMuch: /\bhow (long|many|much|old|often|far|big|tall|late)\b/i.test(text),
  }
}
