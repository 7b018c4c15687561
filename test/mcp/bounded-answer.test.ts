import { expect, test } from 'vitest'
import { boundedAnswer } from '../../server/modules/mcp/bounded-answer.ts'

const MIB = 1024 * 1024

/** The text in pieces of `size` bytes. */
async function* cut(text: string, size: number) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(text: string, { isStream = false, size = 65_536 } = {}): Promise<string[]> {
  const pieces: string[] = []
  for await (const piece of boundedAnswer(cut(text, size), isStream)) pieces.push(Buffer.from(piece).toString('latin1'))
  return pieces
}
const whole = async (text: string, options?: Parameters<typeof read>[1]) => (await read(text, options)).join('')
const event = `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } })}\n\n`

test('what tool servers say comes through as it was, wherever it is cut', async () => {
  const list = JSON.stringify({
    tools: Array.from({ length: 500 }, (_, at) => ({ name: `t${at}`, description: 'a "quoted", {odd} [text]\\' })),
  })
  for (const size of [7, 4_096, MIB]) expect(await whole(list, { size })).toBe(list)
  const pretty = JSON.stringify(JSON.parse(list), null, 2)
  expect(await whole(pretty, { size: 333 })).toBe(pretty)
  const events = event.repeat(1_000)
  for (const size of [7, MIB]) expect(await whole(events, { isStream: true, size })).toBe(events)
  const long = JSON.stringify({ text: `${'{"a":[1,2,3]},'.repeat(100_000)}` })
  expect(await whole(long)).toBe(long)
})

test.each([
  ['bytes', 'x'.repeat(4 * MIB + 1)],
  ['values', `[${'{},'.repeat(50_000)}{}]`],
  ['numbers', `[${'1,'.repeat(50_000)}1]`],
  ['depth', '['.repeat(1_000)],
  ['depth over lines', '[\n'.repeat(1_000)],
  ['values behind a text without an end', `"\n[${'{},'.repeat(50_000)}{}]`],
])('too many %s are too much', async (_what, text) => {
  await expect(whole(text)).rejects.toThrow('too large')
  await expect(whole(text, { isStream: true })).rejects.toThrow('too large')
})

test('events come a few at a time, and not without end', async () => {
  const pieces = await read(event.repeat(1_000), { isStream: true, size: MIB })
  expect(Math.max(...pieces.map((piece) => piece.split('\n').length))).toBeLessThan(20)
  await expect(whole(event.repeat(3_000), { isStream: true })).rejects.toThrow('too large')
  await expect(whole(':\n\n'.repeat(10_000), { isStream: true })).rejects.toThrow('too large')
})

test('whoever gives up reading ends the answer', async () => {
  let isOver = false
  async function* endless() {
    try {
      for (;;) yield Buffer.from(event)
    } finally {
      isOver = true
    }
  }
  const pieces = boundedAnswer(endless(), true)
  await pieces.next()
  await pieces.return()
  expect(isOver).toBe(true)
})
