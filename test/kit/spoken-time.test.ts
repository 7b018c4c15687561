import { expect, test } from 'vitest'
import { instantOf, spokenDuration, spokenList, spokenMoment } from '../../server/kit/spoken-time.ts'

const berlin = { timezone: 'Europe/Berlin', locale: 'de-DE' }
const newYork = { timezone: 'America/New_York', locale: 'en-US' }
const now = new Date('2026-11-21T22:30:00.000Z')

test.each([
  [250_000, '4 minutes 10 seconds'],
  [1_000, '1 second'],
  [3_600_000, '1 hour'],
  [3_601_000, '1 hour'],
  [90_000_000, '1 day 1 hour'],
  [59_999, '1 minute'],
  [0, 'less than a second'],
])('%d ms are %s', (ms, words) => {
  expect(spokenDuration(ms)).toBe(words)
})

test('moments are said in the household’s zone', () => {
  expect(spokenMoment('2026-11-21T22:45:00.000Z', berlin, now)).toBe('today at 23:45')
  expect(spokenMoment('2026-11-21T23:15:00.000Z', berlin, now)).toBe('tomorrow at 00:15')
  expect(spokenMoment('2026-11-20T23:15:00.000Z', berlin, now)).toBe('today at 00:15')
  expect(spokenMoment('2026-11-20T22:15:00.000Z', berlin, now)).toBe('yesterday at 23:15')
  expect(spokenMoment('2026-11-24T14:00:00.000Z', berlin, now)).toBe('on Tuesday 24 November at 15:00')
  expect(spokenMoment('2027-02-01T14:00:00.000Z', berlin, now)).toBe('on Monday 1 February 2027 at 15:00')
  expect(spokenMoment('2026-11-21T23:15:00.000Z', newYork, now)).toMatch(/^today at 6:15\sPM$/)
})

test('a written time without an offset is the household’s', () => {
  expect(instantOf('2026-11-24T15:00', berlin)).toBe('2026-11-24T14:00:00.000Z')
  expect(instantOf('2026-11-24T15:00:00+05:00', berlin)).toBe('2026-11-24T10:00:00.000Z')
  expect(instantOf('soon', berlin)).toBeNull()
})

test('lists are said with an and', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(spokenList)).toEqual(['', 'a', 'a and b', 'a, b and c'])
})

test('a written time that the clock shows twice is the first one; with an offset it is as it is written', () => {
  const place = { timezone: 'Europe/Berlin', locale: 'en-GB' }
  expect(instantOf('2027-10-31T02:30', place)).toBe('2027-10-31T00:30:00.000Z')
  expect(instantOf('2027-10-31T02:30:00+01:00', place)).toBe('2027-10-31T01:30:00.000Z')
  expect(instantOf('2027-10-31T01:30:00Z', place)).toBe('2027-10-31T01:30:00.000Z')
  expect(instantOf('2027-07-31T02:30', place)).toBe('2027-07-31T00:30:00.000Z')
  expect(instantOf('soon', place)).toBeNull()
})
