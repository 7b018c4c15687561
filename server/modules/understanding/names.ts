import { distance } from 'fastest-levenshtein'
import { fold } from './tokens.ts'

export interface Named {
  id?: string
  name: string
  aliases?: readonly string[]
}

export interface NameIndex<Entry extends Named> {
  /** The entry of this name, or the only one whose name is nearly this. */
  find(words: readonly string[]): Entry | null
  /** How many words the longest name has. */
  longest: number
}

const WORDS = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu
const MOST_FUZZY = 2_000

/** Without possessive and plural, so that `Anna’s`, `Annas` and `Anna` are one. */
const stem = (word: string) => {
  const bare = word.replace(/'s?$/, '')
  return bare.length > 3 ? bare.replace(/(?<!s)s$/, '') : bare
}
const split = (name: string) => [...name.matchAll(WORDS)].map(([word]) => fold(word))

/** How many letters may be wrong in a name of this length. */
const slack = (length: number) => (length < 5 ? 0 : length < 9 ? 1 : 2)

/** Names of things of the house, found by what was heard or typed; `leaveOut` are words at either end that name nothing, such as `the`. */
export function createNameIndex<Entry extends Named>(entries: readonly Entry[], leaveOut: ReadonlySet<string>): NameIndex<Entry> {
  const byKey = new Map<string, Entry>()
  let longest = 0
  const keyOf = (words: readonly string[]) => {
    let [from, to] = [0, words.length]
    while (from < to - 1 && leaveOut.has(words[from] as string)) from++
    while (from < to - 1 && leaveOut.has(words[to - 1] as string)) to--
    return words.slice(from, to).map(stem).join('')
  }
  for (const entry of entries) {
    for (const name of [entry.name, ...(entry.aliases ?? [])]) {
      const words = split(name)
      longest = Math.max(longest, words.length)
      const key = keyOf(words)
      if (key && !byKey.has(key)) byKey.set(key, entry)
    }
  }
  const keys = [...byKey.keys()].slice(0, MOST_FUZZY)

  return {
    longest,
    find(words) {
      const key = keyOf(words)
      const exact = byKey.get(key)
      if (exact || !key) return exact ?? null
      const most = slack(key.length)
      if (most === 0) return null
      let best: { entry: Entry; far: number } | null = null
      for (const other of keys) {
        if (Math.abs(other.length - key.length) > most || (other[0] !== key[0] && other[1] !== key[1])) continue
        const far = distance(key, other)
        const entry = byKey.get(other) as Entry
        if (far > most || far > slack(other.length)) continue
        if (best && best.far === far && best.entry !== entry) return null
        if (!best || far < best.far) best = { entry, far }
      }
      return best?.entry ?? null
    },
  }
}
