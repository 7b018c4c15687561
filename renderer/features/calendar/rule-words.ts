import { dateLocale, list } from '../../messages/format.ts'
import { t } from '../../messages/messages.ts'
import { addDays, type Day, dayText } from '../../messages/zone.ts'

const A_MONDAY: Day = '2024-01-01'
const CODES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const WORKDAYS = 'MO,TU,WE,TH,FR'
const WEEKEND = 'SA,SU'
const SHORTEST_MONTH = 28
const NAMED = ['FREQ', 'INTERVAL', 'BYDAY', 'BYMONTHDAY', 'BYMONTH', 'BYSETPOS', 'BYHOUR', 'BYMINUTE', 'COUNT', 'UNTIL', 'WKST']
const units = { HOURLY: 'hours', DAILY: 'days', WEEKLY: 'weeks', MONTHLY: 'months', YEARLY: 'years' } as const
type Unit = (typeof units)[keyof typeof units]
type Parts = ReadonlyMap<string, string>

/** A rule, or a part of one, that has no short words. */
class Exotic extends Error {}

function numbers(parts: Parts, name: string, least: number, most: number): number[] | null {
  const found = parts.get(name)?.split(',').map(Number) ?? null
  if (found?.some((value) => !Number.isInteger(value) || value === 0 || Math.abs(value) > most || value < least)) throw new Exotic()
  return found?.sort((a, b) => rank(a) - rank(b)) ?? null
}

/** What is counted from the end comes after what is counted from the beginning. */
const rank = (place: number) => (place < 0 ? 1000 + place : place)
const dayName = (code: string) => dayText(addDays(A_MONDAY, CODES.indexOf(code)), { weekday: 'long' })
const monthName = (month: number) => dayText(`2024-${String(month).padStart(2, '0')}-15`, { month: 'long' })
const inOrder = (codes: string[]) => codes.toSorted((a, b) => CODES.indexOf(a) - CODES.indexOf(b))

function placeOf(place: number, thing: string): string {
  if (place === -1) return t('repeat.lastOf', thing)
  return place < 0 ? t('repeat.toLastOf', -place, thing) : t('repeat.nthOf', place, thing)
}

const dateOf = (date: number) => (date < 0 ? placeOf(date, t('repeat.day')) : t('repeat.nth', date))

/** The weekdays of a rule, each with its place in the month or year where it has one. */
function readDays(text: string): { place: number | null; code: string }[] {
  return text.split(',').map((day) => {
    const [, place, code] = /^([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)$/.exec(day) ?? []
    if (!code) throw new Exotic()
    return { place: place === undefined ? null : Number(place), code }
  })
}

/** One of several weekdays, such as the working days. */
function oneOf(codes: string[]): string {
  const ordered = inOrder(codes)
  if (ordered.length === CODES.length) return t('repeat.day')
  if (ordered.join() === WORKDAYS) return t('repeat.workday')
  if (ordered.join() === WEEKEND) return t('repeat.weekendDay')
  return list(ordered.map(dayName), 'disjunction')
}

/** On which days of a week. */
function ofWeek(parts: Parts): string {
  const codes = readDays(parts.get('BYDAY') ?? '').map(({ place, code }) => {
    if (place !== null) throw new Exotic()
    return code
  })
  const ordered = inOrder(codes)
  return ordered.join() === WORKDAYS ? t('repeat.workdays') : list(ordered.map(dayName))
}

/** On which weekdays of a month or year: every Tuesday, the second Tuesday, the last working day. */
function weekdaysOf(text: string, places: number[] | null, most: number): string {
  const days = readDays(text)
  const codes = days.filter(({ place }) => place === null).map(({ code }) => code)
  if (codes.length === days.length) {
    return places ? list(places.map((place) => placeOf(place, oneOf(codes)))) : t('repeat.everyOf', list(inOrder(codes).map(dayName)))
  }
  const placed = days.map(({ place, code }) => ({ place: place ?? 0, code }))
  if (places || codes.length > 0 || placed.some(({ place }) => place === 0 || Math.abs(place) > most)) throw new Exotic()
  placed.sort((a, b) => rank(a.place) - rank(b.place) || CODES.indexOf(a.code) - CODES.indexOf(b.code))
  return list(placed.map(({ place, code }) => placeOf(place, dayName(code))))
}

/** On which dates of a month; the last of the 28th and those after it is how shorter months are meant. */
function datesOf(dates: number[], places: number[] | null): string {
  if (!places) return list(dates.map(dateOf))
  const isRow = dates.every((date, index) => date === SHORTEST_MONTH + index)
  if (places.join() !== '-1' || !isRow) throw new Exotic()
  const most = dates.at(-1) ?? 0
  return most === 31 ? dateOf(-1) : t('repeat.orLastDay', dateOf(most))
}

/** On which days of a month or year; empty where that is the one on which it began. */
function ofMonth(parts: Parts, unit: Unit): string {
  const days = parts.get('BYDAY')
  const dates = numbers(parts, 'BYMONTHDAY', -31, 31)
  const places = numbers(parts, 'BYSETPOS', -366, 366)
  if (days && dates) {
    if (places) throw new Exotic()
    return t('repeat.whenDate', ofWeek(parts), list(dates.map(dateOf), 'disjunction'))
  }
  if (days) return weekdaysOf(days, places, unit === 'years' && !parts.has('BYMONTH') ? 53 : 5)
  if (dates) return datesOf(dates, places)
  if (places) throw new Exotic()
  return ''
}

/** How often something is that a rule says by what it leaves out: every day but only on Saturdays is every week on Saturday. */
function unitOf(parts: Parts, every: number): Unit | undefined {
  const unit = units[parts.get('FREQ') as keyof typeof units]
  if (unit === 'days' && (parts.has('BYDAY') || parts.has('BYMONTHDAY'))) {
    if (every > 1) throw new Exotic()
    return parts.has('BYMONTHDAY') ? 'months' : 'weeks'
  }
  if (unit === 'years' && parts.has('BYMONTHDAY') && !parts.has('BYMONTH')) {
    if (every > 1) throw new Exotic()
    return 'months'
  }
  return unit
}

function timesOf(parts: Parts): string {
  const read = (name: string, most: number) =>
    parts
      .get(name)
      ?.split(',')
      .map(Number)
      .filter((value) => value >= 0 && value <= most)
  const [hours, minutes] = [read('BYHOUR', 23), read('BYMINUTE', 59)]
  if (!hours?.length || (minutes && minutes.length === 0)) throw new Exotic()
  const said = (hour: number, minute: number | undefined) =>
    new Intl.DateTimeFormat(dateLocale(), {
      hour: 'numeric',
      ...(minute === undefined ? {} : { minute: '2-digit' }),
      timeZone: 'UTC',
    }).format(Date.UTC(2024, 0, 1, hour, minute ?? 0))
  const sorted = hours.toSorted((a, b) => a - b)
  return list(
    sorted.flatMap((hour) => (minutes ? minutes.toSorted((a, b) => a - b).map((minute) => said(hour, minute)) : [said(hour, undefined)])),
  )
}

function whole(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Exotic()
  return value
}

function said(parts: Parts): string {
  const every = whole(parts.get('INTERVAL') ?? '1')
  const unit = unitOf(parts, every)
  const days = parts.has('BYDAY')
  if (!unit || [...parts.keys()].some((name) => !NAMED.includes(name))) throw new Exotic()
  if ((unit === 'hours' || unit === 'weeks') && (parts.has('BYMONTHDAY') || parts.has('BYSETPOS'))) throw new Exotic()
  if ((unit === 'hours' && (days || parts.has('BYHOUR'))) || (unit === 'days' && parts.has('BYSETPOS'))) throw new Exotic()
  const months = numbers(parts, 'BYMONTH', 1, 12)?.map(monthName)
  const which = unit === 'weeks' ? (days ? ofWeek(parts) : '') : unit === 'months' || unit === 'years' ? ofMonth(parts, unit) : ''
  const often = t(`repeat.every.${unit}`, every)
  const isWorkdays = unit === 'weeks' && every === 1 && which === t('repeat.workdays')
  const on = (words: string) => (isWorkdays ? t('repeat.weekdays') : words === '' ? often : t('repeat.on', often, words))
  const inMonths = () => {
    if (unit !== 'years') return months ? t('repeat.onlyIn', on(which), list(months)) : on(which)
    if (which === '') return months ? t('repeat.inMonths', often, list(months)) : often
    return on(months ? t('repeat.ofMonths', which, list(months)) : t('repeat.ofYear', which))
  }
  const timed = parts.has('BYHOUR') ? t('repeat.atTimes', inMonths(), timesOf(parts)) : inMonths()
  if (parts.has('BYMINUTE') && !parts.has('BYHOUR')) throw new Exotic()
  return parts.has('COUNT') ? t('repeat.times', timed, whole(parts.get('COUNT') ?? '')) : timed
}

/** What a rule (RFC 5545, without its prefix) says in words, without until when; null for one too particular for that. */
export function ruleWords(rule: string): string | null {
  const pairs = rule
    .toUpperCase()
    .split(';')
    .filter(Boolean)
    .map((part) => part.split('=', 2) as [string, string])
  try {
    return said(new Map(pairs))
  } catch (error) {
    if (error instanceof Exotic) return null
    throw error
  }
}
