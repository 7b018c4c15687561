import { createRequire } from 'node:module'
import type * as Chrono from 'chrono-node'

/** Dates that chrono found in a text, in the words of its language. */
export type ChronoResult = Chrono.ParsedResult

type Locale = Pick<typeof Chrono, 'parse'> & { GB?: Pick<typeof Chrono, 'parse'> }

const require = createRequire(import.meta.url)
const loaded = new Map<string, Locale>()
/** Languages whose dates chrono reads well. */
const KNOWN = new Set(['en', 'de', 'fr', 'ja', 'pt', 'nl', 'es', 'it', 'ru', 'sv', 'uk', 'vi', 'fi'])

const nameOf = (language: string) => (KNOWN.has(language) ? language : 'en')

/** Loads the dates of a language ahead of the first sentence. */
export async function prepareDates(language: string): Promise<void> {
  const name = nameOf(language)
  if (!loaded.has(name)) loaded.set(name, (await import(`chrono-node/${name}`)) as Locale)
}

/** A sentence of more characters is looked through at both its ends only: what is said of when stands there. */
const WHOLE = 160
const END = 100
const NUMERIC = /(?<![\d-])\d{1,2}[./-]\d{1,2}(?![\d-])/

/**
 * The pieces of a text in which dates are looked for, with where each begins. Runs of durations cost the library time that grows with
 * the cube of their length, hence short ones.
 */
export function piecesWithDates(text: string): { from: number; piece: string }[] {
  if (text.length <= WHOLE) return [{ from: 0, piece: text }]
  const head = /^.{0,99}(?=\s)/su.exec(text)?.[0] ?? ''
  const tail = /(?<=\s)\S.{0,99}$/su.exec(text.slice(-END - 1))?.[0] ?? ''
  return [
    { from: 0, piece: head },
    { from: text.length - tail.length, piece: tail },
  ]
}

/**
 * Finds dates with the clock of `local` (a date whose parts in this computer's zone are those of the household's now). Loads the library on
 * the first call.
 */
export function findDates(language: string, text: string, local: Date, isMonthFirst = false): { at: number; date: ChronoResult }[] {
  const name = nameOf(language)
  let locale = loaded.get(name)
  if (!locale) {
    locale = require(`chrono-node/${name}`) as Locale
    loaded.set(name, locale)
  }
  const { parse, GB } = locale
  const options = { forwardDate: true }
  /** `3/12` is in December elsewhere than in America; of what else there is, `December 31` is no month of a year. */
  function read(piece: string): ChronoResult[] {
    const usual = parse(piece, local, options)
    return !isMonthFirst && GB && usual.some(({ text }) => NUMERIC.test(text)) ? GB.parse(piece, local, options) : usual
  }
  return piecesWithDates(text).flatMap(({ from, piece }) => read(piece).map((date) => ({ at: from + date.index, date })))
}
