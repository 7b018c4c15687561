import { expect, test } from 'vitest'
import { nameTaken, splitNames } from '../../renderer/features/household/names.ts'
import { countdown, durationWords, parseDuration, ringsWhen } from '../../renderer/features/timers/timer-words.ts'
import { dueWords, listTitle, splitItems } from '../../renderer/features/todos/todo-words.ts'

test.each([
  ['milk, eggs', 'shopping', ['milk', 'eggs']],
  ['milk; eggs;; ,', 'Shopping', ['milk', 'eggs']],
  ['1,5 l milk, 0,5 l cream', 'shopping', ['1,5 l milk', '0,5 l cream']],
  ['macaroni and cheese', 'groceries', ['macaroni and cheese']],
  ['牛乳、卵', 'shopping', ['牛乳', '卵']],
  ['Ring Mum, then Dad', '', ['Ring Mum, then Dad']],
  ['Guns, Germs, and Steel', 'books', ['Guns, Germs, and Steel']],
  ['   ', 'shopping', []],
  ['  ', '', []],
])('%j on the list %j becomes %j', (text, list, items) => {
  expect(splitItems(text, list)).toEqual(items)
})

test.each([
  ['10', 600_000],
  ['1:30', 90_000],
  ['1:02:30', 3_750_000],
  ['1 h 20 min', 4_800_000],
  ['1h20m', 4_800_000],
  ['90s', 90_000],
  ['2 hours', 7_200_000],
  ['1.5', 90_000],
  ['2,5 min', 150_000],
  ['45 seconds', 45_000],
  ['', null],
  ['soon', null],
  ['0', null],
  ['-5', null],
  ['5 bananas', null],
  ['1:99', null],
  ['999999999', null],
])('%j is a duration of %j ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test('durations are read and said', () => {
  expect(countdown(0)).toBe('0:00')
  expect(countdown(1)).toBe('0:01')
  expect(countdown(245_000)).toBe('4:05')
  expect(countdown(3_845_000)).toBe('1:04:05')
  expect(durationWords(600_000)).toBe('10 minutes')
  expect(durationWords(3_661_000)).toBe('1 hour 1 minute 1 second')
})

test('when it rings is said by the clock of the house', () => {
  const now = Date.parse('2026-11-21T22:30:00.000Z')
  expect(ringsWhen('2026-11-21T22:45:00.000Z', 'Europe/Berlin', now)).toMatch(/^at 11:45|^at 23:45/)
  expect(ringsWhen('2026-11-21T23:15:00.000Z', 'Europe/Berlin', now)).toMatch(/^tomorrow at/)
  expect(ringsWhen('2026-11-25T06:00:00.000Z', 'Europe/Berlin', now)).toMatch(/^on Wednesday/)
})

test('what is due says so, and what was due says that', () => {
  const now = Date.parse('2026-11-21T12:00:00.000Z')
  const todo = (dueAt: string) => ({ id: '', title: '', createdAt: '', dueAt })
  expect(dueWords(todo('2026-11-22T22:59:00.000Z'), 'Europe/Berlin', now)).toEqual({ text: 'due tomorrow', late: false })
  expect(dueWords(todo('2026-11-20T22:59:00.000Z'), 'Europe/Berlin', now)).toEqual({ text: 'was due yesterday', late: true })
  expect(dueWords(todo('2026-11-21T17:00:00.000Z'), 'Europe/Berlin', now)?.text).toMatch(/^due today at (18|6):00/)
  expect(dueWords({ id: '', title: '', createdAt: '' }, 'Europe/Berlin', now)).toBeNull()
})

test('lists are called by their names', () => {
  expect([listTitle(''), listTitle('SHOPPING'), listTitle('packing'), listTitle('été')]).toEqual(['To-dos', 'Shopping', 'Packing', 'Été'])
})

test('names between commas, each once', () => {
  expect(splitNames(' Mum, mum ; Granny  Ada,,')).toEqual(['mum', 'Granny Ada'])
  const person = { id: 'a', householdId: 'h', displayName: 'Ada', pronouns: '', role: 'adult' as const, aliases: [], birthDate: null }
  expect(nameTaken(' ADA ', [person])).toBe(true)
  expect(nameTaken('Ada', [person], person)).toBe(false)
})
