import type { Lexicon, LexiconWord } from './lexicon.ts'
import { wordsOf } from './words.ts'

const SPEAKER = /^\s*((?:\p{Lu}|\p{Lo})[\p{L}\p{M}\p{N}.'’ -]{0,40}?)\s*:\s+/u
const ASKS = /[?？؟]["'”’)\s\p{Extended_Pictographic}]*$/u

/** Text that is read word for word; of what follows only the surroundings of the words asked for. */
const READ_CHARACTERS = 2_000
const SURROUNDINGS = 200

/** A chunk's text as the ranking sees it. */
export interface Passage {
  words: LexiconWord[]
  /** The words of the name before a leading colon. */
  speaker: string[]
  isQuestion: boolean
}

/** Cuts a long text to its beginning and the places where the words asked for stand. */
function cut(text: string, stems: readonly string[]): string {
  if (text.length <= READ_CHARACTERS) return text
  const rest = text.slice(READ_CHARACTERS)
  const small = rest.toLowerCase()
  const places = stems
    .map((stem) => small.indexOf(stem))
    .filter((at) => at >= 0)
    .map((at) => rest.slice(Math.max(0, at - SURROUNDINGS), at + SURROUNDINGS))
  return [text.slice(0, READ_CHARACTERS), ...places].join(' ')
}

/** Reads a chunk's text with regard to the stems that are asked for. */
export function readPassage(content: string, stems: readonly string[], lexicon: Lexicon): Passage {
  const speaker = SPEAKER.exec(content)
  const text = cut(speaker ? content.slice(speaker[0].length) : content, stems)
  return {
    words: wordsOf(text).map((word) => lexicon.look(word)),
    speaker: speaker?.[1] ? wordsOf(speaker[1]) : [],
    isQuestion: ASKS.test(text.slice(-20)),
  }
}

/** True for a text whose reading is the same whatever is asked. */
export const isShort = (content: string): boolean => content.length <= READ_CHARACTERS
