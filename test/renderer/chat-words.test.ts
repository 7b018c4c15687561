import { describe, expect, it } from 'vitest'
import { chatMessages } from '../../renderer/features/chat/chat.messages.ts'
import { failureOf, mayHaveArrived } from '../../renderer/features/chat/chat-failure.ts'
import { examplesFor } from '../../renderer/features/chat/hello.ts'
import { groupByDay } from '../../renderer/features/chat/list-groups.ts'
import { UnreadableReply } from '../../renderer/features/chat/reply-stream.ts'
import { plainOf } from '../../renderer/features/chat/spoken-end.ts'
import { ApiError } from '../../server/kit/client.ts'

describe('the list of conversations', () => {
  it('stands under days of the reader, newest first, without empty headings', () => {
    const now = new Date(2026, 10, 21, 0, 30)
    const entry = (...at: [number, number, number, number, number]) => {
      const updatedAt = new Date(...at).toISOString()
      return { id: updatedAt, deviceId: '', title: '', createdAt: updatedAt, updatedAt }
    }
    const entries = [
      entry(2026, 10, 21, 0, 10),
      entry(2026, 10, 20, 23, 50),
      entry(2026, 10, 20, 0, 0),
      entry(2026, 10, 15, 0, 0),
      entry(2026, 10, 14, 23, 59),
    ]
    expect(groupByDay(entries, now).map(({ label, entries: own }) => [label, own.length])).toEqual([
      ['chat.today', 1],
      ['chat.yesterday', 2],
      ['chat.thisWeek', 1],
      ['chat.earlier', 1],
    ])
    expect(groupByDay(entries.slice(4), now).map(({ label }) => label)).toEqual(['chat.earlier'])
    expect(groupByDay([], now)).toEqual([])
  })
})

describe('a failure', () => {
  const refused = (status: number, code: string, retryAfter?: string) =>
    new ApiError(status, { code }, new Headers({ 'x-request-id': 'r1', ...(retryAfter ? { 'retry-after': retryAfter } : {}) }))

  it.each([
    [refused(0, 'unreachable'), 'offline'],
    [refused(409, 'busy'), 'talk-busy'],
    [refused(503, 'busy'), 'house-busy'],
    [refused(503, 'model_unavailable'), 'model'],
    [refused(502, 'upstream_failed'), 'model'],
    [refused(413, 'too_large'), 'too-long'],
    [new ApiError(400, { code: 'validation_failed', details: [{ path: 'body.message', message: 'Too big' }] }), 'too-long'],
    [refused(400, 'validation_failed'), 'other'],
    [refused(404, 'not_found'), 'gone'],
    [refused(500, 'internal'), 'other'],
    [new UnreadableReply('x'), 'other'],
    [new TypeError('network error'), 'cut-off'],
  ])('%o is %s, and has words of its own', (error, kind) => {
    expect(failureOf(error).kind).toBe(kind)
    expect(chatMessages).toHaveProperty([`chat.failed.${kind}`])
  })

  it('tells how long to wait and which request it was', () => {
    expect(failureOf(refused(429, 'rate_limited', '12'))).toEqual({ kind: 'too-often', requestId: 'r1', waitSec: 12, keptIn: null })
  })

  it('knows which messages the server never took', () => {
    expect([409, 404].map((status) => mayHaveArrived(failureOf(refused(status, status === 409 ? 'busy' : 'not_found'))))).toEqual([
      false,
      false,
    ])
    expect(mayHaveArrived(failureOf(refused(503, 'model_unavailable')))).toBe(true)
    expect(mayHaveArrived(failureOf(new TypeError('network error')))).toBe(true)
    expect(mayHaveArrived(null)).toBe(true)
  })
})

describe('what is read aloud', () => {
  it.each([
    ['**Good** *evening*, `Ada`', 'Good evening , Ada'],
    ['## Plan\n\n- one\n- two', 'Plan one two'],
    ['See [the manual](https://example.org)', 'See the manual'],
    ['| a | b |\n|---|---|\n| 1 | 2 |', 'a b 1 2'],
    ['```sh\nnpm start\n```', 'npm start'],
    ['2 - 1 is 1 and snake_case stays', '2 - 1 is 1 and snake_case stays'],
  ])('%j has no marks in it', (markdown, plain) => {
    expect(plainOf(markdown)).toBe(plain)
  })
})

it('offers examples to begin with, whatever the model does', () => {
  for (const status of ['ok', 'loading', 'no_model', 'error', 'unknown'] as const)
    expect(examplesFor(status)).toHaveLength(status === 'no_model' ? 4 : 3)
})
