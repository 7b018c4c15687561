import type { DateTime } from 'luxon'
import type { Language } from './language.ts'
import type { Span } from './matcher.ts'
import { createPhrases } from './phrases.ts'
import type { WhenSpan } from './whens.ts'

/** A stretch of time, from `from` up to but not with `to`. */
export interface Period {
  from: DateTime
  to: DateTime
}

export interface PeriodSpan extends Span {
  value: Period
}

type Spoken = Language['words']['periods'][number]

function bounds({ span, offset }: Spoken, now: DateTime): Period {
  const today = now.startOf('day')
  if (span === 'days') return { from: now, to: today.plus({ days: offset + 1 }) }
  if (span === 'weekend') {
    const saturday = today.startOf('week').plus({ days: 5, weeks: offset })
    const monday = saturday.plus({ days: 2 })
    return { from: saturday < today ? today : saturday, to: monday }
  }
  const from = today.startOf(span).plus({ [`${span}s`]: offset })
  return { from, to: from.plus({ [`${span}s`]: 1 }) }
}

/** Reads stretches of time: `this weekend`, `next week`, and any day. */
export function createPeriods({ words }: Pick<Language, 'words'>) {
  const phrases = createPhrases(words.periods.flatMap((period) => period.words.map((said) => [said, period] as const)))
  const before = new Set(words.when.before)
  return {
    at(said: readonly string[], from: number, now: DateTime, whens: (from: number) => WhenSpan[]): PeriodSpan[] {
      let at = from
      while (before.has(said[at] ?? '')) at++
      const named = phrases.at(said, at) ?? phrases.at(said, from)
      const days = whens(from).flatMap(({ end, value }) => {
        if (!value.day || value.clock || value.recurrence) return []
        const start = now.set(value.day).startOf('day')
        const last = value.endDay ? now.set(value.endDay).startOf('day') : start
        return [{ end, value: { from: start, to: (last >= start ? last : start).plus({ days: 1 }) } }]
      })
      const spans = named ? [{ end: named.end, value: bounds(named.value, now) }, ...days] : days
      return spans.toSorted((a, b) => b.end - a.end)
    },
  }
}
