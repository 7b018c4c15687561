import type { Language } from './language.ts'
import { fold, type Sentence } from './tokens.ts'

/** How many letters of a word may be wrong, so that it still is that day: `Dienst` is no `Dienstag`. */
const slackOf = (word: string) => (day: string) => (day.length >= 8 && Math.abs(word.length - day.length) < 2 ? 2 : 1)
/** The same for a month; `marc` and `aprils` are none. */
const slackOfMonth = (word: string) => (month: string) => (month.startsWith(word) || word.startsWith(month) ? 0 : 1)
const SHORTEST = 4
const LONGEST = 12

/** How many letters are wrong, missing, too many or changed places with their neighbour. */
export function lettersWrong(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const change = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const move = swapped ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, change, move))
    }
    before = last
    last = row
  }
  return last[b.length] as number
}

export type MisspeltDays = ReturnType<typeof createMisspeltDays>

/** Reads days that are misspelt, where a day may stand. */
export function createMisspeltDays({ words: { when, numbers, units, articles } }: Pick<Language, 'words'>) {
  const single = (some: readonly string[]) => some.map(fold).filter((word) => /^\p{L}+$/u.test(word) && word.length > SHORTEST)
  const months = new Set(single(when.months))
  const days = [...new Set(single([...when.weekdays.flatMap((names) => names.slice(0, 1)), ...Object.keys(when.days)]))]
  const others = [...Object.keys(when.partsOfDay), ...Object.keys(when.dates), ...when.weekdays.flat(), ...when.workdays, ...when.notDays]
  const known = new Set(
    [...others, ...Object.keys(when.days), ...when.months, ...Object.keys(numbers), ...units.flatMap((unit) => unit.words)].map(fold),
  )
  const before = new Set([...when.before, ...when.dayBefore, ...when.every].map(fold).filter((word) => !articles.map(fold).includes(word)))
  const dayBefore = new Set([...when.dayBefore, ...when.every].map(fold))

  /** The one day or month that a word nearly is. */
  function nearest(word: string, among: Iterable<string>, most: (day: string) => number): string | null {
    if (word.length < SHORTEST || word.length > LONGEST || known.has(word)) return null
    const found: { day: string; wrong: number }[] = []
    for (const day of among) {
      const isBegunAlike = word[0] === day[0] || (word[0] === day[1] && word[1] === day[0])
      if (!isBegunAlike || Math.abs(word.length - day.length) > 2) continue
      const wrong = lettersWrong(word, day)
      if (wrong <= most(day)) found.push({ day, wrong })
    }
    const least = Math.min(...found.map(({ wrong }) => wrong))
    const best = found.filter(({ wrong }) => wrong === least)
    return best.length === 1 ? (best[0]?.day ?? null) : null
  }

  const isNumber = (word: string | undefined) => word !== undefined && /^\d/.test(word)

  function meant(said: readonly string[], at: number): string | null {
    const [last, word = '', next] = [said[at - 1], said[at], said[at + 1]]
    const isMonth = [last, said[at - 2], next].some((beside, place) => isNumber(beside) && (place !== 1 || !isNumber(last)))
    const month = isMonth ? nearest(word, months, slackOfMonth(word)) : null
    if (month) return month
    const mayStand = at === 0 || next === undefined || before.has(last ?? '') || before.has(next) || isNumber(next)
    return mayStand ? nearest(word, days, slackOf(word)) : null
  }

  return {
    /** Whether something stands there that looks like a day but is read as none. */
    looksUnread: (said: readonly string[], at: number): boolean =>
      dayBefore.has(said[at - 1] ?? '') && nearest(said[at] ?? '', days, () => 2) !== null,

    /** The sentence with its days spelt right; `names` are words that are none. */
    mend(sentence: Sentence, said: readonly string[], names: ReadonlySet<string>): { sentence: Sentence; said: readonly string[] } {
      const right = said.map((word, at) => (names.has(word) ? null : meant(said, at)))
      if (right.every((word) => word === null)) return { sentence, said }
      let [text, end] = ['', 0]
      const tokens = sentence.tokens.map((token, at) => {
        const word = right[at] ?? null
        const isAlone = [at - 1, at + 1].every((beside) => sentence.tokens[beside]?.start !== token.start)
        if (token.start >= end) {
          text += sentence.text.slice(end, token.start)
          end = token.start
        }
        if (word === null || !isAlone) {
          const shift = text.length - end
          return { ...token, start: token.start + shift, end: token.end + shift }
        }
        const start = text.length
        text += word
        end = token.end
        return { word, start, end: text.length }
      })
      text += sentence.text.slice(end)
      return { sentence: { ...sentence, text, tokens }, said: tokens.map(({ word }) => word) }
    },
  }
}
