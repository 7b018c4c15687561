import { DateTime, Duration, IANAZone } from 'luxon'
import ical from 'node-ical'
import { firstPass } from '../../kit/first-pass.ts'
import { fromWall, RecurrenceError, tidyRecurrence, toWall } from '../../kit/recurrence.ts'
import type { CalendarEventRow } from './calendar.table.ts'
import { MAX_EVENT_DAYS } from './event-times.ts'
import { type Block, blocksOf, IcsError } from './ics-blocks.ts'
import { beginsAt, firstSpan, lastEndOf } from './occurrences.ts'

/** What is kept of an event of another calendar. */
export type OutsideEvent = Pick<
  CalendarEventRow,
  'title' | 'startAt' | 'endAt' | 'allDay' | 'location' | 'notes' | 'recurrence' | 'timezone' | 'excluded' | 'lastEndAt'
>

export const MAX_OUTSIDE_EVENTS = 5_000
const MAX_EXCLUDED = 1_000
const MAX_MORE = 1_000
/** What is over for longer is not taken along. */
const KEPT_DAYS = 2 * 366
const DAY_MS = 86_400_000

/** A date as node-ical gives it. */
type IcalDate = Date & { tz?: string; dateOnly?: boolean }
type ParseLines = (lines: string[], batchSize: number, event: object, stack: object[]) => Record<string, unknown>

const parseLines = ical.parseLines as ParseLines

interface Place {
  /** The household’s zone, for whole days and times without one. */
  zone: string
  /** The calendar’s own names of zones. */
  zones: Map<string, string>
}

interface Read {
  uid: string
  /** When it takes place besides. */
  more: string[]
  /** The occurrence that this one takes the place of. */
  instead: string | null
  isCancelled: boolean
  sequence: number
  event: Omit<OutsideEvent, 'lastEndAt'>
}

const zonesSeen = new Map<string, boolean>()
const MAX_ZONES_SEEN = 1_000

/** Whether a zone is known by this name; asking the runtime takes a millisecond. */
function isZone(name: string | undefined): name is string {
  if (!name) return false
  const seen = zonesSeen.get(name) ?? IANAZone.isValidZone(name)
  if (zonesSeen.size < MAX_ZONES_SEEN) zonesSeen.set(name, seen)
  return seen
}

/** The name by which a zone is known elsewhere too, as far as can be told; else the household’s zone. */
function knownZone(tzid: string, { zone, zones }: Place): string {
  const parts = tzid.split('/')
  const isSpelledOut = /[ ,(+\d]/.test(tzid) // as Windows does, or an offset, which the reader knows
  return [tzid, zones.get(tzid), parts.slice(-3).join('/'), parts.slice(-2).join('/')].find(isZone) ?? (isSpelledOut ? tzid : zone)
}

/** A line of dates whose zone is one that is known, or the household’s where it has none. */
function zonedLine(line: string, place: Place): string {
  const name = /^[A-Z-]+/i.exec(line)?.[0].toUpperCase() ?? ''
  const value = line.slice(line.lastIndexOf(':') + 1).trim()
  const [, quoted, plain] = /;TZID=(?:"([^"]{1,200})"|([^";:]{1,200}))/i.exec(line) ?? []
  if (/;VALUE=DATE(?=[;:])/i.test(line) || /^\d{8}(?:,|$)/.test(value)) return `${name};VALUE=DATE:${value}`
  if (value.endsWith('Z')) return `${name}:${value}`
  const tzid = knownZone(quoted ?? plain ?? place.zone, place)
  return `${name};TZID=${tzid.includes(':') ? `"${tzid}"` : tzid}:${value}`
}

const textOf = (value: unknown, max: number): string => {
  const text = typeof value === 'object' && value !== null && 'val' in value ? value.val : value
  return typeof text === 'string'
    ? text
        .slice(0, max)
        .toWellFormed()
        .replaceAll(/[^\P{Cc}\n\t]/gu, '')
        .trim()
    : ''
}

/** As the reader has it, but of an hour that the clocks go through twice the first one. */
function dateOf(value: unknown): IcalDate | null {
  if (!(value instanceof Date) || !Number.isFinite(value.getTime())) return null
  const { tz, dateOnly }: IcalDate = value
  if (dateOnly || !isZone(tz)) return value
  return Object.assign(firstPass(DateTime.fromJSDate(value, { zone: tz })).toJSDate(), { tz })
}

/** The dates of lines that have lists of them; of a period its start. The reader knows such lists as EXDATE alone. */
function datesOf(lines: readonly string[], place: Place): IcalDate[] {
  return lines.flatMap((line) => {
    const starts = line.replaceAll(/(\d{8}T\d{6}Z?)\/[^,]*/g, '$1')
    const { exdate } = parseLines([zonedLine(starts, place).replace(/^[A-Z-]+/i, 'EXDATE')], 0, {}, [{}])
    return Object.values((exdate ?? {}) as Record<string, unknown>).flatMap((date) => dateOf(date) ?? [])
  })
}

/** A whole day, in fields of UTC. */
const dayOf = (date: IcalDate) => new Date(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()))

function endOf(startAt: string, allDay: boolean, end: Date | null, duration: string): string {
  const lasted = duration ? Duration.fromISO(duration.trim().replace(/^\+/, '')) : null
  const usual = allDay ? DAY_MS : 0
  const start = Date.parse(startAt)
  const given = end ? end.getTime() : start + (lasted?.isValid ? lasted.toMillis() : usual)
  return new Date(Math.min(Math.max(given, start + usual), start + MAX_EVENT_DAYS * DAY_MS)).toISOString()
}

function ruleOf(line: string | undefined): string | null {
  if (!line) return null
  try {
    return tidyRecurrence(line.slice(line.indexOf(':') + 1).slice(0, 500))
  } catch (error) {
    if (error instanceof RecurrenceError) return null // what cannot be counted is shown once
    throw error
  }
}

/** How an occurrence is known that is named by its start, or by its day alone. */
function occurrenceKey(date: IcalDate, event: Pick<OutsideEvent, 'startAt' | 'allDay' | 'timezone'>): string {
  if (!date.dateOnly && !event.allDay) return date.toISOString()
  const day = date.dateOnly ? dayOf(date) : toWall(date.toISOString(), event.timezone)
  const timeMs = event.allDay ? 0 : toWall(event.startAt, event.timezone).getTime() % DAY_MS
  return fromWall(new Date(Math.floor(day.getTime() / DAY_MS) * DAY_MS + timeMs), event.timezone)
}

function readBlock(block: Block, place: Place): Read | null {
  const texts = ['UID', 'SUMMARY', 'DESCRIPTION', 'LOCATION', 'STATUS', 'SEQUENCE'].flatMap((name) => block.get(name)?.slice(0, 1) ?? [])
  const dates = ['DTSTART', 'DTEND', 'RECURRENCE-ID'].flatMap((name) => block.get(name)?.slice(0, 1) ?? [])
  const lines = [...texts, ...dates.map((line) => zonedLine(line, place))]
  const read = parseLines(lines, 0, {}, [{}])
  const [start, end, instead] = [read.start, read.end, read.recurrenceid].map(dateOf)
  if (!start || start.getUTCFullYear() < 1900 || start.getUTCFullYear() > 2200) return null
  const allDay = start.dateOnly === true
  const timezone = !allDay && isZone(start.tz) ? start.tz : place.zone
  const startAt = allDay ? fromWall(dayOf(start), timezone) : start.toISOString()
  const ends = end?.dateOnly ? new Date(fromWall(dayOf(end), timezone)) : (end ?? null)
  const duration = block.get('DURATION')?.[0]
  const timing = { startAt, allDay, timezone }
  const startsOf = (name: string) => [...new Set(datesOf(block.get(name) ?? [], place).map((date) => occurrenceKey(date, timing)))]
  return {
    uid: textOf(read.uid, 1_000),
    more: instead ? [] : startsOf('RDATE').slice(0, MAX_MORE),
    instead: instead ? occurrenceKey(instead, timing) : null,
    isCancelled: textOf(read.status, 20).toUpperCase() === 'CANCELLED',
    sequence: Number(read.sequence) || 0,
    event: {
      ...timing,
      title: textOf(read.summary, 300) || 'Without a title',
      endAt: endOf(startAt, allDay, ends, duration ? duration.slice(duration.indexOf(':') + 1) : ''),
      location: textOf(read.location, 500) || null,
      notes: textOf(read.description, 20_000) || null,
      recurrence: instead ? null : ruleOf(block.get('RRULE')?.[0]),
      excluded: startsOf('EXDATE').slice(0, MAX_EXCLUDED),
    },
  }
}

function readSafely(block: Block, place: Place): Read[] {
  try {
    const read = readBlock(block, place)
    return read ? [read] : []
  } catch {
    return [] // one that cannot be read does not spoil the others
  }
}

/** Takes out of each series what other events stand in for. */
function withoutReplaced(all: Read[]): Read[] {
  const known = new Map<string, Read>()
  for (const [at, read] of all.entries()) {
    const key = read.uid ? `${read.uid} ${read.instead ?? ''}` : `#${at}`
    if ((known.get(key)?.sequence ?? -1) <= read.sequence) known.set(key, read)
  }
  for (const { uid, instead } of known.values()) {
    const series = instead && known.get(`${uid} `)?.event
    if (series && series.excluded.length < MAX_EXCLUDED) series.excluded.push(instead)
  }
  return [...known.values()].filter(({ isCancelled }) => !isCancelled)
}

/** What takes place besides the rule, each time an event of its own, since a series has no place for it. */
function besides({ event, more }: Read, lastEndAt: string | null): Omit<OutsideEvent, 'lastEndAt'>[] {
  const { startAt, endAt, recurrence, excluded, timezone } = event
  const lastsMs = Date.parse(endAt) - Date.parse(startAt)
  const isShown = (at: string) => at === startAt || (recurrence !== null && beginsAt({ ...event, lastEndAt }, at, timezone))
  return more
    .filter((at) => !excluded.includes(at) && !isShown(at))
    .map((at) => {
      const alone = { ...event, startAt: at, endAt: new Date(Date.parse(at) + lastsMs).toISOString(), recurrence: null, excluded: [] }
      return { ...alone, ...firstSpan(alone, timezone) }
    })
}

/** The events of a calendar in the iCalendar format, without those long over. Throws {@link IcsError}. */
export async function readICalendar(text: string, zone: string, now: Date): Promise<OutsideEvent[]> {
  const { events, zones } = blocksOf(text.replace(/^\uFEFF/, ''))
  const place = { zone, zones }
  const read = withoutReplaced(events.flatMap((block) => readSafely(block, place)))
  const since = DateTime.fromJSDate(now).minus({ days: KEPT_DAYS }).toUTC().toISO() ?? ''
  const kept: OutsideEvent[] = []
  const keep = (event: OutsideEvent) => {
    if (event.lastEndAt !== null && event.lastEndAt < since) return
    kept.push(event)
    if (kept.length > MAX_OUTSIDE_EVENTS) throw new IcsError(`has more than ${MAX_OUTSIDE_EVENTS} events`)
  }
  for (const one of read) {
    const { event, more } = one
    const lastEndAt = await lastEndOf(event)
    const isFirstOut = more.length > 0 && event.recurrence === null && event.excluded.includes(event.startAt)
    if (!isFirstOut) keep({ ...event, lastEndAt })
    for (const besideIt of besides(one, lastEndAt)) keep({ ...besideIt, lastEndAt: besideIt.endAt })
  }
  return kept
}
