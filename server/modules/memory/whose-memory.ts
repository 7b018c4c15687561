import type { Person } from '../household/household.contract.ts'
import type { Chunk } from './memory.contract.ts'
import { stem } from './ranking/stem.ts'
import { wordsOf } from './ranking/words.ts'

const POSSESSIVE = /(^|[^\p{L}])(my|mine|mein\p{L}{0,2})([^\p{L}]|$)/iu
const MAX_TEXT = 4_000
/** Stands for whoever speaks where nobody knows who that is: not even the one who spoke before is the same. */
const SOMEBODY = 'somebody'
const NOBODY = 'nobody'

export interface Whose {
  /** Who is asked about, by name or as “my”; empty where nobody is. */
  askedIn(question: string, personId: string | null): Set<string>
  /** Whether it may be about those who are asked about: what says that it is another’s is not. */
  isOf(asked: ReadonlySet<string>, chunk: Pick<Chunk, 'content' | 'personId'>): boolean
  /** The words of a question but for the names in it. */
  withoutNames(question: string): string
}

/** Tells whose something is, by the names of a household. */
export function whoseMemory(persons: readonly Person[]): Whose {
  const called = persons.flatMap(({ id, displayName, aliases }) =>
    [displayName, ...aliases]
      .map((name) => ({ id, plain: wordsOf(name).join(' '), words: wordsOf(name).map(stem) }))
      .filter(({ words }) => words.length > 0),
  )

  /** Where each name stands in a text, as numbers of words. */
  function namesIn(text: string): { id: string; from: number; to: number }[] {
    const said = wordsOf(text.slice(0, MAX_TEXT)).map(stem)
    return called.flatMap(({ id, words }) =>
      said.flatMap((_, from) => (words.every((word, at) => said[from + at] === word) ? [{ id, from, to: from + words.length }] : [])),
    )
  }

  /** Of whom it says that something is theirs: “Ben’s”, “Thomas’”, “bens”, but not “Thomas”. */
  function ownersIn(text: string): string[] {
    const raw = text.slice(0, MAX_TEXT).match(/[\p{L}\p{M}\p{N}]+(?:['’]\p{L}*)?/gu) ?? []
    const owning = raw.filter((word) => /['’]s$|s['’]$/iu.test(word)).join(' ; ')
    const bare = new Set(raw.filter((word) => /[^'’]s$/iu.test(word)).map((word) => wordsOf(word.slice(0, -1)).join(' ')))
    return [...namesIn(owning), ...called.filter(({ plain }) => bare.has(plain))].map(({ id }) => id)
  }

  return {
    askedIn(question, personId) {
      const named = namesIn(question).map(({ id }) => id)
      return new Set(POSSESSIVE.test(question) ? [...named, personId ?? SOMEBODY] : named)
    },
    isOf(asked, { content, personId }) {
      const owners = [...ownersIn(content), ...(POSSESSIVE.test(content) ? [personId ?? NOBODY] : [])]
      return asked.size === 0 || owners.length === 0 || owners.some((owner) => asked.has(owner))
    },
    withoutNames(question) {
      const words = wordsOf(question.slice(0, MAX_TEXT))
      const names = namesIn(question)
      return words.filter((_, at) => !names.some(({ from, to }) => at >= from && at < to)).join(' ')
    },
  }
}
