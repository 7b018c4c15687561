import { expect, test } from 'vitest'
import { proseOf } from '../../renderer/features/chat/prose-of.ts'
import type { ToolCall } from '../../server/modules/chat/chat.contract.ts'

const call: ToolCall = { id: 'c', name: 'open_door', params: {}, status: 'asking', output: null, question: 'May I do this: “Open door”?' }

test('the question that a card asks is not read twice', () => {
  expect(proseOf('Gladly.\n\nMay I do this: “Open door”?', [call])).toBe('Gladly.')
  expect(proseOf('May I do this: “Open door”?', [call])).toBe('')
})

test('whatever else is said stays', () => {
  expect(proseOf('May I do this: “Open door”?', [])).toBe('May I do this: “Open door”?')
  expect(proseOf('May I do this: “Open door”? I did.', [call])).toBe('May I do this: “Open door”? I did.')
  const { question: _, ...unasked } = call
  expect(proseOf('Gladly.', [unasked])).toBe('Gladly.')
})
