import { DateTime } from 'luxon'
import type { Language } from './language.ts'
import type { Capture, Spans } from './matcher.ts'
import { createMisspeltDays } from './misspelt-days.ts'
import { createPhraseSet, createPhrases } from './phrases.ts'
import { fold } from './tokens.ts'
import type { When } from './whens.ts'

export interface Unread {
  /** Words, from one up to another. */
  from: number
  to: number
}

/** A year with a 29 February. */
const LEAP_YEAR = 2028
const NUMERIC = /^\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?$/
const DATE = /^(\d{1,2})([./])(\d{1,2})(?:[./](\d{4}))?$/
/** What is greater is no hour. */
const LAST_HOUR = 24
const NAMES_A_DAY = /(?:days?|tage?)$/

export type UnreadTimes = ReturnType<typeof createUnreadTimes>

/** Finds what was said of when and is not read, so that it is asked for again in place of being done at another time. */
export function createUnreadTimes(language: Pick<Language, 'words'>) {
  const { when } = language.words
  const days = createMisspeltDays(language)
  const beside = createPhraseSet(when.beside)
  const months = createPhrases(when.months.map((name, at) => [name, at + 1] as const))
  const suffixes = new Set(when.ordinalSuffixes)
  const ofMonth = new Set(when.ofMonth.map(fold))
  const every = new Set(when.every.map(fold))
  const dayBefore = new Set(when.dayBefore.map(fold))

  /** `31st of February`. */
  function impossible(said: readonly string[]): Unread | null {
    for (let from = 0; from < said.length; from++) {
      const day = /^\d{1,2}$/.test(said[from] ?? '') ? Number(said[from]) : 0
      if (day < 29) continue
      let at = from + 1
      const isOrdinal = suffixes.has(said[at] ?? '')
      if (isOrdinal) at++
      const isOf = ofMonth.has(said[at] ?? '')
      if (isOf) at++
      const month = months.at(said, at)
      if (!month) continue
      if (day > (DateTime.local(LEAP_YEAR, month.value).daysInMonth ?? 31) && (day < 100 || isOrdinal || isOf))
        return { from, to: month.end }
    }
    return null
  }

  /** `on 30/2`, `31/11` or `am 31.4`, whichever of day and month comes first. */
  function impossibleNumbers(said: readonly string[]): Unread | null {
    for (const [at, word] of said.entries()) {
      const [, first, sign, second, year = String(LEAP_YEAR)] = DATE.exec(word) ?? []
      if (first === undefined) continue
      const isAfterDay = dayBefore.has(said[at - 1] ?? '')
      const ways = [
        [Number(first), Number(second)],
        [Number(second), Number(first)],
      ] as const
      if (ways.some(([day, month]) => DateTime.local(Number(year), month, day).isValid)) continue
      const isNearly = ways.some(([day, month]) => day > 28 && day <= 31 && month > 0 && month <= 12)
      const isDate = sign === '/' ? isNearly || isAfterDay : isAfterDay && Number(first) > LAST_HOUR
      if (isDate) return { from: isAfterDay ? at - 1 : at, to: at + 1 }
    }
    return null
  }

  const saysADay = ({ value }: { value: unknown }) => {
    const { day, recurrence, clock } = value as When
    return day !== undefined || recurrence !== undefined || clock !== undefined
  }

  /** `except Sunday`, `before Christmas`, `on 7.31`, `on tuezdy`, `every schoolday` in a title. */
  function inTitle(said: readonly string[], { start, end }: Capture, spans: Spans): Unread | null {
    for (let at = start; at < end; at++) {
      const word = said[at] ?? ''
      const aside = beside.at(said, at)
      const day = aside && spans('when', aside.end).findLast((span) => span.end <= end && saysADay(span))
      if (day) return { from: at, to: day.end }
      if (at === start) continue
      const isAfterDay = dayBefore.has(said[at - 1] ?? '')
      if ((NUMERIC.test(word) && isAfterDay) || days.looksUnread(said, at)) return { from: at - 1, to: at + 1 }
      if (every.has(said[at - 1] ?? '') && at === end - 1 && NAMES_A_DAY.test(word)) return { from: at - 1, to: at + 1 }
    }
    return null
  }

  return {
    in(said: readonly string[], captures: readonly Capture[], spans: Spans): Unread | null {
      const title = captures.find(({ as }) => as === 'title')
      if (!title) return null
      // `after the weekend`: the title ends where the time begins
      const time = captures.find(({ as, start }) => (as === 'when' || as === 'then') && start === title.end)
      const aside = time && beside.before(said, title.end)
      const first = aside && spans('when', time.start).findLast(saysADay)
      if (aside && first) return { from: aside.start, to: first.end }
      return impossible(said) ?? impossibleNumbers(said) ?? inTitle(said, title, spans)
    },
  }
}
