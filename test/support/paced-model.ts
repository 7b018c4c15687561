import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'

const Asked = z.object({ messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })) })

export interface PacedModel {
  /** For SERVICE_LLM_BASE_URL. */
  url: string
  /** Answers every message that contains `words` with `reply`; an endless one begins anew until nobody listens. */
  answer(words: string, reply: string, options?: { endless?: boolean }): void
  /** From now on it fails every request, or does not any more. */
  fail(isFailing: boolean): void
  stop(): Promise<void>
}

const PACE_MS = 12

async function speak(response: ServerResponse, reply: string, endless: boolean): Promise<void> {
  const event = (value: unknown) => response.write(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  do {
    for (const word of reply.match(/\s*\S+/g) ?? []) {
      if (response.destroyed) return
      event({ choices: [{ index: 0, delta: { content: word } }] })
      await wait(PACE_MS)
    }
    if (endless) event({ choices: [{ index: 0, delta: { content: '\n\n' } }] })
  } while (endless)
  event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  event('[DONE]')
  response.end()
}

/** A model host on loopback that says what a test tells it to, at the pace of a person reading: slow enough to be interrupted. */
export async function startPacedModel(): Promise<PacedModel> {
  const answers = new Map<string, { reply: string; endless: boolean }>()
  let isFailing = false
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    if (isFailing) return void response.writeHead(500).end()
    if (request.method === 'GET') return void response.end(JSON.stringify({ data: [{ id: 'paced' }] }))
    const asked = String(Asked.parse(JSON.parse(body)).messages.findLast(({ role }) => role === 'user')?.content)
    const known = [...answers].findLast(([words]) => asked.includes(words))?.[1]
    await speak(response, known?.reply ?? 'Yes, I hear you.', known?.endless ?? false)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    answer: (words, reply, { endless = false } = {}) => void answers.set(words, { reply, endless }),
    fail(failing) {
      isFailing = failing
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
