import { list } from '../../messages/format.ts'
import { t } from '../../messages/messages.ts'
import { addDays, type Day, dayText } from '../../messages/zone.ts'

const A_MONDAY: Day = '2024-01-01'
const CODES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const NAMED = new Set(['FREQ', 'INTERVAL', 'BYDAY', 'BYMONTHDAY', 'COUNT', 'UNTIL', 'WKST'])
const units = { DAILY: 'days', WEEKLY: 'weeks', MONTHLY: 'months', YEARLY: 'years' } as const

const dayName = (code: string) => dayText(addDays(A_MONDAY, CODES.indexOf(code)), { weekday: 'long' })
const isOrdinal = (place: number) => Number.isInteger(place) && place >= 1 && place <= 31

/** Which weekdays of a week, or which of a month: the second Tuesday, the last Friday. Null for what has no short words. */
function weekdayWords(codes: string[], isMonthly: boolean): string | null {
  const found = codes.map((code) => /^([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)$/.exec(code))
  const words = found.map((parts) => {
    const [, place, code = ''] = parts ?? []
    if (!parts || isMonthly !== (place !== undefined)) return null
    if (place === undefined) return { at: CODES.indexOf(code), text: dayName(code) }
    if (place === '-1') return { at: 99, text: t('repeat.lastOf', dayName(code)) }
    const nth = Number(place)
    return isOrdinal(nth) && nth <= 5 ? { at: nth, text: t('repeat.nthOf', nth, dayName(code)) } : null
  })
  const known = words.filter((word) => word !== null)
  return known.length === codes.length ? list(known.sort((a, b) => a.at - b.at).map(({ text }) => text)) : null
}

function dateWords(dates: string[]): string | null {
  const words = dates.map((date) => (date === '-1' ? t('repeat.lastDay') : isOrdinal(Number(date)) ? t('repeat.nth', Number(date)) : null))
  const known = words.filter((word) => word !== null)
  return known.length === dates.length ? list(known) : null
}

/** What a rule (RFC 5545, without its prefix) says in words, without until when; null for one too particular for that. */
export function ruleWords(rule: string): string | null {
  const parts = new Map(
    rule
      .toUpperCase()
      .split(';')
      .filter(Boolean)
      .map((part) => part.split('=', 2) as [string, string]),
  )
  const unit = units[parts.get('FREQ') as keyof typeof units]
  const every = Number(parts.get('INTERVAL') ?? 1)
  const times = Number(parts.get('COUNT') ?? 1)
  const [days, dates] = [parts.get('BYDAY')?.split(','), parts.get('BYMONTHDAY')?.split(',')]
  const whole = [every, times].every((count) => Number.isInteger(count) && count > 0)
  if (!unit || !whole || [...parts.keys()].some((name) => !NAMED.has(name))) return null
  if ((days && dates) || (days && unit !== 'weeks' && unit !== 'months') || (dates && unit !== 'months')) return null
  const which = days ? weekdayWords(days, unit === 'months') : dates ? dateWords(dates) : ''
  if (which === null) return null
  const often = t(`repeat.every.${unit}`, every)
  const said = which ? t('repeat.on', often, which) : often
  return parts.has('COUNT') ? t('repeat.times', said, times) : said
}
