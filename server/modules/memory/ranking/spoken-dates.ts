/** A time that a question names, as local days YYYY-MM-DD, both included; without a year it is `--MM-DD` and fits any. */
export interface Period {
  from: string
  to: string
}

const DAY_MS = 86_400_000
/** One still speaks of what was up to a fortnight ago. */
const AFTERMATH_DAYS = 14

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MONTH = String.raw`(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?`
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`
const YEAR = String.raw`(?:,?\s+(?:of\s+)?((?:19|20)\d\d))?`

const ISO = /\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b/
const DAY_MONTH = new RegExp(String.raw`\b${DAY}\s+(?:of\s+)?${MONTH}\b${YEAR}`, 'i')
const MONTH_DAY = new RegExp(String.raw`\b${MONTH}\s+(?:the\s+)?${DAY}\b${YEAR}`, 'i')
/** A month alone needs a preposition or a year, as "may", "march" and "mar" are words besides. */
const MONTH_ALONE = new RegExp(
  String.raw`\b(?:(?:in|during|since|of|by|early|mid|late|last|this|next)[\s-]+${MONTH}\b${YEAR}|${MONTH}\s+((?:19|20)\d\d))`,
  'i',
)
const YEAR_ALONE = /\b((?:19|20)\d\d)\b/
const NEAR_DAY = /\b(today|tonight|yesterday|tomorrow)\b/i
const UNIT_NEAR = /\b(last|this|next|past)\s+(week|weekend|month|year)\b/i
const UNITS_AGO = /\b(an?|one|two|three|four|five|six|\d{1,3})\s+(day|week|month|year)s?\s+ago\b/i
const WEEKDAY = /\b(?:last|this|on|past)\s+(sun|mon|tue|wed|thu|fri|sat)(?:s|nes|rs|ur)?day\b/i
const NUMBERS = ['', 'one', 'two', 'three', 'four', 'five', 'six']

/** The local day of an instant, given the zone's minutes ahead of UTC. */
export const dayOf = (at: number, offsetMinutes: number): string => new Date(at + offsetMinutes * 60_000).toISOString().slice(0, 10)

const two = (value: number) => String(value).padStart(2, '0')
const moved = (day: string, days: number) => dayOf(Date.parse(day) + days * DAY_MS, 0)
const lengthOf = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate()
const monthOf = (name: string) => MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1

function month(name: string, year: string | undefined): Period {
  const at = monthOf(name)
  const head = `${year ?? '-'}-${two(at)}`
  return { from: `${head}-01`, to: `${head}-${two(lengthOf(Number(year ?? 2024), at))}` }
}

function exactDay(day: string, name: string, year: string | undefined): Period | null {
  const at = monthOf(name)
  if (Number(day) < 1 || Number(day) > lengthOf(Number(year ?? 2024), at)) return null
  const date = `${year ?? '-'}-${two(at)}-${two(Number(day))}`
  return { from: date, to: date }
}

/** The calendar unit that lies `back` units before today. */
function unit(kind: string, back: number, today: string): Period {
  const [year = 0, at = 1] = today.split('-').map(Number)
  if (kind === 'day') return { from: moved(today, -back), to: moved(today, -back) }
  if (kind === 'year') return { from: `${year - back}-01-01`, to: `${year - back}-12-31` }
  if (kind === 'month') {
    const first = new Date(Date.UTC(year, at - 1 - back, 1)).toISOString().slice(0, 7)
    const [inYear = 0, inMonth = 1] = first.split('-').map(Number)
    return { from: `${first}-01`, to: `${first}-${two(lengthOf(inYear, inMonth))}` }
  }
  const monday = moved(today, -((new Date(today).getUTCDay() + 6) % 7) - 7 * back)
  return { from: kind === 'weekend' ? moved(monday, 4) : monday, to: moved(monday, 6) }
}

/** The time that a question names ("in June", "last week", "on 5 July 2023"), seen from the local day `today`; null where none. */
export function periodIn(question: string, today: string): Period | null {
  const iso = ISO.exec(question)?.[0]
  if (iso && !Number.isNaN(Date.parse(iso))) return { from: iso, to: iso }
  const dayFirst = DAY_MONTH.exec(question)
  const monthFirst = MONTH_DAY.exec(question)
  if (dayFirst) return exactDay(dayFirst[1] ?? '', dayFirst[2] ?? '', dayFirst[3])
  if (monthFirst) return exactDay(monthFirst[2] ?? '', monthFirst[1] ?? '', monthFirst[3])
  const alone = MONTH_ALONE.exec(question)
  if (alone) return month(alone[1] ?? alone[3] ?? '', alone[2] ?? alone[4])
  const day = NEAR_DAY.exec(question)?.[1]?.toLowerCase()
  if (day) return unit('day', day === 'yesterday' ? 1 : day === 'tomorrow' ? -1 : 0, today)
  const near = UNIT_NEAR.exec(question)
  if (near) return unit(near[2]?.toLowerCase() ?? '', { this: 0, next: -1 }[near[1]?.toLowerCase() ?? ''] ?? 1, today)
  const ago = UNITS_AGO.exec(question)
  if (ago) {
    const said = ago[1]?.toLowerCase() ?? ''
    return unit(ago[2]?.toLowerCase() ?? '', Number(said) || Math.max(1, NUMBERS.indexOf(said)), today)
  }
  const weekday = WEEKDAY.exec(question)?.[1]?.toLowerCase()
  if (weekday) return unit('day', ((new Date(today).getUTCDay() - WEEKDAYS.indexOf(weekday) + 6) % 7) + 1, today)
  const year = YEAR_ALONE.exec(question)?.[1]
  return year ? { from: `${year}-01-01`, to: `${year}-12-31` } : null
}

/** How well a local day fits a time that was named: 1 within it, half in the fortnight after, when one still speaks of it. */
export function fitOf(day: string, { from, to }: Period): number {
  if (!from.startsWith('-')) return within(day, from, to)
  const year = Number(day.slice(0, 4))
  return Math.max(...[year - 1, year].map((inYear) => within(day, `${inYear}${from.slice(1)}`, `${inYear}${to.slice(1)}`)))
}

function within(day: string, from: string, to: string): number {
  if (day < from) return 0
  if (day <= to) return 1
  return (Date.parse(day) - Date.parse(to)) / DAY_MS <= AFTERMATH_DAYS ? 0.5 : 0
}
