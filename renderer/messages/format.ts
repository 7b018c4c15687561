/** The language of the text; numbers follow the reader's own locale. */
export const language = 'en'

/** For dates: the names of days and months in the language of the text, their order and the clock as where the reader lives. */
export function dateLocale(reader: string = navigator.language): string {
  try {
    const { region } = new Intl.Locale(reader).maximize()
    return region ? `${language}-${region}` : language
  } catch {
    return language // a system without a locale says "C", or "en-US@posix"
  }
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const rules = new Intl.PluralRules(language)

/** The form of a word that fits `count`, e.g. `plural(n, { one: 'device', other: 'devices' })`. */
export function plural(count: number, forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }): string {
  return forms[rules.select(count)] ?? forms.other
}

const places = new Intl.PluralRules(language, { type: 'ordinal' })
const endings: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' }

/** The place in a row as the language of the text writes it, e.g. `2nd`. */
export const ordinal = (place: number): string => `${place}${endings[places.select(place)] ?? 'th'}`

/** A number as the reader's locale writes it. */
export function number(value: number, options?: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(undefined, options).format(value)
}

/** A date and time as people write them where the reader lives, or the date alone. */
export function date(iso: string, style: 'date' | 'date-time' | 'time' = 'date-time'): string {
  const options: Intl.DateTimeFormatOptions = {
    ...(style === 'time' ? {} : { dateStyle: 'medium' }),
    ...(style === 'date' ? {} : { timeStyle: 'short' }),
  }
  return new Intl.DateTimeFormat(dateLocale(), options).format(new Date(iso))
}

/** "2 minutes ago" or "in 3 hours" up to a day, then the date. */
export function relative(iso: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000)
  const size = Math.abs(seconds)
  if (size >= DAY) return date(iso, size >= 300 * DAY ? 'date' : 'date-time')
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  if (size < MINUTE) return format.format(0, 'second')
  if (size < HOUR) return format.format(Math.round(seconds / MINUTE), 'minute')
  return format.format(Math.round(seconds / HOUR), 'hour')
}

/** Minutes and seconds that remain, e.g. `9:05`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  return `${Math.floor(whole / MINUTE)}:${String(whole % MINUTE).padStart(2, '0')}`
}

/** "a, b or c" and "a, b and c". */
export function list(items: string[], type: 'conjunction' | 'disjunction' = 'conjunction'): string {
  return new Intl.ListFormat(language, { type }).format(items)
}
