import type { Language } from './language.ts'
import { wordsOf } from './phrases.ts'

const MOST = 3
const MAX_LOOKED_AT = 500
const SOMEBODY = '{person}'
/** Shorter words that are no name say nothing of what is meant; `timer` does. */
const SAYING = 5

/** Whole words, and pieces of three letters that bear a misspelling. */
const grams = (words: readonly string[]): Set<string> =>
  new Set(words.flatMap((word) => [`${word}.`, ...Array.from({ length: Math.max(1, word.length - 2) }, (_, at) => word.slice(at, at + 3))]))

/** Finds the examples of a language that are nearest to a sentence, by the letters they share; rare ones weigh more. */
export function createSuggestions({
  intents,
  words,
}: Language): (text: string, mayOffer: (intent: string) => boolean, person?: string) => string[] {
  const common = new Set([...words.articles, ...words.notNames.filter((word) => word.length < SAYING)])
  const gramsOf = (text: string) => grams(wordsOf(text).filter((word) => !common.has(word)))
  const examples = Object.entries(intents).flatMap(([intent, { examples }]) =>
    examples.map((text) => ({ intent, text, grams: gramsOf(text) })),
  )
  const counts = new Map<string, number>()
  for (const { grams } of examples) for (const gram of grams) counts.set(gram, (counts.get(gram) ?? 0) + 1)
  const weight = (gram: string) => Math.log(1 + examples.length / (counts.get(gram) ?? examples.length)) * (gram.endsWith('.') ? 3 : 1)

  return (text, mayOffer, person) => {
    const asked = gramsOf(text.slice(0, MAX_LOOKED_AT))
    const ranked = examples
      .filter(({ intent, text }) => mayOffer(intent) && (person !== undefined || !text.includes(SOMEBODY)))
      .map((example) => ({
        ...example,
        score: [...example.grams].reduce((sum, gram) => sum + (asked.has(gram) ? weight(gram) : 0), 0) / Math.sqrt(example.grams.size || 1),
      }))
      .toSorted((a, b) => b.score - a.score)
    const chosen: string[] = []
    const intentsSeen = new Set<string>()
    for (const { intent, text } of ranked) {
      if (chosen.length === MOST) break
      if (intentsSeen.has(intent)) continue
      intentsSeen.add(intent)
      chosen.push(text.replaceAll(SOMEBODY, person ?? ''))
    }
    return chosen
  }
}
