import { stem } from './ranking/stem.ts'
import { isCharacter, isFunctionWord, wordsOf } from './ranking/words.ts'

const MAX_TEXT = 4_000
const MAX_WORDS = 24

/** Words by which something is asked for, that say nothing of what it is. */
const ASKING = new Set(
  `tell told say said know knew known remember remembered remind recall please hey hello ok okay again now got get about there any
  anything something wheres whos whats whens hows ich du er sie es wir ihr der die das den dem des ein eine einen einem einer und oder aber ist sind war waren bin
  hat haben habe was wer wo wann wie warum welche welcher welches wogegen wofur womit worauf woran wovon mein meine meinen meiner dein deine unser unsere von vom zu zum zur
  mit bei auf im in am an für nicht bitte sag sage weisst weist kennst noch mal`.split(/\s+/),
)

/** Words as FTS5 takes them: each quoted, so that nothing in a text is an operator. */
const quoted = (text: string): string[] =>
  (
    text
      .slice(0, MAX_TEXT)
      .toWellFormed()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  )
    .slice(0, MAX_WORDS)
    .map((word) => `"${word}"`)

/** A full-text query for all words of a text; null where it has none. */
export const allWords = (text: string): string | null => quoted(text).join(' ') || null

export interface TypedQueries {
  /** The strictest first, the last with the last word perhaps only begun. */
  queries: string[]
  /** Without the words by which something is asked for, where nothing else finds anything; null where it has none. */
  lastResort: string | null
}

/** Full-text queries for a text that somebody types or asks. */
export function typedWords(text: string): TypedQueries {
  const all = quoted(text)
  const without = (words: string[], isSaid: (word: string) => boolean) => {
    const rest = words.filter((word) => !isSaid(word.slice(1, -1).toLowerCase()))
    return rest.length > 0 ? rest : words
  }
  const telling = without(all, isFunctionWord)
  const begun = (words: string[]) => (words.length > 0 ? `${words.join(' ')} *` : '')
  const queries = [...new Set([all.join(' '), telling.join(' '), begun(telling)])].filter((query) => query !== '')
  return { queries, lastResort: begun(without(telling, (word) => ASKING.has(word))) || null }
}

const SIGN = /\p{RI}{2}|\p{Extended_Pictographic}|\p{So}/gu
const MAX_SIGNS = 8

/** The emoji and other signs of a text, of which a full-text index knows nothing. */
export const signsOf = (text: string): string[] => [...new Set(text.slice(0, MAX_TEXT).toWellFormed().match(SIGN))].slice(0, MAX_SIGNS)
/** A full-text query for the telling ones among its words; null where it has none. */
export function anyWord(text: string): string | null {
  const telling = wordsOf(text.slice(0, MAX_TEXT)).filter((word) => !isFunctionWord(word) && !ASKING.has(word))
  return quoted(telling.join(' ')).join(' OR ') || null
}

/** The stems of the words that say what a text is about. */
export function tellingStems(text: string): Set<string> {
  const words = wordsOf(text.slice(0, MAX_TEXT)).filter((word) => !isFunctionWord(word) && !ASKING.has(word))
  return new Set(words.map(stem))
}

/** Which share of what is asked about stands in a text, from 0 to 1. */
export function shareMet(asked: ReadonlySet<string>, text: string): number {
  if (asked.size === 0) return 0
  const cut = text.slice(0, MAX_TEXT)
  const has = new Set(wordsOf(cut).map(stem))
  return [...asked].filter((word) => has.has(word) || (isCharacter(word) && cut.includes(word))).length / asked.size
}
