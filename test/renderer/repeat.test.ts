import { RRule } from 'rrule'
import { expect, test } from 'vitest'
import { repeatWords } from '../../renderer/features/calendar/day-words.ts'
import { readRepeat, repeats, writeRepeat } from '../../renderer/features/calendar/repeat.ts'
import { ruleWords } from '../../renderer/features/calendar/rule-words.ts'

const ZONE = 'Europe/Berlin'
const START = '2026-11-24'

test.each(repeats.filter((kind) => kind !== 'none'))('%s is read as what it was written', (kind) => {
  for (const start of [START, '2026-01-31', '2024-02-29', '2026-01-28']) {
    for (const until of [null, '2027-03-05']) {
      for (const allDay of [false, true]) {
        const rule = writeRepeat({ kind, until }, start, ZONE, allDay) ?? ''
        expect(readRepeat(rule, start, ZONE)).toEqual({ kind, until })
        expect(() => RRule.fromString(`RRULE:${rule}`)).not.toThrow()
      }
    }
  }
})

test('what happens once has no rule', () => {
  expect(writeRepeat({ kind: 'none', until: null }, START, ZONE, false)).toBeNull()
  expect(readRepeat(undefined, START, ZONE)).toEqual({ kind: 'none', until: null })
})

test.each([
  ['FREQ=WEEKLY;BYDAY=TU', 'weekly'],
  ['FREQ=WEEKLY;BYDAY=WE', 'other'],
  ['INTERVAL=1;FREQ=WEEKLY;WKST=MO', 'weekly'],
  ['freq=weekly;byday=fr,th,we,tu,mo', 'weekdays'],
  ['FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR', 'weekdays'],
  ['FREQ=WEEKLY;INTERVAL=2;BYDAY=TU', 'fortnightly'],
  ['FREQ=WEEKLY;INTERVAL=3', 'other'],
  ['FREQ=MONTHLY;BYMONTHDAY=24', 'monthly'],
  ['FREQ=MONTHLY;BYMONTHDAY=25', 'other'],
  ['FREQ=MONTHLY;BYDAY=2TU', 'other'],
  ['FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=24', 'yearly'],
  ['FREQ=DAILY;COUNT=5', 'other'],
  ['nonsense', 'other'],
])('%s on a Tuesday, the 24th of November, is %s', (rule, kind) => {
  expect(readRepeat(rule, START, ZONE).kind).toBe(kind)
})

test('the last day counts whole, by the clock of the house', () => {
  const rule = writeRepeat({ kind: 'daily', until: '2026-11-30' }, START, 'America/New_York', false)
  expect(rule).toBe('FREQ=DAILY;UNTIL=20261201T045900Z')
  expect(readRepeat(rule ?? '', START, 'America/New_York').until).toBe('2026-11-30')
  expect(writeRepeat({ kind: 'daily', until: '2026-11-30' }, START, ZONE, true)).toBe('FREQ=DAILY;UNTIL=20261130')
})

test('what begins on the 31st comes in every month, on its last day', () => {
  const rule = writeRepeat({ kind: 'monthly', until: null }, '2026-01-31', ZONE, false)
  const days = RRule.fromString(`DTSTART:20260131T080000Z\nRRULE:${rule}`).all((_, index) => index < 4)
  expect(days.map((day) => day.toISOString().slice(0, 10))).toEqual(['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30'])
})

test('rules are said in words, and as they are where there are none', () => {
  const at = `${START}T09:00:00.000Z`
  expect(repeatWords('FREQ=WEEKLY', at, ZONE)).toBe('Every week')
  expect(repeatWords('FREQ=DAILY;UNTIL=20261130', at, ZONE)).toMatch(/^Every day until .*30.*2026|^Every day until .*2026/)
  expect(repeatWords('FREQ=YEARLY;BYWEEKNO=20', at, ZONE)).toBe('Repeats by a rule of its own')
  expect(repeatWords(undefined, at, ZONE)).toBe('')
})

test.each([
  ['FREQ=WEEKLY;BYDAY=SA,WE', 'Every week on Wednesday and Saturday'],
  ['FREQ=WEEKLY;INTERVAL=3', 'Every 3 weeks'],
  ['freq=weekly;interval=2;byday=we;wkst=su', 'Every 2 weeks on Wednesday'],
  ['FREQ=DAILY;COUNT=5', 'Every day, 5 times'],
  ['FREQ=YEARLY;INTERVAL=2', 'Every 2 years'],
  ['FREQ=MONTHLY;BYDAY=2TU', 'Every month on the 2nd Tuesday'],
  ['FREQ=MONTHLY;BYDAY=-1FR', 'Every month on the last Friday'],
  ['FREQ=MONTHLY;BYDAY=3WE,1MO', 'Every month on the 1st Monday and the 3rd Wednesday'],
  ['FREQ=MONTHLY;BYMONTHDAY=1,15', 'Every month on the 1st and the 15th'],
  ['FREQ=MONTHLY;BYMONTHDAY=-1', 'Every month on the last day'],
  ['FREQ=MONTHLY;BYMONTHDAY=-2', 'Every month on the 2nd to last day'],
  ['FREQ=MONTHLY;INTERVAL=3;BYDAY=-2MO', 'Every 3 months on the 2nd to last Monday'],
  ['FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1', 'Every month on the 1st Monday'],
  ['FREQ=MONTHLY;BYDAY=TU;BYSETPOS=-1', 'Every month on the last Tuesday'],
  ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', 'Every month on the last weekday, Monday to Friday'],
  ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1', 'Every month on the 1st weekday, Monday to Friday'],
  ['FREQ=MONTHLY;BYDAY=SU,MO,TU,WE,TH,FR,SA;BYSETPOS=-1', 'Every month on the last day'],
  ['FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1', 'Every month on the last day'],
  ['FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1', 'Every month on the 30th, or the last day of a shorter one'],
  ['FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13', 'Every month on Friday, when it is the 13th'],
  ['FREQ=MONTHLY;BYDAY=TU', 'Every month on every Tuesday'],
  ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU,WE,TH,FR', 'Every 2 weeks on weekdays, Monday to Friday'],
  ['FREQ=WEEKLY;BYDAY=SU,SA', 'Every week on Saturday and Sunday'],
  ['FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=10', 'Every weekday, Monday to Friday, 10 times'],
  ['FREQ=DAILY;BYDAY=SA', 'Every week on Saturday'],
  ['FREQ=DAILY;BYMONTHDAY=1', 'Every month on the 1st'],
  ['FREQ=YEARLY;BYMONTH=11;BYDAY=4TH', 'Every year on the 4th Thursday of November'],
  ['FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU', 'Every year on the last Sunday of March and October'],
  ['FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24', 'Every year on the 24th of December'],
  ['FREQ=YEARLY;INTERVAL=2;BYMONTHDAY=24,31;BYMONTH=12', 'Every 2 years on the 24th and the 31st of December'],
  ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1', 'Every year on the last day of February'],
  ['FREQ=YEARLY;BYMONTH=4,10', 'Every year in April and October'],
  ['FREQ=MONTHLY;BYMONTH=6,7;BYMONTHDAY=1', 'Every month on the 1st, in June and July only'],
  ['FREQ=WEEKLY;BYMONTH=6;BYDAY=SA', 'Every week on Saturday, in June only'],
  ['FREQ=DAILY;BYMONTH=12', 'Every day, in December only'],
  ['FREQ=YEARLY;BYDAY=1MO', 'Every year on the 1st Monday of the year'],
  ['FREQ=YEARLY;BYDAY=20MO', 'Every year on the 20th Monday of the year'],
  ['FREQ=HOURLY;INTERVAL=6', 'Every 6 hours'],
  ['FREQ=DAILY;COUNT=1', 'Every day, once'],
])('%s is “%s”', (rule, words) => {
  expect(ruleWords(rule)).toBe(words)
})

test.each([
  'nonsense',
  'FREQ=WEEKLY;BYDAY=2TU',
  'FREQ=WEEKLY;BYDAY=XX',
  'FREQ=MONTHLY;BYMONTHDAY=1;BYDAY=1TU',
  'FREQ=WEEKLY;INTERVAL=0',
  'FREQ=MONTHLY;BYDAY=TU,1FR',
  'FREQ=YEARLY;BYWEEKNO=20',
  'FREQ=YEARLY;BYYEARDAY=100',
  'FREQ=MONTHLY;BYMONTH=13',
  'FREQ=DAILY;INTERVAL=0',
  'FREQ=DAILY;BYHOUR=25',
  'FREQ=HOURLY;BYDAY=MO',
  'FREQ=MONTHLY;BYDAY=6MO',
  'FREQ=YEARLY;INTERVAL=2;BYMONTHDAY=1',
  'FREQ=WEEKLY;COUNT=x',
])('%s has no short words', (rule) => {
  expect(ruleWords(rule)).toBeNull()
})

test('times of day are said in order', () => {
  expect(ruleWords('FREQ=DAILY;BYHOUR=20,8;BYMINUTE=30')).toMatch(/^Every day at 0?8:30.* and (8:30|20:30)/)
  expect(ruleWords('FREQ=DAILY;BYHOUR=8;COUNT=3')).toMatch(/^Every day at 0?8.*, 3 times$/)
})

test('each occurrence is said to repeat alike, whatever day it is on', () => {
  const said = [START, '2026-11-25', '2026-12-02'].map((day) => repeatWords('FREQ=WEEKLY;BYDAY=WE', `${day}T09:00:00.000Z`, ZONE))
  expect(new Set(said)).toEqual(new Set(['Every week on Wednesday']))
})
