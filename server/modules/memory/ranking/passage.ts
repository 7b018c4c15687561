import type { Question, Term } from './question.ts'
import { stem } from './stem.ts'
import type { WordVectors } from './word-vectors.ts'
import { trigramsOf, wordsOf } from './words.ts'

const SPEAKER = /^\s*((?:\p{Lu}|\p{Lo})[\p{L}\p{M}\p{N}.'’ -]{0,40}?)\s*:\s+/u
const ASKS = /[?？؟]["'”’)\s\p{Extended_Pictographic}]*$/u
const TIME_WORDS =
  /\b(yesterday|today|tonight|tomorrow|last|next|ago|recently|just|(?:week|weekend|month|year|morning|night|summer|winter|spring|autumn)s?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|(?:19|20)\d\d)\b/gi
const AMOUNTS =
  /\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|couple|few|several|dozen|once|twice|(?:year|month|week|day|hour|minute)s?)\b/gi

/** Text that is read word for word; of what follows only the surroundings of the words asked for. */
const READ_CHARACTERS = 2_000
const SURROUNDINGS = 200
/** Words of a usual chunk; longer texts hold a word more easily by chance. */
const USUAL_WORDS = 25
const LONG_WORDS = 100

/** How near a word in meaning must be to count, and for how much of the word itself it may count. */
const NEAR = 0.45
const NEAR_WORTH = 0.6

export interface Match {
  /** How well each term of the question is met, 1 for the word itself once in a usual chunk. */
  terms: Float32Array
  /** The words of the name before a leading colon. */
  speaker: string[]
  mentions(word: string): boolean
  words: number
  isQuestion: boolean
  timeWords: number
  amounts: number
}

function likeness(a: Set<string>, other: string): number {
  const b = new Set(trigramsOf(other))
  let shared = 0
  for (const trigram of b) if (a.has(trigram)) shared++
  return (2 * shared) / (a.size + b.size)
}

/** Cuts a long text to its beginning and the places where terms stand. */
function readable(text: string, terms: readonly Term[]): string {
  if (text.length <= READ_CHARACTERS) return text
  const rest = text.slice(READ_CHARACTERS)
  const small = rest.toLowerCase()
  const places = terms
    .map((term) => small.indexOf(term.stem))
    .filter((at) => at >= 0)
    .map((at) => rest.slice(Math.max(0, at - SURROUNDINGS), at + SURROUNDINGS))
  return [text.slice(0, READ_CHARACTERS), ...places].join(' ')
}

/** Matches texts against one question; what it learns of a word it keeps for the next text. */
export function createMatcher(question: Question, vectors: WordVectors): (text: string) => Match {
  const { terms } = question
  const EXACT = 2
  const nearness = new Map<string, Float32Array>()

  function compare(word: string): Float32Array {
    const known = nearness.get(word)
    if (known) return known
    const values = new Float32Array(terms.length)
    const wordStem = stem(word)
    const rank = vectors.find(word)
    const isNumber = /\d/.test(word)
    terms.forEach((term, at) => {
      if (term.stem === wordStem) values[at] = EXACT
      else if (isNumber || /\d/.test(term.word)) values[at] = 0
      else {
        const near = term.trigrams ? likeness(term.trigrams, word) : term.rank >= 0 && rank >= 0 ? vectors.similarity(term.rank, rank) : 0
        values[at] = Math.max(0, (NEAR_WORTH * (near - NEAR)) / (1 - NEAR))
      }
    })
    nearness.set(word, values)
    return values
  }

  return (content) => {
    const speaker = SPEAKER.exec(content)
    const text = readable(speaker ? content.slice(speaker[0].length) : content, terms)
    const words = wordsOf(text)
    const counts = new Uint16Array(terms.length)
    const met = new Float32Array(terms.length)
    for (const word of words) {
      const near = compare(word)
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
    return {
      terms: met,
      speaker: speaker?.[1] ? wordsOf(speaker[1]) : [],
      mentions: (word) => words.includes(word),
      words: words.length,
      isQuestion: ASKS.test(text.slice(-20)),
      timeWords: question.asksWhen ? Math.min(3, text.match(TIME_WORDS)?.length ?? 0) : 0,
      amounts: question.asksHowMuch ? Math.min(3, text.match(AMOUNTS)?.length ?? 0) : 0,
    }
  }
}
