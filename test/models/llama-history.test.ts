import { describe, expect, test } from 'vitest'
import { alternating, fitHistory } from '../../server/modules/models/llama/llama-history.ts'
import type { LlmMessage } from '../../server/modules/models/llm.ts'
import { assistant, system, user } from './llm-harness.ts'

/** One token per character. */
const count = {
  whole: (messages: readonly LlmMessage[]) => messages.reduce((sum, { content }) => sum + content.length, 0),
  one: ({ content }: LlmMessage) => content.length,
}
const turn = (index: number) => [user(`q${index}`.padEnd(10, '.')), assistant(`a${index}`.padEnd(10, '.'))]
const turns = (howMany: number) => Array.from({ length: howMany }, (_, index) => turn(index)).flat()
const soul = system('s'.repeat(20))

describe('fitting a history', () => {
  test('changes nothing where everything fits', () => {
    const messages = [soul, ...turns(3), user('now')]
    expect(fitHistory(messages, 1000, count)).toEqual(messages)
  })

  test('drops whole turns from the old end, never system or last', () => {
    const kept = fitHistory([soul, ...turns(50), user('now')], 200, count)
    expect(kept[0]).toEqual(soul)
    expect(kept.at(-1)).toEqual(user('now'))
    expect(kept[1]?.role).toBe('user')
    expect(kept.at(-2)).toEqual(turn(49)[1])
    expect(count.whole(kept)).toBeLessThanOrEqual(200)
    expect(count.whole(kept)).toBeGreaterThan(100)
  })

  test('moves its beginning in steps, not with every turn', () => {
    const starts = Array.from({ length: 40 }, (_, index) => fitHistory([soul, ...turns(20 + index), user('now')], 200, count)[1]?.content)
    expect(new Set(starts).size).toBeLessThanOrEqual(40 / 2)
    for (const [index, start] of starts.entries())
      if (index > 0) expect(Number(start?.match(/\d+/))).toBeGreaterThanOrEqual(Number(starts[index - 1]?.match(/\d+/)))
  })

  test('refuses a last message that does not fit alone', () => {
    expect(() => fitHistory([soul, ...turns(3), user('x'.repeat(190))], 200, count)).toThrow(
      expect.objectContaining({ status: 413, code: 'too_large' }),
    )
  })

  test('drops everything old where only the last message fits', () => {
    expect(fitHistory([soul, ...turns(30), user('x'.repeat(175))], 200, count)).toEqual([soul, user('x'.repeat(175))])
  })
})

test('messages alternate: empty ones go, neighbours of one role become one', () => {
  const messages = [soul, user('a'), assistant(''), user('b'), assistant('c'), user('d')]
  expect(alternating(messages)).toEqual([soul, user('a\n\nb'), assistant('c'), user('d')])
  expect(messages[1]?.content).toBe('a')
})
