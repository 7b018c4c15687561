import { DateTime } from 'luxon'
import { fromWall } from '../../kit/recurrence.ts'
import type { Person } from '../household/household.contract.ts'
import type { CalendarEvent } from './calendar.contract.ts'
import { stableId } from './stable-id.ts'

/** Nobody is older; an earlier year is how some say that they do not know it. */
const FIRST_KNOWN_YEAR = 1900

export const birthdayId = (personId: string): string => stableId(`birthday of ${personId}`)

/** Once a year; the 29th of February on the last day of February. */
export const birthdayRule = (birthDate: string): string =>
  birthDate.endsWith('-02-29') ? 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1' : 'FREQ=YEARLY'

/** The birthday of a year, on the wall. */
function birthdayIn(year: number, birthDate: string): DateTime {
  const [, month = 1, day = 1] = birthDate.split('-').map(Number)
  const first = DateTime.utc(year, month)
  return first.set({ day: Math.min(day, first.daysInMonth ?? 28) })
}

function birthday({ id, displayName }: Person, birthDate: string, year: number, zone: string): CalendarEvent {
  const born = Number(birthDate.slice(0, 4))
  const day = birthdayIn(year, birthDate)
  const age = year > born && born >= FIRST_KNOWN_YEAR ? ` (${year - born})` : ''
  return {
    id: birthdayId(id),
    title: `${displayName}’s birthday${age}`,
    startAt: fromWall(day.toJSDate(), zone),
    endAt: fromWall(day.plus({ days: 1 }).toJSDate(), zone),
    allDay: true,
    personId: id,
    recurrence: birthdayRule(birthDate),
    kind: 'birthday',
  }
}

/** The birthdays that touch a time, of everyone whose date of birth is known; the day of birth itself is none. */
export function birthdaysBetween(persons: Person[], from: string, to: string, zone: string): CalendarEvent[] {
  const first = DateTime.fromISO(from, { zone }).year - 1
  const last = DateTime.fromISO(to, { zone }).year + 1
  const years = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  return persons.flatMap((person) => {
    const { birthDate } = person
    if (!birthDate) return []
    const past = years.filter((year) => year > Number(birthDate.slice(0, 4)))
    return past.map((year) => birthday(person, birthDate, year, zone)).filter(({ startAt, endAt }) => startAt < to && endAt > from)
  })
}

/** The birthday of this id as it begins: on the day of birth. */
export function findBirthday(persons: Person[], id: string, zone: string): CalendarEvent | null {
  const person = persons.find((one) => birthdayId(one.id) === id)
  return person?.birthDate ? birthday(person, person.birthDate, Number(person.birthDate.slice(0, 4)), zone) : null
}
