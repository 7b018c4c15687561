import { expect, test, vi } from 'vitest'
import { dateLocale } from '../../renderer/messages/format.ts'
import {
  addDays,
  addMonths,
  dayOf,
  daysBetween,
  dayText,
  firstWeekday,
  instant,
  startOfWeek,
  timeOf,
  timeText,
  weekday,
} from '../../renderer/messages/zone.ts'

test.each([
  ['Europe/Berlin', '2026-01-15', '08:00', '2026-01-15T07:00:00.000Z'],
  ['Europe/Berlin', '2026-07-15', '08:00', '2026-07-15T06:00:00.000Z'],
  ['America/New_York', '2026-03-08', '03:30', '2026-03-08T07:30:00.000Z'],
  ['Australia/Lord_Howe', '2026-07-01', '00:15', '2026-06-30T13:45:00.000Z'],
  ['Asia/Kathmandu', '2026-05-05', '23:59', '2026-05-05T18:14:00.000Z'],
  ['Pacific/Kiritimati', '2026-01-01', '00:00', '2025-12-31T10:00:00.000Z'],
  ['UTC', '2024-02-29', '12:34', '2024-02-29T12:34:00.000Z'],
])('in %s the clocks show %s %s at %s', (zone, day, time, at) => {
  expect(instant(day, time, zone)).toBe(at)
  expect([dayOf(at, zone), timeOf(at, zone)]).toEqual([day, time])
})

test.each([
  ['Europe/Berlin', '2026-03-29', '02:30', '03:30'],
  ['America/New_York', '2026-03-08', '02:30', '03:30'],
  ['Australia/Lord_Howe', '2026-10-04', '02:10', '02:40'],
])('in %s a time that is skipped on %s becomes the one after', (zone, day, skipped, shown) => {
  expect(timeOf(instant(day, skipped, zone), zone)).toBe(shown)
})

test.each([
  ['Europe/Berlin', '2026-10-25', '02:30', '2026-10-25T00:30:00.000Z'],
  ['America/New_York', '2026-11-01', '01:30', '2026-11-01T05:30:00.000Z'],
  ['Australia/Lord_Howe', '2026-04-05', '01:45', '2026-04-04T14:45:00.000Z'],
])('in %s a time that comes twice on %s is the first', (zone, day, twice, at) => {
  expect(instant(day, twice, zone)).toBe(at)
})

test('dates are written in the language of the text, ordered as where the reader lives', () => {
  const written = (reader: string) => new Intl.DateTimeFormat(dateLocale(reader), { dateStyle: 'full', timeStyle: 'short' }).format(0)
  expect([dateLocale('de-DE'), dateLocale('fr'), dateLocale('en-GB')]).toEqual(['en-DE', 'en-FR', 'en-GB'])
  expect([dateLocale('C'), dateLocale('en-US@posix')]).toEqual(['en', 'en'])
  expect(written('de-DE')).toMatch(/^Thursday,? 1 January 1970/)
  expect(written('en-US')).toMatch(/^Thursday, January 1, 1970/)
})

test('days and months are counted on the calendar, whatever the clocks do', () => {
  expect(addDays('2026-03-28', 2)).toBe('2026-03-30')
  expect(addDays('2024-03-01', -1)).toBe('2024-02-29')
  expect(addMonths('2026-01-31', 1)).toBe('2026-02-28')
  expect(addMonths('2024-01-31', 1)).toBe('2024-02-29')
  expect(addMonths('2026-01-15', -1)).toBe('2025-12-15')
  expect(addMonths('2026-12-31', 2)).toBe('2027-02-28')
  expect(daysBetween('2026-03-28', '2026-03-30')).toBe(2)
  expect(daysBetween('2026-11-21', '2026-11-20')).toBe(-1)
})

test('weeks begin where the reader’s do', () => {
  expect(weekday('2026-11-22')).toBe(7)
  expect(startOfWeek('2026-11-22', 1)).toBe('2026-11-16')
  expect(startOfWeek('2026-11-22', 7)).toBe('2026-11-22')
  expect(startOfWeek('2026-11-16', 1)).toBe('2026-11-16')
  expect([firstWeekday('en-GB'), firstWeekday('en-US')]).toEqual([1, 7])
})

test('hundreds of days and times are written with a format or two', () => {
  const made = vi.spyOn(Intl, 'DateTimeFormat')
  for (let at = 0; at < 400; at += 1) {
    const day = addDays('2026-11-21', at)
    dayText(day)
    dayText(day, { month: 'short', day: 'numeric' })
    timeText(`${day}T12:00:00Z`, 'Pacific/Auckland')
  }
  expect(made.mock.calls.length).toBeLessThanOrEqual(3)
  made.mockRestore()
})
