import { expect, test } from 'vitest'
import { byDays, fromWall, nextOccurrence, RecurrenceError, tidyRecurrence, toWall } from '../../server/kit/recurrence.ts'

const BERLIN = 'Europe/Berlin'

/** The next times of a rule as instants. */
function times(rule: string, startAt: string, count: number, { zone = BERLIN, after = startAt } = {}): string[] {
  const series = { rule: tidyRecurrence(rule), start: toWall(startAt, zone), zone }
  const found: string[] = []
  let from = toWall(after, zone)
  while (found.length < count) {
    const next = nextOccurrence(series, from)
    if (!next) break
    found.push(fromWall(next, zone))
    from = next
  }
  return found
}

test('eight in the morning stays eight in the morning when the clocks change', () => {
  expect(times('FREQ=DAILY', '2026-03-27T07:00:00.000Z', 3)).toEqual([
    '2026-03-28T07:00:00.000Z',
    '2026-03-29T06:00:00.000Z',
    '2026-03-30T06:00:00.000Z',
  ])
  expect(times('FREQ=WEEKLY;BYDAY=SU', '2026-10-18T06:00:00.000Z', 2)).toEqual(['2026-10-25T07:00:00.000Z', '2026-11-01T07:00:00.000Z'])
  const lordHowe = times('FREQ=DAILY', '2026-10-02T21:30:00.000Z', 2, { zone: 'Australia/Lord_Howe' })
  expect(lordHowe).toEqual(['2026-10-03T21:00:00.000Z', '2026-10-04T21:00:00.000Z'])
})

test('a time that the clocks go through twice is the first one', () => {
  expect(times('FREQ=DAILY', '2026-10-24T00:30:00.000Z', 2)).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z'])
  expect(times('FREQ=DAILY', '2026-10-31T05:30:00.000Z', 2, { zone: 'America/New_York' })).toEqual([
    '2026-11-01T05:30:00.000Z',
    '2026-11-02T06:30:00.000Z',
  ])
  const lordHowe = times('FREQ=DAILY', '2026-04-03T14:45:00.000Z', 2, { zone: 'Australia/Lord_Howe' })
  expect(lordHowe).toEqual(['2026-04-04T14:45:00.000Z', '2026-04-05T15:15:00.000Z'])
})

test.each([BERLIN, 'America/New_York', 'Australia/Lord_Howe', 'America/Havana', 'Africa/Casablanca', 'Pacific/Kiritimati', 'UTC'])(
  'in %s every time leads back to the first moment at which the clock shows it',
  (zone) => {
    let again = 0
    for (let at = Date.UTC(2026, 0); at < Date.UTC(2027, 0); at += 9.25 * 3_600_000) {
      const shown = toWall(new Date(at).toISOString(), zone)
      const instant = fromWall(shown, zone)
      expect(toWall(instant, zone)).toEqual(shown)
      expect(Date.parse(instant)).toBeLessThanOrEqual(at)
      if (Date.parse(instant) < at) again += 1
    }
    expect(again).toBeLessThanOrEqual(1) // at most once in a year one of these times falls into the hour that comes again
  },
)

test('a time that the change of clocks skips comes later on that day alone', () => {
  expect(times('FREQ=DAILY', '2026-03-28T01:30:00.000Z', 2)).toEqual(['2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z'])
})

test.each([
  ['FREQ=MONTHLY', '2026-01-31T11:00:00.000Z', '2026-02-01T00:00:00.000Z', ['2026-03-31T10:00:00.000Z', '2026-05-31T10:00:00.000Z']],
  ['FREQ=MONTHLY;BYDAY=-1FR', '2020-01-31T11:00:00.000Z', '2026-02-01T00:00:00.000Z', ['2026-02-27T11:00:00.000Z']],
  ['FREQ=YEARLY', '2024-02-29T11:00:00.000Z', '2026-02-01T00:00:00.000Z', ['2028-02-29T11:00:00.000Z', '2032-02-29T11:00:00.000Z']],
  ['FREQ=YEARLY', '2096-02-29T11:00:00.000Z', '2096-03-01T00:00:00.000Z', ['2104-02-29T11:00:00.000Z']],
  ['FREQ=DAILY;INTERVAL=3', '1990-01-01T11:00:00.000Z', '2026-02-01T00:00:00.000Z', ['2026-02-03T11:00:00.000Z']],
  [
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH',
    '2026-01-05T11:00:00.000Z',
    '2026-01-09T00:00:00.000Z',
    ['2026-01-19T11:00:00.000Z', '2026-01-22T11:00:00.000Z'],
  ],
  ['FREQ=HOURLY;INTERVAL=5', '2026-01-05T11:00:00.000Z', '2026-01-05T23:30:00.000Z', ['2026-01-06T02:00:00.000Z']],
  ['FREQ=DAILY;COUNT=3', '2026-01-05T11:00:00.000Z', '2026-01-05T11:00:00.000Z', ['2026-01-06T11:00:00.000Z', '2026-01-07T11:00:00.000Z']],
  [
    'FREQ=DAILY;UNTIL=20260107',
    '2026-01-05T11:00:00.000Z',
    '2026-01-05T11:00:00.000Z',
    ['2026-01-06T11:00:00.000Z', '2026-01-07T11:00:00.000Z'],
  ],
  ['FREQ=DAILY;UNTIL=20260107T105959Z', '2026-01-05T11:00:00.000Z', '2026-01-05T11:00:00.000Z', ['2026-01-06T11:00:00.000Z']],
])('%s from %s', (rule, startAt, after, expected) => {
  const isEnding = /COUNT|UNTIL/.test(rule)
  expect(times(rule, startAt, isEnding ? 9 : expected.length, { after })).toEqual(expected)
})

test.each([
  'FREQ=HOURLY;BYMONTH=12;BYDAY=TU',
  'FREQ=HOURLY;INTERVAL=8;BYMONTHDAY=-1',
  'FREQ=HOURLY;BYHOUR=5,6;BYMINUTE=30;BYWEEKNO=49',
  'FREQ=HOURLY;INTERVAL=24;BYDAY=MO;UNTIL=20270101',
])('%s by days comes when it comes by hours', (rule) => {
  const daily = byDays(rule, toWall('2026-11-21T21:10:00.000Z', BERLIN))
  expect(daily).toContain('FREQ=DAILY')
  expect(times(daily, '2026-11-21T21:10:00.000Z', 12)).toEqual(times(rule, '2026-11-21T21:10:00.000Z', 12))
})

test('the times of a day come in their order, however they are written', () => {
  expect(times('FREQ=DAILY;BYHOUR=17,8', '2026-11-21T12:00:00.000Z', 3)).toEqual([
    '2026-11-21T16:00:00.000Z',
    '2026-11-22T07:00:00.000Z',
    '2026-11-22T16:00:00.000Z',
  ])
})

test('the shortcut from long ago arrives where counting from the start does', () => {
  const rules = ['FREQ=DAILY;INTERVAL=4', 'FREQ=WEEKLY;INTERVAL=3', 'FREQ=MONTHLY;INTERVAL=5', 'FREQ=YEARLY;INTERVAL=2', 'FREQ=MONTHLY;BYMONTHDAY=-1', 'FREQ=YEARLY;BYDAY=1SU;BYMONTH=5'] // biome-ignore format: one line
  for (const rule of rules) {
    const startAt = '2021-03-31T08:15:00.000Z'
    const after = '2026-11-21T12:00:00.000Z'
    const counted = times(`${rule};COUNT=5000`, startAt, 3, { after })
    expect(times(rule, startAt, 3, { after }), rule).toEqual(counted)
    expect(counted, rule).toHaveLength(3)
  }
})

test.each([
  'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=WEEKLY;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYMONTH=2;BYSETPOS=366',
  'FREQ=DAILY;INTERVAL=7;BYDAY=TU',
  'FREQ=DAILY;COUNT=5000;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=HOURLY;BYHOUR=5;BYMONTH=2;BYMONTHDAY=30',
])('%s never happens, which is found out at once', (rule) => {
  const startedAt = performance.now()
  expect(times(rule, '2026-11-21T10:00:00.000Z', 1)).toEqual([])
  expect(times(rule, '1970-01-01T10:00:00.000Z', 1, { after: '2026-11-21T10:00:00.000Z' })).toEqual([])
  expect(performance.now() - startedAt).toBeLessThan(15_000) // it takes few milliseconds; looked for until the year 9999 it hangs
})

test.each([
  '',
  'RRULE:',
  'INTERVAL=2',
  'FREQ=SECONDLY',
  'FREQ=MINUTELY',
  'FREQ=SOMETIMES',
  'FREQ=DAILY;INTERVAL=0',
  'FREQ=DAILY;INTERVAL=-1',
  'FREQ=DAILY;COUNT=0',
  'FREQ=DAILY;COUNT=ten',
  'FREQ=DAILY;COUNT=2;UNTIL=20260101',
  'FREQ=DAILY;UNTIL=tomorrow',
  'FREQ=DAILY;UNTIL=20261399',
  'FREQ=DAILY;BYDAY=XX',
  'FREQ=DAILY;BYMONTH=13',
  'FREQ=DAILY;BYHOUR=24',
  'FREQ=DAILY;BYSETPOS=400',
  'FREQ=DAILY;FREQ=DAILY',
  'FREQ=DAILY;DTSTART=20260101',
  'FREQ=DAILY;;',
  'FREQ=DAILY\nEXDATE:20260101',
  'FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12;BYMINUTE=0,30',
  'FREQ=HOURLY;INTERVAL=24;BYHOUR=9',
  'FREQ=DAILY;BYSETPOS=1',
  'FREQ=DAILY;COUNT=5001',
  'FREQ=HOURLY;INTERVAL=5;BYMONTH=2',
  'every day',
])('%j is refused', (text) => {
  expect(() => tidyRecurrence(text)).toThrow(RecurrenceError)
})

test('the prefix and small letters are accepted', () => {
  expect(tidyRecurrence(' rrule:freq=weekly;byday=mo; ')).toBe('FREQ=WEEKLY;BYDAY=MO')
})
