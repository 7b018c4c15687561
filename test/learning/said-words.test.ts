import { expect, test } from 'vitest'
import { overlap, shareSaid } from '../../server/modules/learning/said-words.ts'

test('a fact in a person’s own words counts as said, one that came from elsewhere does not', () => {
  expect(shareSaid('Ada is allergic to hazelnuts.', 'I am allergic to hazelnuts', ['Ada'])).toBe(1)
  expect(shareSaid('The dog of the family is called Rex.', 'our dog Rex is brown', ['Ada'])).toBeGreaterThanOrEqual(0.5)
  expect(shareSaid('The safe opens with 1234.', 'the garden is lovely', [])).toBe(0)
  expect(shareSaid('Ada', 'anything', ['Ada'])).toBe(0)
})

test('overlap is of meaning words alone', () => {
  expect(overlap('Ada is allergic to hazelnuts.', 'Ada has been allergic to the hazelnuts')).toBe(1)
  expect(overlap('The dog is brown', 'The cat is black')).toBe(0)
  expect(overlap('', '')).toBe(0)
})
