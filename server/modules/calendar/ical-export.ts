import type { ICalEventData } from 'ical-generator'
import { DateTime } from 'luxon'
import type { Reader } from '../../db/rows.ts'
import { firstPass } from '../../kit/first-pass.ts'
import type { Pace } from '../../kit/pace.ts'
import type { Person } from '../household/household.contract.ts'
import { birthdayId, birthdayRule } from './birthdays.ts'
import type { CalendarEventRow } from './calendar.table.ts'
import { ownEvents, ownZones } from './event-rows.ts'
import { vtimezone } from './vtimezone.ts'

export interface Exported {
  name: string
  timezone: string
  persons: Person[]
}

const UTC = /^(?:etc\/)?(?:utc|uct|gmt|zulu|universal|greenwich)$/i
/** Few, since writing an event out takes a fraction of a millisecond, and at first several. */
const AT_ONCE = 5

/** Without control characters, which no calendar may hold. */
const clean = (text: string) => text.replaceAll('\r\n', '\n').replaceAll(/[^\P{Cc}\n\t]/gu, '')

/** UNTIL as it has to be beside the start: a date for whole days, else an instant. */
function withUntil(rule: string, { allDay, timezone }: CalendarEventRow): string {
  return rule.replace(/UNTIL=(\d{8})(?:T(\d{6})(Z?))?/, (_, date: string, time: string | undefined, utc: string) => {
    if (allDay) return `UNTIL=${date}`
    const zone = utc ? 'utc' : timezone
    const until = DateTime.fromFormat(`${date}${time ?? '235959'}`, 'yyyyMMddHHmmss', { zone })
    return `UNTIL=${until.toUTC().toFormat("yyyyMMdd'T'HHmmss'Z'")}`
  })
}

/** The rule and what was taken out, as lines. */
function repeating(row: CalendarEventRow): string | null {
  if (!row.recurrence) return null
  const starts = row.excluded.map((at) => DateTime.fromISO(at, { zone: row.timezone }))
  const excluded = row.allDay
    ? starts.map((at) => `EXDATE;VALUE=DATE:${at.toFormat('yyyyMMdd')}`)
    : starts.map((at) =>
        UTC.test(row.timezone)
          ? `EXDATE:${at.toUTC().toFormat("yyyyMMdd'T'HHmmss'Z'")}`
          : `EXDATE;TZID=${row.timezone}:${at.toFormat("yyyyMMdd'T'HHmmss")}`,
      )
  return [`RRULE:${withUntil(row.recurrence, row)}`, ...excluded].join('\n')
}

/** In UTC what comes once and falls into the second pass of an hour that the clocks go through twice, for which a local time cannot say so. */
function zoneOf({ startAt, endAt, allDay, recurrence, timezone }: CalendarEventRow): string {
  if (UTC.test(timezone)) return 'UTC'
  if (allDay || recurrence !== null) return timezone
  const isSecond = [startAt, endAt].map((at) => DateTime.fromISO(at, { zone: timezone })).some((at) => firstPass(at) !== at)
  return isSecond ? 'UTC' : timezone
}

/** Counts up by the seconds to the last change, since others ignore what does not count up. */
const sequenceOf = ({ createdAt, updatedAt }: CalendarEventRow): number =>
  Math.max(0, Math.ceil((Date.parse(updatedAt) - Date.parse(createdAt)) / 1_000))

function eventData(row: CalendarEventRow): ICalEventData {
  const zone = zoneOf(row)
  const at = (time: string) => DateTime.fromISO(time, { zone })
  return {
    id: row.id,
    summary: clean(row.title),
    start: at(row.startAt),
    end: at(row.endAt),
    allDay: row.allDay,
    timezone: zone === 'UTC' ? null : zone,
    sequence: sequenceOf(row),
    description: row.notes && clean(row.notes),
    location: row.location && clean(row.location),
    stamp: new Date(row.updatedAt),
    repeating: repeating(row),
  }
}

function birthdayData({ id, displayName }: Person, birthDate: string): ICalEventData {
  const start = DateTime.fromISO(birthDate, { zone: 'utc' })
  return {
    id: birthdayId(id),
    summary: clean(`${displayName}’s birthday`),
    start,
    end: start.plus({ days: 1 }),
    allDay: true,
    stamp: start,
    repeating: `RRULE:${birthdayRule(birthDate)}`,
  }
}

/** The zones that events are in, in the order in which they came to be in use. */
async function zonesUsed(db: Reader, pace: Pace): Promise<string[]> {
  const first = new Map<string, number>()
  for (const rows of ownZones(db)) {
    for (const { timezone, place } of rows) if (place < (first.get(timezone) ?? Number.POSITIVE_INFINITY)) first.set(timezone, place)
    await pace()
  }
  return [...first].toSorted(([, a], [, b]) => a - b).map(([timezone]) => timezone)
}

/** The household’s own events and birthdays as iCalendar, piece by piece. */
export async function* asICalendar(db: Reader, { name, timezone, persons }: Exported, pace: Pace): AsyncGenerator<string> {
  const { default: ical } = await import('ical-generator')
  const prodId = { company: 'hearth.example', product: 'Hearth' }
  const eventsText = (events: ICalEventData[]) => {
    const whole = ical({ prodId, events }).toString()
    return whole.slice(whole.indexOf('BEGIN:VEVENT'), whole.lastIndexOf('END:VCALENDAR'))
  }
  const zones = [...new Set([timezone, ...(await zonesUsed(db, pace))])].filter((zone) => !UTC.test(zone))
  const zoneTexts: string[] = []
  for (const zone of zones) zoneTexts.push(await vtimezone(zone, pace))
  const head = ical({
    prodId,
    name: clean(name),
    timezone: { name: timezone, generator: () => zoneTexts.join('\n') },
  }).toString()
  yield head.slice(0, head.lastIndexOf('END:VCALENDAR'))
  for (const rows of ownEvents(db, AT_ONCE)) {
    await pace()
    yield eventsText(rows.map(eventData))
  }
  await pace()
  const birthdays = persons.flatMap((person) => (person.birthDate ? [birthdayData(person, person.birthDate)] : []))
  if (birthdays.length > 0) yield eventsText(birthdays)
  yield 'END:VCALENDAR\r\n'
}
