import type { Language } from './language.ts'
import type { Span } from './matcher.ts'
import type { NumberReader } from './numbers.ts'
import { createPhrases } from './phrases.ts'

export type DurationUnit = Language['words']['units'][number]['unit']

export interface Duration {
  ms: number
  /** As it was said, largest first: a day may have 23 hours. */
  parts: { amount: number; unit: DurationUnit }[]
}

export interface DurationSpan extends Span {
  value: Duration
}

const MS: Record<DurationUnit, number> = {
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
  months: 2_629_800_000,
  years: 31_557_600_000,
}
const MOST_PARTS = 4

export type DurationReader = ReturnType<typeof createDurations>

/** Reads durations: `1/2 a minute`, `one and a half hours`, `an hour and 15 minutes`, `90 secs`, `quarter of an hour`. */
export function createDurations({ words }: Pick<Language, 'words'>, numbers: NumberReader) {
  const units = createPhrases(words.units.flatMap(({ unit, each, words: names }) => names.map((name) => [name, { unit, each }] as const)))
  const ofUnit = new Set(words.ofUnit)
  const more = new Set(words.more)

  function quantity(said: readonly string[], from: number): { end: number; value: number } | null {
    const word = said[from] ?? ''
    const fraction = numbers.fractions.get(word)
    if (fraction !== undefined) return { end: from + 1, value: fraction }
    const number = numbers.at(said, from)
    if (number) {
      // `three quarters of an hour`
      const part = numbers.fractions.get((said[number.end] ?? '').replace(/s$/, ''))
      return part !== undefined && number.value > 1 ? { end: number.end + 1, value: number.value * part } : number
    }
    if (!numbers.one.has(word)) return null
    const part = numbers.fractions.get(said[from + 1] ?? '')
    return part === undefined ? { end: from + 1, value: 1 } : { end: from + 2, value: part }
  }

  function part(said: readonly string[], from: number): { end: number; amount: number; unit: DurationUnit } | null {
    const many = quantity(said, from)
    let at = many?.end ?? from
    if (many && many.value < 1) for (let skipped = 0; skipped < 2 && ofUnit.has(said[at] ?? ''); skipped++) at++
    if (many && more.has(said[at] ?? '')) at++
    const unit = units.at(said, at)
    if (!unit || (!many && unit.value.each === 1)) return null
    const amount = (many?.value ?? 1) * unit.value.each
    // `an hour and a half`
    if (many && numbers.and.has(said[unit.end] ?? '')) {
      let end = unit.end + 1
      if (numbers.one.has(said[end] ?? '')) end++
      const rest = numbers.fractions.get(said[end] ?? '')
      if (rest !== undefined && !units.at(said, end + 1) && !ofUnit.has(said[end + 1] ?? ''))
        return { end: end + 1, amount: amount + rest, unit: unit.value.unit }
    }
    return { end: unit.end, amount, unit: unit.value.unit }
  }

  /** `1h30`: a bare number behind whole hours. */
  function minutesBehind(said: readonly string[], at: number, parts: Duration['parts']) {
    const isBare = parts.length === 1 && parts[0]?.unit === 'hours' && /^[0-5]?\d$/.test(said[at] ?? '') && !part(said, at)
    return isBare && Number(said[at]) > 0 ? { end: at + 1, amount: Number(said[at]), unit: 'minutes' as const } : null
  }

  return {
    /** The durations that begin at a word, the longest first. */
    at(said: readonly string[], from: number): DurationSpan[] {
      const spans: DurationSpan[] = []
      const parts: Duration['parts'] = []
      let at = from
      for (let count = 0; count < MOST_PARTS; count++) {
        const next =
          minutesBehind(said, at, parts) ?? part(said, at) ?? (count > 0 && numbers.and.has(said[at] ?? '') ? part(said, at + 1) : null)
        if (!next || (count > 0 && MS[next.unit] >= MS[(parts.at(-1) as Duration['parts'][number]).unit])) break
        parts.push({ amount: next.amount, unit: next.unit })
        at = next.end
        const ms = Math.round(parts.reduce((sum, { amount, unit }) => sum + amount * MS[unit], 0))
        if (ms > 0) spans.unshift({ end: at, value: { ms, parts: [...parts] } })
      }
      return spans
    },
  }
}
