import { stem } from './stem.ts'
import { loadWordVectors, type WordVectors } from './word-vectors.ts'

const MAX_WORDS = 30_000

/** A word as it is known to the ranking; the same word is the same object until the lexicon is renewed. */
export interface LexiconWord {
  word: string
  stem: string
  /** Rank among the word vectors, -1 for an unknown word. */
  rank: number
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
      const found = { word, stem: stem(word), rank: vectors.find(word) }
      words.set(word, found)
      return found
    },
  }
}

const lexicons = new WeakMap<WordVectors, Lexicon>()

/** The lexicon over the word vectors of the resources, one for all who look words up. */
export async function loadLexicon(resourcesPath: string): Promise<Lexicon> {
  const vectors = await loadWordVectors(resourcesPath)
  const lexicon = lexicons.get(vectors) ?? createLexicon(vectors)
  lexicons.set(vectors, lexicon)
  return lexicon
}
