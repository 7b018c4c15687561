import type { Language } from './language.ts'
import type { Span } from './matcher.ts'
import { fold } from './tokens.ts'

export interface NumberSpan extends Span {
  value: number
}

export type NumberReader = ReturnType<typeof createNumbers>

const SIGNS: Record<string, number> = { '½': 0.5, '¼': 0.25, '¾': 0.75 }

/** `7`, `6.5`, `1,5`, `1.000` or `1/2`. */
function digits(word: string): number | null {
  if (SIGNS[word] !== undefined) return SIGNS[word]
  if (/^\d+$/.test(word)) return Number(word)
  if (/^\d+[.,]\d+$/.test(word)) return /^\d{1,3},\d{3}$/.test(word) ? Number(word.replace(',', '')) : Number(word.replace(',', '.'))
  if (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(word)) return Number(word.replaceAll(',', ''))
  const ratio = /^(\d{1,4})\/(\d{1,4})$/.exec(word)
  return ratio && Number(ratio[2]) !== 0 ? Number(ratio[1]) / Number(ratio[2]) : null
}

const isFraction = (word: string | undefined) => word !== undefined && (SIGNS[word] !== undefined || /^\d+\/\d+$/.test(word))

/** Reads numbers in digits and in words, with halves and quarters. */
export function createNumbers({ words }: Pick<Language, 'words'>) {
  const small = new Map(Object.entries(words.numbers).map(([word, value]) => [fold(word), value]))
  const times = new Map(Object.entries(words.multipliers).map(([word, value]) => [fold(word), value]))
  const fractions = new Map(Object.entries(words.fractions).map(([word, value]) => [fold(word), value]))
  const and = new Set(words.and)
  const one = new Set(words.one)
  if (words.glue)
    for (const [tens, value] of [...small].filter(([, value]) => value >= 20 && value < 100 && value % 10 === 0))
      for (const [ones, unit] of [...small].filter(([, unit]) => unit >= 1 && unit <= 9)) small.set(ones + words.glue + tens, value + unit)

  /** Whole numbers in words, such as `two hundred and five`. */
  function spoken(said: readonly string[], from: number): NumberSpan | null {
    let at = from
    let total = 0
    let group: number | null = null
    for (; at < said.length; at++) {
      const word = said[at] as string
      const value = small.get(word)
      const factor = times.get(word)
      if (value !== undefined) {
        const fits: boolean =
          group === null || (group % 100 === 0 && group > 0) || (group % 10 === 0 && group % 100 >= 20 && value < 10 && value > 0)
        if (!fits) break
        group = (group ?? 0) + value
      } else if (factor !== undefined && (group !== null || one.has(said[at - 1] ?? '') || at === from)) {
        if (factor === 100) group = (group ?? 1) * 100
        else {
          total += (group ?? 1) * factor
          group = null
        }
      } else if (!(and.has(word) && group !== null && group % 100 === 0 && group > 0 && small.has(said[at + 1] ?? ''))) break
    }
    return at > from ? { end: at, value: total + (group ?? 0) } : null
  }

  return {
    and,
    one,
    fractions,
    /** The number that begins at a word; the longest reading. */
    at(said: readonly string[], from: number): NumberSpan | null {
      const word = said[from]
      if (word === undefined) return null
      const plain = digits(word)
      const whole = plain === null ? spoken(said, from) : { end: from + 1, value: plain }
      if (!whole) {
        // `a hundred`
        return one.has(word) && times.has(said[from + 1] ?? '') ? spoken(said, from + 1) : null
      }
      if (plain !== null && times.has(said[whole.end] ?? '')) {
        return { end: whole.end + 1, value: whole.value * (times.get(said[whole.end] ?? '') ?? 1) }
      }
      // `1 1/2`
      if (isFraction(said[whole.end]) && !isFraction(word)) {
        return { end: whole.end + 1, value: whole.value + (digits(said[whole.end] as string) ?? 0) }
      }
      // `2 and a half`, `1 and a 1/2`, `2 and 3/4`
      let at = whole.end
      if (!and.has(said[at] ?? '')) return whole
      at++
      if (one.has(said[at] ?? '')) at++
      const part = isFraction(said[at]) ? digits(said[at] as string) : fractions.get(said[at] ?? '')
      return part === undefined || part === null ? whole : { end: at + 1, value: whole.value + part }
    },
  }
}
