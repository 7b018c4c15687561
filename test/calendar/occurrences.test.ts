import { expect, test } from 'vitest'
import { tidyRecurrence } from '../../server/kit/recurrence.ts'
import { beginsAt, lastEndOf, occurrencesOf } from '../../server/modules/calendar/occurrences.ts'

const ZONE = 'Europe/Berlin'
const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, at) => at + from).join(',')
const WEEK = 'MO,TU,WE,TH,FR,SA,SU'
const HOURS = upTo(24, 0)

const timing = (recurrence: string, startAt: string, lastsDays = 0.04) => ({
  startAt,
  endAt: new Date(Date.parse(startAt) + lastsDays * 86_400_000).toISOString(),
  allDay: false,
  recurrence,
  timezone: ZONE,
  excluded: [],
  lastEndAt: null,
})

/** Rules that come never or hardly ever, or cost as much as a rule can. */
const NASTY = [
  ...['HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'].map((freq) => `FREQ=${freq};BYMONTH=2;BYMONTHDAY=30`),
  'FREQ=HOURLY;BYWEEKNO=53;BYMONTH=6',
  'FREQ=HOURLY;INTERVAL=2;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=HOURLY;INTERVAL=5;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=HOURLY;INTERVAL=1000;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=HOURLY;BYHOUR=5;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=HOURLY;COUNT=5000;BYMONTH=1;BYMONTHDAY=1;BYHOUR=1',
  'FREQ=HOURLY',
  `FREQ=DAILY;BYHOUR=${HOURS}`,
  'FREQ=DAILY;INTERVAL=7;BYDAY=TU',
  'FREQ=DAILY;BYYEARDAY=1;BYMONTH=12',
  'FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2',
  `FREQ=WEEKLY;BYSETPOS=${upTo(366)}`,
  'FREQ=MONTHLY;BYDAY=5MO;BYMONTH=2;BYMONTHDAY=28',
  `FREQ=MONTHLY;BYDAY=${WEEK};BYHOUR=${HOURS};BYSETPOS=366`,
  `FREQ=YEARLY;BYDAY=${WEEK};BYHOUR=${HOURS};BYMONTH=2;BYMONTHDAY=30`,
  `FREQ=YEARLY;BYDAY=${WEEK};BYHOUR=${HOURS};BYSETPOS=${upTo(366)}`,
  `FREQ=YEARLY;BYMONTH=${upTo(12)};BYMONTHDAY=${upTo(31)};BYHOUR=${HOURS};BYSETPOS=${upTo(366)}`,
  `FREQ=YEARLY;BYYEARDAY=${upTo(366)};BYMONTH=2;BYMONTHDAY=30`,
  `FREQ=YEARLY;BYDAY=${WEEK};BYMONTH=2;BYSETPOS=366`,
  'FREQ=YEARLY;BYDAY=53MO',
  'FREQ=YEARLY;INTERVAL=1000;BYMONTH=2;BYMONTHDAY=30',
]

test.each(NASTY)('%s is read in small steps, wherever one looks', (rule) => {
  let longest = 0
  for (const startAt of ['2026-11-21T10:00:00.000Z', '1950-01-01T10:00:00.000Z'])
    for (const lastsDays of [0.04, 400])
      for (const [from, to] of [
        ['2026-12-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z'],
        ['2199-01-01T00:00:00.000Z', '2199-12-01T00:00:00.000Z'],
      ] as const) {
        const steps = occurrencesOf(timing(rule, startAt, lastsDays), from, to, ZONE)
        for (let done = false; !done; ) {
          const beganAt = performance.now()
          done = steps.next().done === true
          longest = Math.max(longest, performance.now() - beganAt)
        }
      }
  expect(longest).toBeLessThan(15_000) // a step takes few milliseconds; one that looks for ever hangs
})

test.each(NASTY)('the end of %s is found', async (rule) => {
  const beganAt = performance.now()
  await lastEndOf(timing(rule, '1950-01-01T10:00:00.000Z'))
  expect(performance.now() - beganAt).toBeLessThan(20_000)
})

test.each([
  ['FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30', 40],
  ['FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30', 40],
  ['FREQ=WEEKLY;BYMONTH=2;BYMONTHDAY=30', 20],
  ['FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30', 4],
  ['FREQ=HOURLY;COUNT=5000;BYMONTH=1;BYMONTHDAY=1;BYHOUR=1', 300],
])('while the end of %s is looked for others have %i turns at least', async (rule, least) => {
  let turns = 0
  let counting = setImmediate(function count() {
    turns += 1
    counting = setImmediate(count)
  })
  await lastEndOf(timing(rule, '1950-01-01T10:00:00.000Z'))
  clearImmediate(counting)
  expect(turns).toBeGreaterThanOrEqual(least)
})

test('hours of some days are looked at by days, and hours that drift are refused', () => {
  expect(() => tidyRecurrence('FREQ=HOURLY;INTERVAL=5;BYMONTH=2')).toThrow(/hours that are others each day/)
  const steps = [...occurrencesOf(timing('FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30', '2026-11-21T10:00:00.000Z', 400), '2027-11-01T00:00:00.000Z', '2028-12-01T00:00:00.000Z', ZONE)] // biome-ignore format: one line
  expect(steps.filter((step) => step !== null)).toHaveLength(1) // its own start
  expect(steps.length).toBeLessThan(10) // by hours these would be some fifty
})

test('what was set for the second pass of an hour stays there, what comes again comes in the first', () => {
  const second = timing('FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU', '2026-10-25T01:30:00.000Z')
  const all = (event: typeof second) =>
    [...occurrencesOf(event, '2026-10-01T00:00:00.000Z', '2027-12-01T00:00:00.000Z', ZONE)].flatMap((span) => span?.startAt ?? [])
  expect(all(second)).toEqual(['2026-10-25T01:30:00.000Z', '2027-10-31T00:30:00.000Z'])
  expect(all({ ...second, recurrence: null as never })).toEqual(['2026-10-25T01:30:00.000Z'])
  expect(beginsAt(second, '2026-10-25T01:30:00.000Z', ZONE)).toBe(true)
  expect(all({ ...second, excluded: ['2026-10-25T01:30:00.000Z'] as never[] })).toEqual(['2027-10-31T00:30:00.000Z'])
})

test('an occurrence is found by its start, and neither one taken out nor one after the last', () => {
  const daily = timing('FREQ=DAILY', '2026-11-21T10:00:00.000Z', 300)
  expect(beginsAt(daily, '2026-12-24T10:00:00.000Z', ZONE)).toBe(true)
  expect(beginsAt(daily, '2026-12-24T10:00:01.000Z', ZONE)).toBe(false)
  expect(beginsAt(daily, '2026-11-20T10:00:00.000Z', ZONE)).toBe(false)
  expect(beginsAt({ ...daily, excluded: ['2026-12-24T10:00:00.000Z'] as never[] }, '2026-12-24T10:00:00.000Z', ZONE)).toBe(false)
  expect(beginsAt({ ...daily, lastEndAt: '2026-12-01T00:00:00.000Z' as never }, '2026-12-24T10:00:00.000Z', ZONE)).toBe(false)
  expect(beginsAt({ ...daily, recurrence: null as never }, '2026-11-21T10:00:00.000Z', ZONE)).toBe(true)
})
