import { stem } from './stem.ts'
import { type WordVectors, wordVectorsOrNone } from './word-vectors.ts'

const MAX_WORDS = 30_000
const SAYS_WHEN =
  /^(yesterday|today|tonight|tomorrow|last|next|ago|recently|just|(week|weekend|month|year|morning|night|summer|winter|spring|autumn)s?|(mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|(19|20)\d\d)$/
const SAYS_HOW_MUCH =
  /^(\d+|one|two|three|four|five|six|seven|eight|nine|ten|couple|few|several|dozen|once|twice|(year|month|week|day|hour|minute)s?)$/

/** A word as it is known to the ranking; the same word is the same object until the lexicon is renewed. */
export interface LexiconWord {
  word: string
  stem: string
  /** Rank among the word vectors, -1 for an unknown word. */
  rank: number
  saysWhen: boolean
  saysHowMuch: boolean
}

export interface Lexicon {
  vectors: WordVectors
  look(word: string): LexiconWord
}

/** Remembers what was found out about words, for as many as a household uses; beyond that it begins anew. */
function createLexicon(vectors: WordVectors): Lexicon {
  const words = new Map<string, LexiconWord>()
  return {
    vectors,
    look(word) {
      const known = words.get(word)
      if (known) return known
      if (words.size >= MAX_WORDS) words.clear()
      const found = {
        word,
        stem: stem(word),
        rank: vectors.find(word),
        saysWhen: SAYS_WHEN.test(word),
        saysHowMuch: SAYS_HOW_MUCH.test(word),
      }
      words.set(word, found)
      return found
    },
  }
}

const lexicons = new WeakMap<WordVectors, Lexicon>()

/** The lexicon over the word vectors of the resources, or over none where they cannot be read; one for all who look words up. */
export async function loadLexicon(resourcesPath: string, onFault: (error: unknown) => void): Promise<Lexicon> {
  const vectors = await wordVectorsOrNone(resourcesPath, onFault)
  const lexicon = lexicons.get(vectors) ?? createLexicon(vectors)
  lexicons.set(vectors, lexicon)
  return lexicon
}
