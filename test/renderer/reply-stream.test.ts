import { describe, expect, it } from 'vitest'
import { readReply, UnreadableReply } from '../../renderer/features/chat/reply-stream.ts'

const head = { conversationId: '6f1c9f0e-9a41-4b7e-8f53-1c9a0e2b7d10', messageId: '0b8a2f3c-4d5e-4f60-9172-8394a5b6c7d8' }
const text = 'Grüße, 世界! 🏡\n{"not": "a head"}\nend'
const bytes = new TextEncoder().encode(`${JSON.stringify(head)}\n${text}`)

function streamOf(...pieces: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
}

async function read(body: ReadableStream<Uint8Array>) {
  const heard: { heads: unknown[]; text: string; order: string[] } = { heads: [], text: '', order: [] }
  await readReply(body, {
    head(value) {
      heard.heads.push(value)
      heard.order.push('head')
    },
    text(piece) {
      heard.text += piece
      heard.order.push('text')
    },
  })
  return heard
}

describe('a streamed reply', () => {
  it('reads the same wherever it is cut in two', async () => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      const heard = await read(streamOf(bytes.slice(0, cut), bytes.slice(cut)))
      expect(heard.heads, `cut at byte ${cut}`).toEqual([head])
      expect(heard.text, `cut at byte ${cut}`).toBe(text)
      expect(heard.order[0]).toBe('head')
    }
  })

  it('reads the same byte by byte', async () => {
    const heard = await read(streamOf(...Array.from(bytes, (byte) => Uint8Array.of(byte))))
    expect(heard).toMatchObject({ heads: [head], text })
  })

  it('may say nothing after its head', async () => {
    expect(await read(streamOf(new TextEncoder().encode(`${JSON.stringify(head)}\n`)))).toMatchObject({ heads: [head], text: '' })
  })

  it('hands text on as it comes, not at the end', async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const heard: string[] = []
    const done = readReply(readable, { head: () => undefined, text: (piece) => heard.push(piece) })
    await writer.write(new TextEncoder().encode(`${JSON.stringify(head)}\nfirst`))
    await expect.poll(() => heard).toEqual(['first'])
    await writer.write(new TextEncoder().encode(' second'))
    await writer.close()
    await done
    expect(heard).toEqual(['first', ' second'])
  })

  it.each([
    ['nothing at all', ''],
    ['half a head', JSON.stringify(head)],
    ['a head that is no JSON', 'hello\nthere'],
    ['a head without ids', '{}\nthere'],
    ['a first line without end', 'x'.repeat(5000)],
  ])('refuses %s', async (_, content) => {
    await expect(read(streamOf(new TextEncoder().encode(content)))).rejects.toBeInstanceOf(UnreadableReply)
  })

  it('stops the sender when the head cannot be read', async () => {
    const cancelled: unknown[] = []
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('nonsense\n')),
      cancel: (reason) => void cancelled.push(reason),
    })
    await expect(read(body)).rejects.toBeInstanceOf(UnreadableReply)
    expect(cancelled).toHaveLength(1)
  })

  it('passes on what broke the stream, after the text that came before', async () => {
    const heard: string[] = []
    let pulls = 0
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (pulls++ === 0) controller.enqueue(new TextEncoder().encode(`${JSON.stringify(head)}\nso far`))
          else controller.error(new TypeError('network'))
        },
      },
      { highWaterMark: 0 },
    )
    await expect(readReply(body, { head: () => undefined, text: (piece) => heard.push(piece) })).rejects.toThrow('network')
    expect(heard).toEqual(['so far'])
  })
})
