import { type Day, dayOf, instant, weekday } from '../../messages/zone.ts'

export const repeats = ['none', 'daily', 'weekdays', 'weekly', 'fortnightly', 'monthly', 'yearly'] as const
/** What the forms offer, and `other` for a rule that was made elsewhere. */
export type RepeatKind = (typeof repeats)[number] | 'other'

export interface Repeat {
  kind: RepeatKind
  /** The last day it may happen on; null for ever. */
  until: Day | null
  /** Of `other`, as it was made. */
  rule?: string
}

const WEEKDAYS = 'MO,TU,WE,TH,FR'
const CODES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']

/** The end of a month for things that begin on its 29th, 30th or 31st, which shorter months lack. */
const lastDays = (day: number) => Array.from({ length: day - 27 }, (_, index) => 28 + index).join(',')

const dayOfMonth = (start: Day) => Number(start.slice(8))
const monthRule = (start: Day) =>
  dayOfMonth(start) > 28 ? `FREQ=MONTHLY;BYMONTHDAY=${lastDays(dayOfMonth(start))};BYSETPOS=-1` : 'FREQ=MONTHLY'

/** What a kind is written as for something that begins on `start`, first as we write it, then as others do. */
function spellings(kind: RepeatKind, start: Day): string[] {
  const code = CODES[weekday(start) - 1]
  const date = dayOfMonth(start)
  const month = Number(start.slice(5, 7))
  return {
    none: [],
    other: [],
    daily: ['FREQ=DAILY'],
    weekdays: [`FREQ=WEEKLY;BYDAY=${WEEKDAYS}`, `FREQ=DAILY;BYDAY=${WEEKDAYS}`],
    weekly: ['FREQ=WEEKLY', `FREQ=WEEKLY;BYDAY=${code}`],
    fortnightly: ['FREQ=WEEKLY;INTERVAL=2', `FREQ=WEEKLY;INTERVAL=2;BYDAY=${code}`],
    monthly: [monthRule(start), 'FREQ=MONTHLY', `FREQ=MONTHLY;BYMONTHDAY=${date}`],
    yearly: ['FREQ=YEARLY', `FREQ=YEARLY;BYMONTH=${month};BYMONTHDAY=${date}`],
  }[kind]
}

/** Parts in an order of their own, without what is the default anyway. */
const sorted = (rule: string) =>
  rule
    .toUpperCase()
    .split(';')
    .filter((part) => part !== '' && part !== 'INTERVAL=1' && !part.startsWith('WKST='))
    .map((part) => (part.startsWith('BYDAY=') ? `BYDAY=${part.slice(6).split(',').sort().join(',')}` : part))
    .sort()
    .join(';')

function readUntil(text: string, zone: string): Day | null {
  const parts = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/.exec(text)
  if (!parts) return null
  const [, year, month, day, hour, minute, second, utc] = parts
  const date = `${year}-${month}-${day}`
  return hour && utc ? dayOf(`${date}T${hour}:${minute}:${second}Z`, zone) : date
}

/** What a rule means for something that begins on `start`. */
export function readRepeat(rule: string | undefined, start: Day, zone: string): Repeat {
  if (!rule) return { kind: 'none', until: null }
  const parts = rule.split(';')
  const until = readUntil(parts.find((part) => /^UNTIL=/i.test(part))?.slice(6) ?? '', zone)
  const rest = sorted(parts.filter((part) => !/^UNTIL=/i.test(part)).join(';'))
  const kind = repeats.find((candidate) => spellings(candidate, start).some((spelling) => sorted(spelling) === rest))
  return kind ? { kind, until } : { kind: 'other', until, rule }
}

/** A rule (RFC 5545, without its prefix) for something that begins on `start`; null for what happens once. */
export function writeRepeat({ kind, until, rule: own }: Repeat, start: Day, zone: string, allDay: boolean): string | null {
  if (kind === 'other') return own ?? null
  const [rule] = spellings(kind, start)
  if (!rule) return null
  return until ? `${rule};UNTIL=${allDay ? until.replaceAll('-', '') : endOf(until, zone)}` : rule
}

const endOf = (day: Day, zone: string) => `${instant(day, '23:59', zone).replaceAll(/[-:]|\.\d+/g, '')}`
