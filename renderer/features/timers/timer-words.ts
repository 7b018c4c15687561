import type { Timer } from '../../../server/modules/timers/timers.contract.ts'
import { language } from '../../messages/format.ts'
import { t } from '../../messages/messages.ts'
import { addDays, dayOf, dayText, timeText } from '../../messages/zone.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** What remains as a clock shows it, `4:05` or `1:04:05`; a second that has begun counts. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / SECOND))
  const two = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

/** "1 hour 20 minutes"; parts of a second are left out. */
export function durationWords(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / SECOND))
  const parts = [
    [Math.floor(seconds / 3600), 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second'],
  ] as const
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count))
    .join(' ')
}

const UNITS: Record<string, number> = { h: HOUR, m: MINUTE, s: SECOND }
const PART = /(\d+(?:[.,]\d+)?)\s*(h|m|s)[a-z]*\.?\s*/giy
/** The longest the server takes. */
const MAX_MS = 366 * 24 * HOUR

/** Milliseconds of a duration as people type it: `10` are minutes, `1:30` minutes and seconds, `1:02:30`, `1 h 20 min`, `90s`; else null. */
export function parseDuration(text: string): number | null {
  const ms = readDuration(text.trim())
  return ms !== null && ms >= SECOND && ms <= MAX_MS ? Math.round(ms) : null
}

function readDuration(text: string): number | null {
  if (/^\d+([.,]\d+)?$/.test(text)) return Number(text.replace(',', '.')) * MINUTE
  const clock = /^(?:(\d{1,3}):)?(\d{1,3}):([0-5]\d)$/.exec(text)
  if (clock) {
    const [, hours = '0', minutes = '0', seconds = '0'] = clock
    return Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND
  }
  let ms = 0
  let at = 0
  while (at < text.length) {
    PART.lastIndex = at
    const part = PART.exec(text)
    if (!part) return null
    ms += Number((part[1] ?? '').replace(',', '.')) * (UNITS[(part[2] ?? '').toLowerCase()] ?? 0)
    at = PART.lastIndex
  }
  return at > 0 ? ms : null
}

/** What a timer is called where it has no name of its own. */
export const timerName = ({ name, kind, durationMs }: Pick<Timer, 'name' | 'kind' | 'durationMs'>): string =>
  name || (kind === 'alarm' ? t('timers.unnamedAlarm') : t('timers.unnamed', durationWords(durationMs)))

/** "at 14:05", "tomorrow at 7:00" or with the day, by the clock of the house. */
export function ringsWhen(at: string, zone: string, now = Date.now()): string {
  const [day, today, time] = [dayOf(at, zone), dayOf(now, zone), timeText(at, zone)]
  if (day === today) return t('timers.today', time)
  return day === addDays(today, 1) ? t('timers.tomorrow', time) : t('timers.onDay', dayText(day), time)
}
