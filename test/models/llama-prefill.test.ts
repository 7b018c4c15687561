import { expect, test } from 'vitest'
import { nextSlice } from '../../server/modules/models/llama/llama-prefill.ts'

test.each([
  ['grows with a quick machine, one step at a time', 64, 10, 128],
  ['is as large as fits into 200 ms', 512, 190, 512],
  ['shrinks when it took too long', 512, 800, 128],
  ['stays worthwhile on a slow machine', 64, 900, 64],
  ['becomes small where even that takes too long', 64, 1_600, 16],
  ['grows again from there', 16, 100, 64],
])('a slice of a prompt %s', (_how, tokens, ms, expected) => {
  expect(nextSlice(tokens, ms)).toBe(expected)
})
