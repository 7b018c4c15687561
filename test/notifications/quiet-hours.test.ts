import { expect, test } from 'vitest'
import { quietUntil } from '../../server/modules/notifications/quiet-hours.ts'

const ZONE = 'Europe/Berlin'
const until = (from: string, to: string, at: string, zone = ZONE) => {
  const end = quietUntil({ from, to }, zone, Date.parse(at))
  return end === null ? null : new Date(end).toISOString()
}

test('it is quiet from the first minute to the last, over midnight too', () => {
  expect(until('22:00', '06:30', '2026-11-20T21:59:59+01:00')).toBeNull()
  expect(until('22:00', '06:30', '2026-11-20T22:00:00+01:00')).toBe('2026-11-21T05:30:00.000Z')
  expect(until('22:00', '06:30', '2026-11-21T00:00:00+01:00')).toBe('2026-11-21T05:30:00.000Z')
  expect(until('22:00', '06:30', '2026-11-21T06:29:59+01:00')).toBe('2026-11-21T05:30:00.000Z')
  expect(until('22:00', '06:30', '2026-11-21T06:30:00+01:00')).toBeNull()
  expect(until('13:00', '15:00', '2026-11-21T14:00:00+01:00')).toBe('2026-11-21T14:00:00.000Z')
  expect(until('13:00', '15:00', '2026-11-21T15:00:00+01:00')).toBeNull()
  expect(until('00:00', '23:59', '2026-11-21T23:59:30+01:00')).toBeNull()
})

test('hours from a time to itself are none', () => {
  expect(until('08:00', '08:00', '2026-11-21T08:00:00+01:00')).toBeNull()
})

test('it goes by the household’s clock, wherever that is', () => {
  expect(until('22:00', '06:00', '2026-11-20T17:00:00Z', 'Asia/Kathmandu')).toBe('2026-11-21T00:15:00.000Z')
  expect(until('22:00', '06:00', '2026-11-20T17:00:00Z', 'America/New_York')).toBeNull()
})

test('the nights of the change of clocks are an hour shorter and longer', () => {
  expect(until('22:00', '06:00', '2026-03-28T23:00:00+01:00')).toBe('2026-03-29T04:00:00.000Z')
  expect(until('22:00', '06:00', '2026-10-24T23:00:00+02:00')).toBe('2026-10-25T05:00:00.000Z')
  // Half past two is twice.
  expect(until('22:00', '02:45', '2026-10-25T01:30:00Z')).toBe('2026-10-25T01:45:00.000Z')
  expect(until('22:00', '02:30', '2026-03-29T01:10:00+01:00')).toBe('2026-03-29T01:30:00.000Z')
})
