import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import type { Engine } from '../../server/modules/models/llm.ts'
import { createOpenAiClient } from '../../server/modules/models/openai-host/openai-client.ts'
import { createOpenAiHost } from '../../server/modules/models/openai-host/openai-host.ts'
import { ask, llmOver, modelsFolder, system, until, user } from './llm-harness.ts'

interface Completion {
  model: string
  messages: { role: string; content: string; tool_calls?: unknown; tool_call_id?: string }[]
  [field: string]: unknown
}
type Answer = (body: Completion, response: ServerResponse, request: IncomingMessage) => void | Promise<void>

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const piece = (content: string) => event({ choices: [{ delta: { content }, finish_reason: null }] })
const ending = (finish_reason: string) => event({ choices: [{ delta: {}, finish_reason }] })
const usage = event({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 20 } } })

function stream(response: ServerResponse, ...events: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const each of events) response.write(each)
}
const whole =
  (...events: string[]): Answer =>
  (_body, response) => {
    stream(response, ...events, event('[DONE]'))
    response.end()
  }

/** A real HTTP server that speaks the protocol as `answer` says. */
async function stub(answer: Answer, models: string[] = ['llama', 'qwen']) {
  const seen: Completion[] = []
  const keys: (string | undefined)[] = []
  const state = { left: 0, models }
  const server = createServer(async (request, response) => {
    keys.push(request.headers.authorization)
    if (request.url === '/v1/models')
      return void response.end(JSON.stringify({ object: 'list', data: state.models.map((id) => ({ id, object: 'model' })) }))
    let text = ''
    for await (const chunk of request) text += chunk
    response.on('close', () => {
      if (!response.writableFinished) state.left++
    })
    const body = JSON.parse(text) as Completion
    seen.push(body)
    await answer(body, response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen, keys, state }
}

async function host(baseUrl: string, more: { apiKey?: string; model?: string } = {}) {
  const lines: string[] = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const engine: Engine = createOpenAiHost({
    baseUrl,
    apiKey: more.apiKey ?? null,
    model: more.model ?? null,
    log: pino({ level: 'trace' }, sink),
  })
  await engine.start()
  open.push(() => void engine.stop())
  return { engine, lines }
}

describe('another host', () => {
  test('streams its reply, multi-byte characters cut anywhere included', async () => {
    const bytes = Buffer.from(piece('Grüße ') + piece('vom 🏠') + ending('stop') + usage + event('[DONE]'))
    const { baseUrl, seen } = await stub(async (_body, response) => {
      stream(response)
      for (let at = 0; at < bytes.length; at += 7) {
        response.write(bytes.subarray(at, at + 7))
        await new Promise((resolve) => setTimeout(resolve))
      }
      response.end()
    })
    const { engine } = await host(baseUrl)
    const reply = await ask(engine, [system('Be kind.'), user('hello')], { maxTokens: 50 })
    expect(reply).toMatchObject({ text: 'Grüße vom 🏠', pieces: ['Grüße ', 'vom 🏠'], stopReason: 'end', model: 'llama' })
    expect(reply.usage).toEqual({ promptTokens: 30, evaluatedTokens: 10, replyTokens: 5 })
    expect(seen[0]).toMatchObject({
      model: 'llama',
      stream: true,
      max_tokens: 50,
      temperature: 0,
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'hello' },
      ],
    })
  })

  test('serves its first model unless one is chosen', async () => {
    const { baseUrl, seen } = await stub(whole(piece('x'), ending('length')))
    const { engine } = await host(baseUrl, { model: 'qwen' })
    expect(await ask(engine, 'hello')).toMatchObject({ model: 'qwen', stopReason: 'length' })
    expect(seen[0]?.model).toBe('qwen')
    await until(() => engine.state().status === 'ok')
    expect(engine.state()).toEqual({ status: 'ok', models: ['qwen', 'llama'] })
  })

  test('is given the JSON Schema', async () => {
    const { baseUrl, seen } = await stub(whole(piece('{"a":1}'), ending('stop')))
    const { engine } = await host(baseUrl)
    const jsonSchema = { type: 'object', properties: { a: { type: 'number' } } }
    expect((await ask(engine, 'json', { jsonSchema })).text).toBe('{"a":1}')
    expect(seen[0]?.response_format).toEqual({ type: 'json_schema', json_schema: { name: 'reply', schema: jsonSchema, strict: true } })
  })

  test('calls functions, several at once, in pieces, and hears of their failure', async () => {
    const part = (index: number, id: string | undefined, name: string | undefined, text: string) =>
      event({ choices: [{ delta: { tool_calls: [{ index, id, function: { name, arguments: text } }] } }] })
    const { baseUrl, seen } = await stub((body, response, request) =>
      body.messages.length === 1
        ? whole(
            part(0, 'x', 'clock', '{"city":'),
            part(1, 'y', 'lamp', ''),
            part(0, undefined, undefined, '"Bonn"}'),
            ending('tool_calls'),
          )(body, response, request)
        : whole(piece('It is noon.'), ending('stop'))(body, response, request),
    )
    const { engine } = await host(baseUrl)
    const parameters = { type: 'object', properties: { city: { type: 'string' } } }
    const { text } = await ask(engine, 'what time is it', {
      functions: [
        { name: 'clock', description: 'Time', parameters, handler: async (params) => ({ params, time: 'noon' }) },
        { name: 'lamp', description: 'Lamp', parameters: {}, handler: () => Promise.reject(new Error('no bulb')) },
      ],
    })
    expect(text).toBe('It is noon.')
    expect(seen[0]?.tools).toMatchObject([{ type: 'function', function: { name: 'clock', parameters } }, { function: { name: 'lamp' } }])
    expect(seen[1]?.messages.slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'x', function: { arguments: '{"city":"Bonn"}' } }, { id: 'y' }] },
      { role: 'tool', tool_call_id: 'x', content: '{"params":{"city":"Bonn"},"time":"noon"}' },
      { role: 'tool', tool_call_id: 'y', content: '{"error":"no bulb"}' },
    ])
  })

  test('that goes on calling is cut off', async () => {
    const call = event({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'x', function: { name: 'clock', arguments: '{}' } }] } }] })
    const { baseUrl, seen } = await stub(whole(call, ending('tool_calls')))
    const { engine } = await host(baseUrl)
    const { stopReason } = await ask(engine, 'hello', {
      functions: [{ name: 'clock', description: '', parameters: {}, handler: async () => 1 }],
    })
    expect(stopReason).toBe('length')
    expect(seen.length).toBe(8)
  })

  test('is left when the reply is cancelled', async () => {
    const { baseUrl, state } = await stub((_body, response) => stream(response, piece('never ending ')))
    const { engine } = await host(baseUrl)
    const leave = new AbortController()
    let left = 0
    const reply = await ask(engine, 'hello', {
      signal: leave.signal,
      onText: () => {
        left = performance.now()
        leave.abort()
      },
    })
    expect(reply).toMatchObject({ text: 'never ending ', stopReason: 'aborted' })
    expect(performance.now() - left).toBeLessThan(10_000)
    await until(() => state.left === 1)
  })

  test('that finds the history too long gets less of it', async () => {
    const { baseUrl, seen } = await stub((body, response, request) => {
      if (JSON.stringify(body.messages).length < 20_000) return whole(piece('ok'), ending('stop'))(body, response, request)
      response.writeHead(400).end('{"error":{"message":"This model\'s maximum context length is 4096 tokens"}}')
    })
    const { engine } = await host(baseUrl)
    const history = Array.from({ length: 60 }, (_, index) => [
      user(`question ${index} ${'x'.repeat(500)}`),
      { role: 'assistant' as const, content: 'yes' },
    ]).flat()
    const { text } = await ask(engine, [system('Be kind.'), ...history, user('now?')])
    expect(text).toBe('ok')
    expect(seen.at(-1)?.messages[0]?.content).toBe('Be kind.')
    expect(seen.at(-1)?.messages.at(-1)?.content).toBe('now?')
  })
})

describe('a host that fails', () => {
  test.each<[string, Answer, object]>([
    [
      'refuses',
      (_b, response) => void response.writeHead(404).end('no such model, key hk_secret'),
      { status: 503, code: 'model_unavailable' },
    ],
    ['does not accept the key', (_b, response) => void response.writeHead(401).end(), { status: 503, code: 'model_unavailable' }],
    ['is busy', (_b, response) => void response.writeHead(503).end(), { status: 503, code: 'model_unavailable' }],
    ['talks nonsense', whole(event('{"choices":[{')), { status: 503, code: 'model_unavailable' }],
    [
      'breaks off with an error',
      whole(piece('It '), event({ error: { message: 'out of memory' } })),
      { status: 502, code: 'upstream_failed' },
    ],
    ['sends elsewhere', (_b, response) => void response.writeHead(307, { location: '/v1/other' }).end(), { status: 503 }],
    ['hangs up', (_b, response) => void response.destroy(), { status: 503, code: 'model_unavailable' }],
  ])('%s', async (_how, answer, expected) => {
    const { baseUrl } = await stub(answer)
    const { engine } = await host(baseUrl, { apiKey: 'hk_secret' })
    const failure = await ask(engine, 'hello').catch((error: unknown) => error)
    expect(failure).toMatchObject(expected)
    expect(engine.state(), 'whoever asks for its state now hears of it').toMatchObject({ status: 'error', models: [] })
    expect(String(failure)).not.toContain('hk_secret')
  })

  /** Writes `piece` as fast as it is read, until nobody reads any more. Resolves how much was taken. */
  const flood = async (response: ServerResponse, piece: string): Promise<number> => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const gone = once(response, 'close')
    let bytes = 0
    for (; !response.destroyed && bytes < 256 * 1_048_576; bytes += piece.length)
      if (!response.write(piece)) await Promise.race([once(response, 'drain'), gone])
    return bytes
  }
  const argument = event({ choices: [{ delta: { tool_calls: [{ index: 0, function: { name: 'x', arguments: 'y'.repeat(10_000) } }] } }] })
  test.each([
    ['an event that never ends', 'z'.repeat(65_536)],
    ['an event of many lines', `data: ${'z'.repeat(1_000)}\n`],
    ['a call that never ends', argument],
    ['words without end', piece('word '.repeat(2_000))],
  ])('is cut off after %s', { timeout: 60_000 }, async (_how, endless) => {
    let taken: Promise<number> | undefined
    const { baseUrl } = await stub((_body, response) => {
      taken = flood(response, endless)
    })
    const { engine } = await host(baseUrl)
    await expect(ask(engine, 'hello')).rejects.toMatchObject({ status: 502, code: 'upstream_failed' })
    expect(await taken).toBeLessThan(32 * 1_048_576)
  })

  test('is reported, retried and found again', async () => {
    const { baseUrl, state, keys } = await stub(whole(piece('here'), ending('stop')), [])
    const { engine, lines } = await host(baseUrl, { apiKey: 'hk_secret' })
    await until(() => engine.state().status === 'error')
    expect(engine.state().detail).toMatch(/no model/)
    state.models = ['llama']
    expect((await ask(engine, 'hello')).text).toBe('here')
    expect(engine.state()).toEqual({ status: 'ok', models: ['llama'] })
    expect(keys).toContain('Bearer hk_secret')
    expect(lines.join('')).not.toContain('hk_secret')
  })

  test.each<[string, Answer]>([
    ['never begins', () => undefined],
    ['falls silent', (_body, response) => stream(response, piece('It '))],
  ])('%s', async (_how, answer) => {
    const { baseUrl } = await stub(answer)
    const client = createOpenAiClient(baseUrl, null, { listMs: 1_000, firstMs: 100, idleMs: 100 })
    const read = async () => {
      for await (const each of client.complete({}, new AbortController().signal)) expect(each.choices).toHaveLength(1)
    }
    await expect(read()).rejects.toMatchObject({ status: 504, code: 'timeout' })
  })

  test('is not there', async () => {
    const { engine, lines } = await host('http://127.0.0.1:9/v1', { apiKey: 'hk_secret' })
    await expect(ask(engine, 'hello')).rejects.toMatchObject({ status: 503, code: 'model_unavailable' })
    expect(engine.state()).toMatchObject({ status: 'error', models: [] })
    expect(lines.join('')).not.toContain('hk_secret')
  })
})

test('a host is chosen and left like a file', async () => {
  const { baseUrl } = await stub(whole(piece('from afar'), ending('stop')))
  using folder = modelsFolder()
  const llm = llmOver(folder.path)
  await llm.start()
  try {
    await llm.choose({ model: null, baseUrl, apiKey: null })
    expect(await ask(llm, 'hello')).toMatchObject({ text: 'from afar', model: 'llama' })
    expect(await llm.status()).toEqual({ status: 'ok', models: ['llama', 'qwen'] })
    await llm.choose({ model: null, baseUrl: null, apiKey: null })
    expect((await llm.status()).status).toBe('no_model')
  } finally {
    await llm.stop()
  }
})
