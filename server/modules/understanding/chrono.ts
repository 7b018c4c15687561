import { createRequire } from 'node:module'
import type * as Chrono from 'chrono-node'

/** Dates that chrono found in a text, in the words of its language. */
export type ChronoResult = Chrono.ParsedResult

type Locale = Pick<typeof Chrono, 'parse'>

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

/**
 * Finds dates with the clock of `local` (a date whose parts in this computer's zone are those of the household's now). Loads the library on
 * the first call.
 */
export function findDates(language: string, text: string, local: Date): ChronoResult[] {
  const name = nameOf(language)
  let locale = loaded.get(name)
  if (!locale) {
    locale = require(`chrono-node/${name}`) as Locale
    loaded.set(name, locale)
  }
  return locale.parse(text, local, { forwardDate: true })
}
