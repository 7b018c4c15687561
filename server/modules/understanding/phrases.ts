import { tokenize } from './tokens.ts'

/** Finds the longest phrase that begins at a word. */
export interface Phrases<Value> {
  at(words: readonly string[], from: number): { end: number; value: Value } | null
  /** The longest phrase that ends right before `to`. */
  before(words: readonly string[], to: number): { start: number; value: Value } | null
}

const NO_EXPANSIONS: ReadonlyMap<string, readonly string[]> = new Map()

/** The words of a phrase as sentences are split into them. */
export const wordsOf = (phrase: string, expansions = NO_EXPANSIONS): string[] => tokenize(phrase, expansions).tokens.map(({ word }) => word)

/** Phrases of one or more words, looked up by their words. */
export function createPhrases<Value>(entries: Iterable<readonly [string, Value]>, expansions = NO_EXPANSIONS): Phrases<Value> {
  const known = new Map<string, Value>()
  let longest = 0
  for (const [phrase, value] of entries) {
    const words = wordsOf(phrase, expansions)
    longest = Math.max(longest, words.length)
    known.set(words.join(' '), value)
  }
  const look = (words: readonly string[], from: number, to: number) => known.get(words.slice(from, to).join(' '))
  return {
    at(words, from) {
      for (let end = Math.min(words.length, from + longest); end > from; end--) {
        const value = look(words, from, end)
        if (value !== undefined) return { end, value }
      }
      return null
    },
    before(words, to) {
      for (let start = Math.max(0, to - longest); start < to; start++) {
        const value = look(words, start, to)
        if (value !== undefined) return { start, value }
      }
      return null
    },
  }
}

/** The same for phrases that all mean the same. */
export const createPhraseSet = (phrases: readonly string[], expansions = NO_EXPANSIONS): Phrases<true> =>
  createPhrases(
    phrases.map((phrase) => [phrase, true] as const),
    expansions,
  )
