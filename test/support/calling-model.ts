import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

const Asked = z.object({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  tools: z
    .array(z.object({ function: z.object({ name: z.string(), description: z.string(), parameters: z.looseObject({}) }) }))
    .default([]),
  response_format: z.looseObject({}).optional(),
})
export type Asked = z.output<typeof Asked>

export interface CallingModel {
  /** For SERVICE_LLM_BASE_URL. */
  url: string
  /** Every request it got, oldest first. */
  asked: Asked[]
  /** To a message with these words it calls a function, once for each of the parameters; after that it repeats what came of it. */
  call(words: string, name: string, ...params: unknown[]): void
  /** What it writes, or will have written by then, to a message with these words, instead of repeating what came of a call. */
  write(words: string, text: string | Promise<string>): void
  /** From now on it answers requests for a reply with an error, or does not any more. */
  break(isBroken: boolean): void
  /** What it writes, or will have written by then, where JSON is asked for and the message has these words. */
  json(words: string, value: unknown): void
  stop(): Promise<void>
}

/** A model host on loopback that calls functions and writes JSON as a test tells it to. */
export async function startCallingModel(): Promise<CallingModel> {
  const asked: Asked[] = []
  const calls = new Map<string, { name: string; params: unknown[] }>()
  const texts = new Map<string, unknown>()
  const written = new Map<string, string | Promise<string>>()
  let isBroken = false
  const find = <T>(known: Map<string, T>, text: string) => [...known].findLast(([words]) => text.includes(words))?.[1]

  async function delta(request: Asked): Promise<object> {
    const last = request.messages.at(-1)
    const said = String(request.messages.findLast(({ role }) => role === 'user')?.content)
    if (request.response_format) return { content: JSON.stringify((await find(texts, said)) ?? { facts: [] }) }
    if (last?.role === 'tool') return { content: (await find(written, said)) ?? `It came to this: ${String(last.content)}` }
    const call = find(calls, said)
    if (!call || request.tools.length === 0) return { content: (await find(written, said)) ?? 'Yes, I hear you.' }
    return {
      tool_calls: call.params.map((params, index) => ({
        index,
        id: `c${index + 1}`,
        function: { name: call.name, arguments: JSON.stringify(params) },
      })),
    }
  }

  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    if (request.method === 'GET') return void response.end(JSON.stringify({ data: [{ id: 'calling' }] }))
    const parsed = Asked.parse(JSON.parse(body))
    asked.push(parsed)
    if (isBroken) return void response.writeHead(500).end('{}')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const choice of [{ delta: await delta(parsed) }, { delta: {}, finish_reason: 'stop' }])
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    call: (words, name, ...params) => void calls.set(words, { name, params }),
    write: (words, text) => void written.set(words, text),
    break(whether) {
      isBroken = whether
    },
    json: (words, value) => void texts.set(words, value),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
