import type { Household } from '../household/household.contract.ts'

/** A date as our English sentences say it, “12 March”, in the household’s zone; with the year where it is another one. */
export function dayInWords(at: string, { timezone, locale }: Pick<Household, 'timezone' | 'locale'>, now = new Date()): string {
  const zone = { timeZone: timezone } as const
  const language = locale.toLowerCase().startsWith('en-') ? locale : 'en-GB'
  const yearOf = (date: Date) => new Intl.DateTimeFormat('en', { ...zone, year: 'numeric' }).format(date)
  const date = new Date(at)
  return new Intl.DateTimeFormat(language, {
    ...zone,
    day: 'numeric',
    month: 'long',
    ...(yearOf(date) !== yearOf(now) && { year: 'numeric' }),
  }).format(date)
}
