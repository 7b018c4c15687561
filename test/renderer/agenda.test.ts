import { expect, test } from 'vitest'
import { byDay, entryTime, periodOf, spanOf, step, weeksIn } from '../../renderer/features/calendar/agenda.ts'
import type { CalendarEvent } from '../../server/modules/calendar/calendar.contract.ts'

const ZONE = 'Europe/Berlin'

const event = (title: string, startAt: string, endAt: string, more: Partial<CalendarEvent> = {}): CalendarEvent => ({
  id: `00000000-0000-4000-8000-${title.length.toString().padStart(12, '0')}`,
  title,
  startAt,
  endAt,
  allDay: false,
  kind: 'event',
  ...more,
})

test('the periods of the views, and the way from one to the next', () => {
  expect(periodOf('agenda', '2026-11-21', 1)).toEqual({ from: '2026-11-21', to: '2026-12-21' })
  expect(periodOf('week', '2026-11-21', 1)).toEqual({ from: '2026-11-16', to: '2026-11-23' })
  expect(periodOf('month', '2026-11-21', 1)).toEqual({ from: '2026-10-26', to: '2026-12-07' })
  expect(periodOf('month', '2026-02-10', 7)).toEqual({ from: '2026-02-01', to: '2026-03-01' })
  expect(weeksIn(periodOf('month', '2026-11-21', 1)).map((week) => week.length)).toEqual([7, 7, 7, 7, 7, 7])
  expect(step('month', '2026-01-31', 1)).toBe('2026-02-01')
  expect(step('week', '2026-11-21', -1)).toBe('2026-11-14')
  expect(step('agenda', '2026-11-21', 1)).toBe('2026-12-21')
})

test('an event stands on every day it lasts, and not on the one at whose midnight it ends', () => {
  const period = { from: '2026-11-20', to: '2026-11-27' }
  const trip = event('Trip', '2026-11-21T12:00:00.000Z', '2026-11-23T09:00:00.000Z')
  const night = event('Night', '2026-11-24T20:00:00.000Z', '2026-11-24T23:00:00.000Z')
  const day = event('All day', '2026-11-24T23:00:00.000Z', '2026-11-25T23:00:00.000Z', { allDay: true })
  const days = byDay([trip, night, day], period, ZONE)
  expect([...days].map(([date, entries]) => [date, entries.map((entry) => entry.event.title)]).sort()).toEqual([
    ['2026-11-21', ['Trip']],
    ['2026-11-22', ['Trip']],
    ['2026-11-23', ['Trip']],
    ['2026-11-24', ['Night']],
    ['2026-11-25', ['All day']],
  ])
  const times = ['2026-11-21', '2026-11-22', '2026-11-23'].map((date) => entryTime(days.get(date)?.[0] as never, ZONE))
  expect(times[0]).toMatch(/1(3)?:00/)
  expect(times[1]).toBe('All day')
  expect(times[2]).toMatch(/^until 10:00/)
})

test('what lasts all day comes first, then by time', () => {
  const period = { from: '2026-11-21', to: '2026-11-22' }
  const late = event('Late', '2026-11-21T18:00:00.000Z', '2026-11-21T19:00:00.000Z')
  const early = event('Early one', '2026-11-21T07:00:00.000Z', '2026-11-21T07:00:00.000Z')
  const birthday = event('Birthday of Ada', '2026-11-20T23:00:00.000Z', '2026-11-21T23:00:00.000Z', { allDay: true, kind: 'birthday' })
  const entries = byDay([late, early, birthday], period, ZONE).get('2026-11-21') ?? []
  expect(entries.map((entry) => entry.event.title)).toEqual(['Birthday of Ada', 'Early one', 'Late'])
})

test('an event that began long before is not counted through day by day from there', () => {
  const period = { from: '2026-11-21', to: '2026-11-22' }
  const age = event('Ice age', '0001-01-01T00:00:00.000Z', '9000-01-01T00:00:00.000Z')
  expect([...byDay([age], period, ZONE).keys()]).toEqual(['2026-11-21'])
})

test('a moment without length is on its day', () => {
  expect(spanOf({ startAt: '2026-11-20T23:00:00.000Z', endAt: '2026-11-20T23:00:00.000Z' }, ZONE)).toEqual({
    first: '2026-11-21',
    last: '2026-11-21',
  })
})
