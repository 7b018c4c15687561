import type { DateTime } from 'luxon'
import { createArithmetic } from './arithmetic.ts'
import { zoneCities } from './cities.ts'
import { createDurations } from './durations.ts'
import type { Language } from './language.ts'
import type { Span, Spans } from './matcher.ts'
import { createNameIndex, type Named, type NameIndex } from './names.ts'
import { createNumbers } from './numbers.ts'
import { createPeriods } from './periods.ts'
import { createPhrases, type Phrases, wordsOf } from './phrases.ts'
import { fold, type Sentence, said } from './tokens.ts'
import type { UnderstandingContext } from './understood.ts'
import { createWhens } from './whens.ts'

const MOST_NAME_WORDS = 8
const MOST_SHORT_WORDS = 5

/** A list of the house, or one of the two that every house has; the plain to-dos have no name. */
export interface ListName {
  name: string | null
}

export type Readers = ReturnType<typeof createReaders>

/** What reads the slots of a language: numbers, times, names of things. */
export function createReaders(language: Language) {
  const { words } = language
  const numbers = createNumbers(language)
  const durations = createDurations(language, numbers)
  const whens = createWhens(language, numbers, durations)
  const periods = createPeriods(language)
  const measures = createPhrases(
    Object.entries(words.measures).flatMap(([measure, names]) => names.map((name) => [name, measure] as const)),
  )
  const leaveOut = new Set(words.articles)
  const leaveOutOfLists = new Set([...words.articles, ...words.lists.word])
  const notNames = new Set([...words.notNames, ...words.articles])
  /** What a list for shopping is called where there is none yet. */
  const SHOPPING = words.lists.shopping[0] ?? 'shopping'
  const wellKnownLists = createPhrases<ListName>([
    ...words.lists.shopping.map((name) => [name, { name: SHOPPING }] as const),
    ...words.lists.todo.map((name) => [name, { name: null }] as const),
  ])
  let cities: Phrases<string> | undefined
  const nameWords = new WeakMap<object, ReadonlySet<string>>()
  const indexes = new WeakMap<object, NameIndex<Named>>()
  const listIndexes = new WeakMap<object, NameIndex<Named>>()

  function indexOf(entries: readonly Named[]): NameIndex<Named> {
    const ready = indexes.get(entries)
    if (ready) return ready
    const index = createNameIndex(entries, leaveOut)
    indexes.set(entries, index)
    return index
  }

  function wordsOfNames(people: readonly Named[]): ReadonlySet<string> {
    const ready =
      nameWords.get(people) ?? new Set(people.flatMap(({ name, aliases = [] }) => [name, ...aliases].flatMap((one) => wordsOf(one))))
    nameWords.set(people, ready)
    return ready
  }

  function listIndexOf(names: readonly string[]): NameIndex<Named> {
    const ready = listIndexes.get(names)
    if (ready) return ready
    const index = createNameIndex(
      names.map((name) => ({ name })),
      leaveOutOfLists,
    )
    listIndexes.set(names, index)
    return index
  }

  /** Names from a word on, the longest first. */
  function named(index: NameIndex<Named>, spoken: readonly string[], from: number): Span[] {
    const spans: Span[] = []
    const most = Math.min(index.longest + 1, MOST_NAME_WORDS, spoken.length - from)
    for (let count = most; count > 0; count--) {
      const part = spoken.slice(from, from + count)
      if (leaveOut.has(part[0] as string) && count > 1) continue
      const value = index.find(part)
      if (value) spans.push({ end: from + count, value })
    }
    return spans
  }

  /** What this house calls the list for shopping. */
  const shoppingList = (lists: readonly string[]): string =>
    lists.find((name) => wellKnownLists.at(wordsOf(name), 0)?.value.name === SHOPPING) ?? SHOPPING

  return {
    shoppingList,
    numbers,
    durations,
    arithmetic: createArithmetic(language, numbers),
    /** Whether words are a number and nothing else. */
    isNumber: (spoken: readonly string[]): boolean => numbers.at(spoken, 0)?.end === spoken.length,
    /** Whether a text is `half` or the like and nothing else. */
    isShare: (text: string): boolean => numbers.fractions.has(fold(text)),
    /** The entry of a house's names that some words name as a whole. */
    lookUp(entries: readonly Named[], spoken: readonly string[]): Named | null {
      return indexOf(entries).find(spoken)
    },
    /** Reads the slots of one sentence; each is read once at each word. */
    spansOf(
      sentence: Sentence,
      spoken: readonly string[],
      { names, locale }: Pick<UnderstandingContext, 'names' | 'locale'>,
      now: DateTime,
    ): Spans {
      const memory = new Map<string, readonly Span[]>()
      const isMonthFirst = language.language === 'en' && locale.toLowerCase() === 'en-us'
      const when = whens.in(sentence, spoken, now, { isMonthFirst, names: wordsOfNames(names.people) })

      function open(from: number, most: number, check: boolean): Span[] {
        const spans: Span[] = []
        for (let end = from + 1; end <= spoken.length && end - from <= most; end++) {
          if (check && durations.at(spoken, end - 2).length > 0) break
          if (!check || (!notNames.has(spoken[from] as string) && !notNames.has(spoken[end - 1] as string))) {
            spans.push({ end, value: said(sentence, from, end) })
          }
          if (sentence.ends[end - 1] && most < Number.POSITIVE_INFINITY) break
        }
        return spans
      }

      function lists(from: number): Span[] {
        const known = named(listIndexOf(names.lists), spoken, from).map(({ end, value }) => ({
          end,
          value: { name: (value as Named).name },
        }))
        const found = wellKnownLists.at(spoken, from)
        const wellKnown = found && { end: found.end, value: found.value.name === null ? found.value : { name: shoppingList(names.lists) } }
        return wellKnown && !known.some(({ end }) => end === wellKnown.end) ? [...known, wellKnown] : known
      }

      function read(type: string, from: number): readonly Span[] {
        switch (type) {
          case 'short':
            return open(from, MOST_SHORT_WORDS, true)
          case 'text':
            return open(from, 60, false)
          case 'long':
            return open(from, Number.POSITIVE_INFINITY, false)
          case 'number': {
            const number = numbers.at(spoken, from)
            return number ? [number] : []
          }
          case 'duration':
            return durations.at(spoken, from)
          case 'when':
            return when(from)
          case 'period':
            return periods.at(spoken, from, now, when)
          case 'measure': {
            const measure = measures.at(spoken, from)
            return measure ? [measure] : []
          }
          case 'city': {
            cities ??= createPhrases(Object.entries({ ...zoneCities(), ...words.cities }))
            const city = cities.at(spoken, from)
            return city ? [{ end: city.end, value: { zone: city.value, name: said(sentence, from, city.end) } }] : []
          }
          case 'list':
            return lists(from)
          case 'person':
            // `tell Ben the code is 4711`
            return named(indexOf(names.people), spoken, from).filter(({ end }) => !leaveOut.has(spoken[end - 1] as string))
          case 'plug':
            return named(indexOf(names.plugs), spoken, from)
          case 'box':
            return named(indexOf(names.boxes), spoken, from)
          case 'camera':
            return named(indexOf(names.cameras), spoken, from)
          case 'area':
            return named(listIndexOf(names.areas), spoken, from)
          default:
            throw new Error(`There is no slot of type ${type}`)
        }
      }

      return (type, from) => {
        if (from >= spoken.length) return []
        const key = `${type} ${from}`
        const ready = memory.get(key)
        if (ready) return ready
        const spans = read(type, from)
        memory.set(key, spans)
        return spans
      }
    },
  }
}
