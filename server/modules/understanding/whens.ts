import type { DateTime } from 'luxon'
import { type ChronoResult, findDates } from './chrono.ts'
import type { Duration, DurationReader, DurationUnit } from './durations.ts'
import type { Language } from './language.ts'
import type { Span } from './matcher.ts'
import { createMisspeltDays } from './misspelt-days.ts'
import type { NumberReader } from './numbers.ts'
import { createPhraseSet, createPhrases } from './phrases.ts'
import type { Recurrence } from './recurrence.ts'
import { fold, type Sentence } from './tokens.ts'

/** A day as it was said, in the household's zone. */
export interface Day {
  year: number
  month: number
  day: number
}

/** A time of day; `open` where it may be before or after noon. */
export interface Clock {
  hour: number
  minute: number
  open: boolean
}

/** A point in time as far as it was said. */
export interface When {
  day?: Day
  clock?: Clock
  /** The hour that a part of the day stands for. */
  partOfDay?: number
  recurrence?: Recurrence
  /** From now on. */
  inTime?: Duration
  endDay?: Day
  endClock?: Clock
  /** How long it takes, said behind its beginning. */
  lasts?: Duration
}

export interface WhenSpan extends Span {
  value: When
}

const MOST_PIECES = 4
const NO_NAMES: ReadonlySet<string> = new Set()

const dayOf = ({ year, month, day }: DateTime): Day => ({ year, month, day })
const ISO_FREQ: Partial<Record<DurationUnit, Recurrence['freq']>> = { days: 'DAILY', weeks: 'WEEKLY', months: 'MONTHLY', years: 'YEARLY' }

/** Two pieces of one point in time; null where both say the same kind of thing. */
function merge(a: When, b: When): When | null {
  if (a.inTime || b.inTime) return null
  for (const key of ['day', 'clock', 'recurrence', 'endClock', 'lasts'] as const) if (a[key] && b[key]) return null
  if ((a.lasts && b.endClock) || (a.endClock && b.lasts)) return null
  if ((a.recurrence?.days && b.day) || (b.recurrence?.days && a.day)) return null
  const merged = { ...a, ...b }
  const { clock, partOfDay } = merged
  // `in the morning at 7`, `at 8 tonight`
  if (clock?.open && partOfDay !== undefined) {
    const later = partOfDay >= 12 && clock.hour < 12
    merged.clock = { ...clock, hour: later ? clock.hour + 12 : clock.hour, open: false }
  }
  return merged
}

/** Reads points in time in the sentences of a language. */
export function createWhens(whole: Language, numbers: NumberReader, durations: DurationReader) {
  const {
    language,
    words: { when, units },
  } = whole
  const misspelt = createMisspeltDays(whole)
  const before = new Set(when.before)
  const dayBefore = new Set(when.dayBefore)
  const after = new Set(when.afterTime)
  const untilDay = new Set(when.untilDay)
  const notDays = new Set(when.notDays.map(fold))
  const inTime = createPhraseSet(when.inTime)
  const fromNow = createPhraseSet(when.fromNow)
  const lasting = createPhraseSet(when.lasting)
  const every = new Set(when.every)
  const other = new Set(when.other)
  const often = createPhrases(Object.entries(when.often))
  const weekdays = createPhrases(when.weekdays.flatMap((names, index) => names.map((name) => [name, index + 1] as const)))
  const workdays = createPhraseSet(when.workdays)
  const weekends = createPhraseSet(when.weekends)
  /** One of them, the next. */
  const weekend = when.weekends[0] ?? ''
  const days = createPhrases(Object.entries(when.days))
  const dates = createPhrases(Object.entries(when.dates))
  const partsOfDay = createPhrases(Object.entries(when.partsOfDay))
  const unitNames = createPhrases(units.flatMap(({ unit, words }) => words.map((word) => [word, unit] as const)))
  const ofEveryMonth = createPhraseSet(when.ofEveryMonth)
  const suffixes = new Set(when.ordinalSuffixes)
  const [past, to, oclock, halfPast, halfTo] = [when.past, when.to, when.oclock, when.halfPast, when.halfTo].map((words) =>
    createPhraseSet(words),
  )
  const quarter = createPhraseSet(when.quarter)
  const [morning, afternoon] = [createPhraseSet(when.am), createPhraseSet(when.pm)]

  /** `every Monday and Thursday`, `each day`, `every other week`, `every 3 days`, `weekdays`, `daily`. */
  function recurrence(said: readonly string[], from: number): WhenSpan | null {
    const plain = often.at(said, from)
    if (plain) return { end: plain.end, value: { recurrence: { freq: plain.value as Recurrence['freq'], interval: 1 } } }
    const each = every.has(said[from] ?? '')
    let at = each ? from + 1 : from
    const alternate = each && other.has(said[at] ?? '')
    if (alternate) at++
    const amount = each && !alternate ? numbers.at(said, at) : null
    const interval = alternate ? 2 : (amount?.value ?? 1)
    if (!Number.isInteger(interval) || interval < 1 || interval > 366) return null
    const bare = amount?.end ?? at
    const work = workdays.at(said, bare)
    if (work) return { end: work.end, value: { recurrence: { freq: 'WEEKLY', interval, days: [1, 2, 3, 4, 5] } } }
    const end = weekends.at(said, bare)
    if (end && (each || said[end.end - 1] !== weekend))
      return { end: end.end, value: { recurrence: { freq: 'WEEKLY', interval, days: [6, 7] } } }
    const named = weekdayList(said, bare)
    // Without `every`, only a plural means each week: `on Mondays`.
    if (named && (each || named.plural)) return { end: named.end, value: { recurrence: { freq: 'WEEKLY', interval, days: named.days } } }
    if (!each) return null
    const part = partsOfDay.at(said, bare)
    if (part) return { end: part.end, value: { recurrence: { freq: 'DAILY', interval }, partOfDay: part.value } }
    const unit = unitNames.at(said, bare)
    const freq = unit && ISO_FREQ[unit.value]
    return freq ? { end: unit.end, value: { recurrence: { freq, interval } } } : null
  }

  function weekdayList(said: readonly string[], from: number): { end: number; days: number[]; plural: boolean } | null {
    const found: number[] = []
    let at = from
    let plural = true
    for (;;) {
      const next = weekdays.at(said, found.length > 0 && numbers.and.has(said[at] ?? '') ? at + 1 : at)
      if (!next) break
      plural &&= /s$/.test(said[next.end - 1] ?? '') && !when.weekdays[next.value - 1]?.slice(0, 1).includes(said[next.end - 1] ?? '')
      found.push(next.value)
      at = next.end
    }
    return found.length > 0 ? { end: at, days: [...new Set(found)].toSorted((a, b) => a - b), plural } : null
  }

  /** The next of a weekday or weekend, today not meant. */
  function weekday(said: readonly string[], from: number, now: DateTime): WhenSpan | null {
    const end = weekends.at(said, from)
    if (end && said[end.end - 1] === weekend)
      return { end: end.end, value: { day: dayOf(now.plus({ days: (6 - now.weekday + 7) % 7 || 7 })) } }
    const named = weekdays.at(said, from)
    return named && { end: named.end, value: { day: dayOf(now.plus({ days: ((named.value - now.weekday + 6) % 7) + 1 })) } }
  }

  function relative(said: readonly string[], from: number): WhenSpan[] {
    const starts = inTime.at(said, from)
    if (starts) return durations.at(said, starts.end).map(({ end, value }) => ({ end, value: { inTime: value } }))
    return durations.at(said, from).flatMap(({ end, value }) => {
      const ends = fromNow.at(said, end)
      return ends ? [{ end: ends.end, value: { inTime: value } }] : []
    })
  }

  /** `for two hours`. */
  function lasts(said: readonly string[], from: number): WhenSpan[] {
    const starts = lasting.at(said, from)
    return starts ? durations.at(said, starts.end).map(({ end, value }) => ({ end, value: { lasts: value } })) : []
  }

  function hourAt(said: readonly string[], from: number): { end: number; hour: number } | null {
    const hour = numbers.at(said, from)
    return hour && Number.isInteger(hour.value) && hour.value >= 1 && hour.value <= 24 ? { end: hour.end, hour: hour.value % 24 } : null
  }

  /** `half past 7`, `quarter to eight`, `20 past 3`, `halb acht`, `seven o’clock`, `7`. */
  function clock(said: readonly string[], from: number): WhenSpan | null {
    const at = (end: number, hour: number, minute: number): WhenSpan => {
      const whole = (hour * 60 + minute + 1440) % 1440
      return { end, value: { clock: { hour: Math.floor(whole / 60), minute: whole % 60, open: hour <= 12 && hour > 0 } } }
    }
    const half = halfPast?.at(said, from)
    if (half) {
      const hour = hourAt(said, half.end)
      return hour && at(hour.end, hour.hour, 30)
    }
    const towards = halfTo?.at(said, from)
    if (towards) {
      const hour = hourAt(said, towards.end)
      return hour && at(oclock?.at(said, hour.end)?.end ?? hour.end, hour.hour, -30)
    }
    const minutes = quarter.at(said, from) ?? numbers.at(said, from)
    if (!minutes) return null
    const amount = minutes.value === true ? 15 : minutes.value
    const unit = unitNames.at(said, minutes.end)
    const sign = unit?.value === 'minutes' ? unit.end : minutes.end
    const after = past?.at(said, sign)
    const until = to?.at(said, sign)
    const hour = after || until ? hourAt(said, (after ?? until)?.end ?? sign) : null
    if (hour && Number.isInteger(amount) && amount > 0 && amount < 60) return at(hour.end, hour.hour, after ? amount : -amount)
    const whole = minutes.value === true ? null : hourAt(said, from)
    const ends = whole && oclock?.at(said, whole.end)
    return whole && ends ? at(ends.end, whole.hour, 0) : null
  }

  /** `19:30`, `3pm`, `3:30 p.m.`, `15 Uhr 30`. */
  function digital(said: readonly string[], from: number): WhenSpan | null {
    const [, hours, minutes] = /^(\d{1,2})(?:[:.](\d{2}))?$/.exec(said[from] ?? '') ?? []
    if (hours === undefined) return null
    const half = morning.at(said, from + 1) ? 0 : afternoon.at(said, from + 1) ? 12 : null
    const ends = half === null ? oclock?.at(said, from + 1) : (half === 0 ? morning : afternoon).at(said, from + 1)
    if (minutes === undefined && !ends) return null
    const behind = half === null && ends && minutes === undefined && /^[0-5]\d$/.test(said[ends.end] ?? '') ? Number(said[ends.end]) : null
    const [hour, minute] = [Number(hours), behind ?? Number(minutes ?? 0)]
    if (hour > 24 || minute > 59 || (half !== null && (hour < 1 || hour > 12))) return null
    const open = half === null && hour > 0 && hour < 12 && !hours.startsWith('0')
    return {
      end: behind === null ? (ends?.end ?? from + 1) : (ends?.end ?? from) + 1,
      value: { clock: { hour: half === null ? hour % 24 : (hour % 12) + half, minute, open } },
    }
  }

  /** A bare hour behind a word such as `at`: `at seven`. */
  function bareHour(said: readonly string[], from: number): WhenSpan | null {
    const hour = before.has(said[from - 1] ?? '') ? hourAt(said, from) : null
    if (!hour) return null
    const minutes = /^[0-5]\d$/.test(said[hour.end] ?? '') && !durations.at(said, hour.end).length ? Number(said[hour.end]) : null
    const clock = { hour: hour.hour, minute: minutes ?? 0, open: hour.hour <= 12 && hour.hour > 0 }
    return { end: minutes === null ? hour.end : hour.end + 1, value: { clock } }
  }

  /** `the 15th`, `the 1st of every month`. */
  function dayOfMonth(said: readonly string[], from: number, now: DateTime): WhenSpan | null {
    const number = /^\d{1,2}$/.test(said[from] ?? '') ? Number(said[from]) : 0
    if (number < 1 || number > 31 || !suffixes.has(said[from + 1] ?? '')) return null
    const repeats = ofEveryMonth.at(said, from + 2)
    if (repeats) return { end: repeats.end, value: { recurrence: { freq: 'MONTHLY', interval: 1, monthDay: number } } }
    for (let months = 0; months < 3; months++) {
      const month = now.startOf('month').plus({ months })
      const day = month.set({ day: number })
      if (day.month === month.month && day >= now.startOf('day')) return { end: from + 2, value: { day: dayOf(day) } }
    }
    return null
  }

  /** The next of a day that is the same each year. */
  function yearly(said: readonly string[], from: number, now: DateTime): WhenSpan | null {
    const named = dates.at(said, from)
    if (!named) return null
    const [month, day] = named.value.split('-').map(Number)
    const date = now.startOf('day').set({ month, day })
    return { end: named.end, value: { day: dayOf(date < now.startOf('day') ? date.plus({ years: 1 }) : date) } }
  }

  /** `3/12`, `7.12.`, `24.12.2026`; day or month first as it is usual in the house. */
  function numericDate(
    { text, tokens }: Sentence,
    said: readonly string[],
    from: number,
    now: DateTime,
    isMonthFirst: boolean,
  ): WhenSpan | null {
    const [, first, sign, second, inYear] = /^(\d{1,2})([./])(\d{1,2})(?:[./](\d{4}|\d{2}))?$/.exec(said[from] ?? '') ?? []
    if (first === undefined) return null
    const isMarked = dayBefore.has(said[from - 1] ?? '') || inYear !== undefined || text[tokens[from]?.end ?? 0] === '.'
    const isLast = from + 1 === said.length || before.has(said[from + 1] ?? '')
    if (!isMarked && (sign === '.' || !isLast)) return null
    const [day, month] = (isMonthFirst ? [second, first] : [first, second]).map(Number)
    const year = inYear === undefined ? now.year : Number(inYear) + (inYear.length === 2 ? 2_000 : 0)
    const dates = [year, ...(inYear === undefined ? [year + 1] : [])].map((one) =>
      now.startOf('day').set({ day: 1, year: one, month }).set({ day }),
    )
    const date = dates.find(
      (one) => one.isValid && one.month === month && one.day === day && (inYear !== undefined || one >= now.startOf('day')),
    )
    return date ? { end: from + 1, value: { day: dayOf(date) } } : null
  }

  const isMonth = (word: string) => word.length > 2 && when.months.some((month) => fold(month).startsWith(word))

  /** The text without hours that would be taken for days of the month behind them: `at 8 until 24 December`. */
  function withoutHours({ text, tokens }: Sentence): string {
    let rest = text
    for (const [at, { word, start, end }] of tokens.entries()) {
      const last = tokens[at - 1]?.word ?? ''
      if (!/^\d{1,2}$/.test(word) || !before.has(last) || dayBefore.has(last) || !untilDay.has(tokens[at + 1]?.word ?? '')) continue
      if (tokens.slice(at + 2, at + 6).some((token) => isMonth(token.word)))
        rest = rest.slice(0, start) + ' '.repeat(end - start) + rest.slice(end)
    }
    return rest
  }

  return {
    /**
     * Finds the points in time of a sentence from a word on, the longest first; `names` are words that are no misspelt days. No date is
     * looked for before the first call.
     */
    in(
      asSaid: Sentence,
      asHeard: readonly string[],
      now: DateTime,
      { isMonthFirst = false, names = NO_NAMES }: { isMonthFirst?: boolean; names?: ReadonlySet<string> } = {},
    ): (from: number) => WhenSpan[] {
      const { sentence, said } = misspelt.mend(asSaid, asHeard, names)
      const known = new Map<number, WhenSpan[]>()
      let found: Map<number, WhenSpan[]> | undefined

      function fromChrono(from: number): WhenSpan[] {
        found ??= chronoSpans(sentence)
        return found.get(from) ?? []
      }

      function chronoSpans(sentence: Sentence): Map<number, WhenSpan[]> {
        const { tokens } = sentence
        const found = new Map<number, WhenSpan[]>()
        const local = new Date(now.year, now.month - 1, now.day, now.hour, now.minute, now.second)
        for (const { at, date } of findDates(language, withoutHours(sentence), local, isMonthFirst)) {
          const start = tokens.findIndex((token) => token.start >= at)
          const stop = at + date.text.length
          const behind = tokens.findIndex((token) => token.start >= stop)
          const end = behind < 0 ? tokens.length : behind
          // Half a word is no date.
          if (start < 0 || tokens[start]?.start !== at || (tokens[end - 1]?.end ?? 0) > stop) continue
          const spoken = said.slice(start, end)
          if (spoken.some((_, index) => lasts(said, start + index).length > 0)) continue // `for an hour` begins nowhere
          if (spoken.some((word) => notDays.has(word))) continue // it takes `the money at 5` for a day of next month
          const value = toWhen(date, spoken)
          if (!value) continue
          found.set(start, [...(found.get(start) ?? []), { end, value }])
        }
        return found
      }

      function toWhen({ start, end }: ChronoResult, spoken: readonly string[]): When | null {
        const dated = start.isCertain('day') || start.isCertain('weekday') || start.isCertain('month')
        const value: When = {}
        const part = spoken.map((_, index) => partsOfDay.at(spoken, index)).find((found) => found !== null)
        if (dated)
          value.day = { year: start.get('year') ?? now.year, month: start.get('month') ?? now.month, day: start.get('day') ?? now.day }
        if (start.isCertain('hour')) {
          const hour = start.get('hour') ?? 0
          const open = !start.isCertain('meridiem') && hour > 0 && hour <= 12 && !spoken.some((word) => /^0\d/.test(word))
          value.clock = { hour, minute: start.get('minute') ?? 0, open: open && hour !== 12 }
        } else if (part) {
          value.partOfDay = part.value
          value.day ??= dayOf(now)
        }
        if (end?.isCertain('hour')) value.endClock = { hour: end.get('hour') ?? 0, minute: end.get('minute') ?? 0, open: false }
        if (end && (dated || end.isCertain('day') || end.isCertain('weekday')))
          value.endDay = { year: end.get('year') ?? now.year, month: end.get('month') ?? now.month, day: end.get('day') ?? now.day }
        return value.day || value.clock ? value : null
      }

      const read = new Map<string, WhenSpan[]>()

      /** `first` where nothing of it was said before: there a bare `evening` is part of a name, such as `parents’ evening`. */
      function pieces(from: number, first: boolean): WhenSpan[] {
        const key = `${from} ${first}`
        const spans = read.get(key) ?? piecesAt(from, first)
        read.set(key, spans)
        return spans
      }

      function piecesAt(from: number, first: boolean): WhenSpan[] {
        const spoken = days.at(said, from)
        const part = partsOfDay.at(said, from)
        const single = [
          recurrence(said, from),
          numericDate(sentence, said, from, now, isMonthFirst),
          clock(said, from),
          digital(said, from),
          spoken && {
            end: spoken.end,
            // `tonight` is a day and a part of it
            value: { day: dayOf(now.plus({ days: spoken.value })), ...(part?.end === spoken.end && { partOfDay: part.value }) },
          },
          dayOfMonth(said, from, now),
          yearly(said, from, now),
          weekday(said, from, now),
          part && !(first && part.end === from + 1 && !before.has(said[from - 1] ?? ''))
            ? { end: part.end, value: { partOfDay: part.value } }
            : null,
          bareHour(said, from),
        ].filter((span) => span !== null)
        const more = first ? [] : [...lasts(said, from), ...lastDay(from)]
        return [...single, ...relative(said, from), ...more, ...fromChrono(from)]
      }

      /** `until Friday`. */
      function lastDay(from: number): WhenSpan[] {
        if (!untilDay.has(said[from] ?? '')) return []
        let at = from + 1
        while (before.has(said[at] ?? '')) at++
        return pieces(at, true).flatMap(({ end, value: { day, clock, recurrence } }) =>
          day && !clock && !recurrence ? [{ end, value: { endDay: day } }] : [],
        )
      }

      function grow(span: WhenSpan, depth: number): WhenSpan[] {
        if (depth >= MOST_PIECES || span.end >= said.length) return [span]
        let at = span.end
        while (before.has(said[at] ?? '')) at++
        const longer = [...new Set([span.end, at])].flatMap((from) =>
          pieces(from, false).flatMap(({ end, value }) => {
            const merged = merge(span.value, value)
            return merged ? grow({ end, value: merged }, depth + 1) : []
          }),
        )
        return [...longer, span]
      }

      return (from) => {
        const ready = known.get(from)
        if (ready) return ready
        let at = from
        while (before.has(said[at] ?? '') && at - from < 3) at++
        // `after 5 pm`, but not `after Sunday`
        const afterTime = after.has(said[from] ?? '') ? pieces(from + 1, true).filter(({ value }) => value.clock && !value.day) : []
        const spans = [...new Set([from, at])]
          .flatMap((start) => pieces(start, true))
          .concat(afterTime)
          .flatMap((span) => grow(span, 1))
          .toSorted((a, b) => b.end - a.end)
        known.set(from, spans)
        return spans
      }
    },
  }
}
