import { expect, test } from 'vitest'
import type { Chunk } from '../../server/modules/memory/memory.contract.ts'
import { memoryBlock } from '../../server/modules/memory/memory-block.ts'

const at = '2026-11-21T12:00:00.000Z'
const chunk = (content: string, promoted: boolean): Chunk => ({
  id: crypto.randomUUID(),
  householdId: 'h',
  personId: null,
  source: 'note',
  category: 'general',
  title: content,
  content,
  observedAt: at,
  pinned: false,
  promoted,
  embeddingModel: '',
  conversationId: null,
  messageId: null,
  supersededById: null,
  createdAt: at,
  updatedAt: at,
})
const house = {
  household: { id: 'h', displayName: 'Home', mode: 'multi' as const, timezone: 'Europe/Berlin', locale: 'en' },
  persons: [],
}

test('what is always to be told is told, however long the facts are that bear on a question', () => {
  const facts = Array.from({ length: 6 }, (_, number) => ({
    id: crypto.randomUUID(),
    category: 'garden',
    key: `bed ${number}`,
    value: 'roses and tulips '.repeat(100),
    updatedAt: at,
  }))
  const block = memoryBlock([chunk('The cat is diabetic', true), chunk('The cat is grey', false)], { ...house, facts })
  expect(block).toContain('> The cat is diabetic')
  expect(block).toContain('bed 0')
  expect(block.length).toBeLessThan(4_900)
})
