import { DateTime } from 'luxon'
import type { Language } from './language.ts'

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

export type Speech = ReturnType<typeof createSpeech>

/** Says things in a language, with the hours and numbers of the household's own kind of it. */
export function createSpeech({ language, replies }: Language, house: { locale: string; timezone: string }, now: () => Date) {
  const usual: Record<string, string> = { en: 'en-GB' }
  const locale = house.locale.toLowerCase().startsWith(language) ? house.locale : (usual[language] ?? language)
  const join = new Intl.ListFormat(locale, { type: 'conjunction' })
  const or = new Intl.ListFormat(locale, { type: 'disjunction' })
  const plural = new Intl.PluralRules(locale)
  const numbers = new Intl.NumberFormat(locale, { maximumSignificantDigits: 10 })
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
  const nearDay = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const at = (moment: string | Date) =>
    (typeof moment === 'string' ? DateTime.fromISO(moment) : DateTime.fromJSDate(moment)).setZone(house.timezone).setLocale(locale)

  /** `on Tuesday 24 November`, or `tomorrow`. */
  function day(moment: string | Date): string {
    const date = at(moment)
    const days = Math.round(date.startOf('day').diff(at(now()).startOf('day'), 'days').days)
    if (Math.abs(days) <= 1) return nearDay.format(days, 'day')
    const year = date.year === at(now()).year ? {} : ({ year: 'numeric' } as const)
    return say('on_day', { day: date.toLocaleString({ weekday: 'long', day: 'numeric', month: 'long', ...year }) })
  }

  function say(key: string, values: Readonly<Record<string, string | number>> = {}): string {
    const reply = replies[key]
    if (reply === undefined) throw new Error(`The language ${language} has no reply ${key}`)
    const { count } = values
    const text = typeof reply === 'string' ? reply : plural.select(Number(count ?? 0)) === 'one' ? reply.one : reply.other
    return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
  }

  return {
    language,
    say,
    has: (key: string) => key in replies,
    list: (items: readonly string[]) => join.format(items),
    either: (items: readonly string[]) => or.format(items),
    /** Whole numbers to the last digit, others to ten of them. */
    number: (value: number) => (Number.isSafeInteger(value) ? whole : numbers).format(value),
    /** `5 weeks and 6 days`. */
    weeks(days: number): string {
      const parts = [[Math.floor(days / 7), 'week'] as const, [days % 7, 'day'] as const].filter(([amount]) => amount > 0)
      return join.format(
        parts.map(([amount, unit]) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(amount)),
      )
    },
    day,
    time: (moment: string | Date, zone = house.timezone) => at(moment).setZone(zone).toLocaleString(DateTime.TIME_SIMPLE),
    date: (moment: string | Date, zone = house.timezone) =>
      at(moment).setZone(zone).toLocaleString({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
    /** A moment with its day: `tomorrow at 15:00`. */
    moment: (moment: string | Date) => say('day_at_time', { day: day(moment), time: at(moment).toLocaleString(DateTime.TIME_SIMPLE) }),
    duration(ms: number): string {
      let left = Math.max(1, Math.round(ms / 1_000)) * 1_000
      const parts = UNITS.flatMap(([unit, size]) => {
        const amount = Math.floor(left / size)
        left -= amount * size
        return amount > 0 ? [new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(amount)] : []
      })
      return join.format(parts.slice(0, 2))
    },
    now: () => at(now()),
  }
}
