import { expect, test } from 'vitest'
import { closest } from '../../server/kit/closest.ts'

const find = (wanted: string, names: string[]) => closest(wanted, names, (name) => name)

test.each([
  ['milk', ['Almond milk', 'Milk'], 'Milk'],
  ['the milk', ['eggs', 'milk'], 'milk'],
  ['milk', ['Almond milk from the farm', 'Oat milk'], 'Oat milk'],
  ['tomato', ['potatoes', 'tomatoes'], 'tomatoes'],
  ['tomatos', ['potatoes', 'tomatoes'], 'tomatoes'],
  ['creme brulee', ['Crème brûlée'], 'Crème brûlée'],
  ['🥚', ['🥛', '🥚'], '🥚'],
  ['tea', ['steak'], null],
  ['milk', ['bread'], null],
  ['🥚', ['eggs'], null],
  ['', ['eggs'], null],
  ['(.*)+$', ['eggs'], null],
])('“%s” among %j', (wanted, names, expected) => {
  expect(find(wanted, names)).toBe(expected)
})

test('a thousand long names are looked through in no time', () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `${at} ${'long name '.repeat(40)}`)
  const startedAt = performance.now()
  expect(find('x'.repeat(5_000), names)).toBeNull()
  expect(performance.now() - startedAt).toBeLessThan(10_000)
})
