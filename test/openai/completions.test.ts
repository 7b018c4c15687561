import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { checkAnswer, codeOf } from '../support/answers.ts'
import { json } from '../support/credentials.ts'
import { type House, type Person, startHouse } from '../support/house.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { startSlowModel } from '../support/slow-model.ts'

const Usage = z.strictObject({
  prompt_tokens: z.number().int().positive(),
  completion_tokens: z.number().int().positive(),
  total_tokens: z.number().int(),
  prompt_tokens_details: z.strictObject({ cached_tokens: z.number().int() }),
})
const Whole = z.strictObject({
  id: z.string().startsWith('chatcmpl-'),
  object: z.literal('chat.completion'),
  created: z.number().int(),
  model: z.string(),
  choices: z
    .tuple([
      z.strictObject({
        index: z.literal(0),
        message: z.strictObject({ role: z.literal('assistant'), content: z.string(), refusal: z.null() }),
        logprobs: z.null(),
        finish_reason: z.enum(['stop', 'length']),
      }),
    ])
    .rest(z.never()),
  usage: Usage,
})
const Chunk = z.strictObject({
  id: z.string().startsWith('chatcmpl-'),
  object: z.literal('chat.completion.chunk'),
  created: z.number().int(),
  model: z.string(),
  choices: z.array(
    z.strictObject({
      index: z.literal(0),
      delta: z.strictObject({ role: z.literal('assistant').optional(), content: z.string().optional() }),
      logprobs: z.null(),
      finish_reason: z.enum(['stop', 'length']).nullable(),
    }),
  ),
  usage: Usage.optional(),
})

let house: House
let client: Person
let key: string
beforeAll(async () => {
  house = await startHouse()
  writeScriptedGguf(join(house.dataPath, 'models', 'house.gguf'))
  const owner = await house.residentOwner()
  key = (await owner.api.keys.create({ body: { label: 'Editor', scope: 'member' } })).key
  client = house.bearer(key)
})
afterAll(() => house[Symbol.asyncDispose]())

const complete = (body: object, who: Person = client, init: RequestInit = {}) =>
  who.fetch('/v1/chat/completions', { ...json({ model: 'gpt-4o', temperature: 0, ...body }), ...init })
const said = (content: unknown) => ({ messages: [{ role: 'user', content }] })

/** The events of a stream, the last of which has to be `[DONE]`. */
async function eventsOf(response: Response) {
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const blocks = (await response.text()).split('\n\n')
  expect(blocks.pop()).toBe('')
  expect(blocks.every((block) => block.startsWith('data: ') && !block.includes('\n'))).toBe(true)
  expect(blocks.pop()).toBe('data: [DONE]')
  return blocks.map((block) => Chunk.parse(JSON.parse(block.slice(6))))
}

test('models are listed as the OpenAI API lists them', async () => {
  const answer = await client.fetch('/v1/models')
  expect(answer.status).toBe(200)
  const created = Math.floor(statSync(join(house.dataPath, 'models', 'house.gguf')).mtimeMs / 1000)
  const model = { id: 'house', object: 'model', created, owned_by: 'hearth' }
  expect(await answer.json()).toEqual({ object: 'list', data: [model] })
  expect(await (await client.fetch('/v1/models/house')).json()).toEqual(model)
  expect(await codeOf(await client.fetch('/v1/models/gpt-4o'))).toBe('model_not_found')
})

test('a reply comes whole', async () => {
  const answer = await complete({ ...said('What is the weather?'), user: 'ada', n: 1, seed: 7, unheard_of: { x: 1 } })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const { choices, model, usage } = Whole.parse(await answer.json())
  expect(choices[0]).toMatchObject({ message: { content: 'It is sunny outside, about twenty degrees.' }, finish_reason: 'stop' })
  expect(model).toBe('house')
  expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
})

test('a reply ends before what it is told to stop at', async () => {
  const { choices, usage } = Whole.parse(await (await complete({ ...said('What is the weather?'), stop: ['outside', 'never'] })).json())
  expect(choices[0]).toMatchObject({ message: { content: 'It is sunny ' }, finish_reason: 'stop' })
  expect(usage.completion_tokens).toBeGreaterThan(0)
  const events = await eventsOf(await complete({ ...said('What is the weather?'), stop: 'outside', stream: true }))
  expect(events.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')).toBe('It is sunny ')
  expect(new Set(events.map(({ model }) => model))).toEqual(new Set(['house']))
})

test('another model of the house, which is not in use, is not answered for', async () => {
  const other = join(house.dataPath, 'models', 'zebra.gguf')
  writeScriptedGguf(other)
  try {
    expect((await complete({ ...said('rain'), model: 'house' })).status).toBe(200)
    expect(await codeOf(await complete({ ...said('rain'), model: 'zebra' }))).toBe('model_not_found')
  } finally {
    rmSync(other)
  }
})

test('a reply comes in pieces, and with usage where it was asked for', async () => {
  const plain = await eventsOf(await complete({ ...said('What is the weather?'), stream: true }))
  expect(plain[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' })
  expect(plain.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('It is sunny outside, about twenty degrees.')
  expect(plain.map(({ choices }) => choices[0]?.finish_reason).filter(Boolean)).toEqual(['stop'])
  expect(plain.length).toBeGreaterThan(5)
  expect(new Set(plain.map(({ id }) => id)).size).toBe(1)
  expect(plain.some(({ usage }) => usage)).toBe(false)
  const counted = await eventsOf(await complete({ ...said('rain'), stream: true, stream_options: { include_usage: true } }))
  expect(counted.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } })
})

test('a limit of tokens cuts, and says so', async () => {
  for (const field of ['max_tokens', 'max_completion_tokens']) {
    const { choices, usage } = Whole.parse(await (await complete({ ...said('count'), [field]: 4 })).json())
    expect(choices[0].finish_reason, field).toBe('length')
    expect(usage.completion_tokens, field).toBeLessThanOrEqual(5)
  }
})

test('JSON is written where JSON is asked for', async () => {
  const schema = { type: 'object', properties: { answer: { type: 'boolean' } }, required: ['answer'], additionalProperties: false }
  const format = { type: 'json_schema', json_schema: { name: 'reply', strict: true, schema } }
  const { choices } = Whole.parse(await (await complete({ ...said('answer me'), response_format: format })).json())
  expect(JSON.parse(choices[0].message.content)).toEqual({ answer: expect.any(Boolean) })
})

test('system, developer, tool and part messages are read as the usual clients write them', async () => {
  const messages = [
    { role: 'system', content: 'Be kind.' },
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c1', content: 'nothing' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is the ' },
        { type: 'text', text: 'weather?' },
      ],
    },
  ]
  const { choices } = Whole.parse(await (await complete({ messages })).json())
  expect(choices[0].message.content).toContain('sunny')
})

test('what cannot be read is refused with its path', async () => {
  const refused = async (body: object, path: string) => {
    const answer = await complete(body)
    expect(answer.status, path).toBe(400)
    expect(JSON.parse(await checkAnswer(answer, path))).toMatchObject({
      code: 'validation_failed',
      details: expect.arrayContaining([expect.objectContaining({ path })]),
    })
  }
  await refused({}, 'body.messages')
  await refused({ messages: [] }, 'body.messages')
  await refused({ messages: [{ role: 'robot', content: 'x' }] }, 'body.messages.0.role')
  await refused({ messages: [{ role: 'system', content: 'x' }] }, 'body.messages')
  await refused(
    {
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: 'y' },
      ],
    },
    'body.messages',
  )
  await refused(said([{ type: 'image_url', image_url: { url: 'http://127.0.0.1/' } }]), 'body.messages.0.content.0')
  await refused({ ...said('x'), temperature: 9 }, 'body.temperature')
  const format = (schema: unknown) => ({ ...said('x'), response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } })
  await refused(format({ $ref: 'http://127.0.0.1/s' }), 'body.response_format.json_schema.schema')
  await refused(format({ anyOf: Array.from({ length: 5_000 }, () => ({})) }), 'body.response_format.json_schema.schema')
  await refused({ ...said('x'), response_format: { type: 'xml' } }, 'body.response_format.type')
  expect((await complete(said('x'.repeat(1_100_000)))).status).toBe(413)
})

test('who may ask is decided as everywhere', async () => {
  const owner = await house.residentOwner()
  const guest = await house.pair('Visitor', 'guest')
  expect((await complete(said('weather'), house.stranger())).status).toBe(401)
  expect(await (await house.stranger().fetch('/v1/models')).json()).toEqual({ error: 'Unauthorized' })
  expect((await complete(said('weather'), guest)).status).toBe(403)
  expect((await complete(said('weather'), owner)).status).toBe(200)
  expect(
    (await complete(said('weather'), owner, { headers: { 'content-type': 'application/json', origin: 'http://evil.example' } })).status,
  ).toBe(403)
  expect((await complete(said('weather'), house.bearer('hk_wrong'))).status).toBe(401)
  expect((await client.fetch('/v1/nope')).status).toBe(404)
  expect((await client.fetch('/v1/models', { method: 'HEAD' })).status).toBe(200)
  const wrong = await client.fetch('/v1/chat/completions')
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
})

test('the general limit of a credential holds here too', async () => {
  await using tight = await startHouse({ env: { SERVICE_RATE_LIMIT: '5' } })
  const owner = await tight.residentOwner()
  const other = tight.bearer((await owner.api.keys.create({ body: { label: 'Greedy', scope: 'member' } })).key)
  const statuses: number[] = []
  for (let at = 0; at < 40; at += 1) statuses.push((await other.fetch('/v1/models')).status)
  expect(statuses[0]).toBe(200)
  expect(statuses).toContain(429)
})

test('without a model the answer is 503 in the house’s words, streamed or not', async () => {
  await using bare = await startHouse()
  const owner = await bare.residentOwner()
  expect(await (await owner.fetch('/v1/models')).json()).toEqual({ object: 'list', data: [] })
  for (const stream of [true, false]) {
    const answer = await complete({ ...said('hi'), stream }, owner)
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ code: 'model_unavailable', error: expect.any(String), requestId: expect.any(String) })
  }
})

test('a client that leaves stops the reply, streamed or not', async () => {
  await using slow = await startSlowModel()
  await using busy = await startHouse({ env: { SERVICE_LLM_BASE_URL: slow.url } })
  const owner = await busy.residentOwner()
  for (const stream of [true, false]) {
    const leaving = new AbortController()
    const asked = complete({ ...said('talk'), stream }, owner, { signal: leaving.signal }).catch(() => null)
    if (stream) {
      const reader = (await asked)?.body?.getReader()
      expect((await reader?.read())?.done).toBe(false)
    } else await expect.poll(() => slow.open(), { timeout: 10_000 }).toBe(1)
    leaving.abort()
    await expect.poll(() => slow.open(), { timeout: 10_000 }).toBe(0)
    await asked
  }
})

test('a reply that fails on its way ends with an error and without [DONE]', async () => {
  const slow = await startSlowModel()
  await using busy = await startHouse({ env: { SERVICE_LLM_BASE_URL: slow.url } })
  const answer = await complete({ ...said('talk'), stream: true }, await busy.residentOwner())
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = (await reader.read()).value ?? ''
  await slow[Symbol.asyncDispose]()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value
  const last = text.trimEnd().split('\n\n').at(-1) ?? ''
  expect(JSON.parse(last.slice(6))).toMatchObject({ error: { message: expect.any(String), code: expect.any(String) } })
  expect(text).not.toContain('[DONE]')
})

test('another Hearth talks through this one', async () => {
  const env = { SERVICE_LLM_BASE_URL: `${house.url}/v1`, SERVICE_LLM_API_KEY: key }
  await using other = await startHouse({ env })
  const owner = await other.residentOwner()
  expect(await owner.api.models.llm()).toMatchObject({ status: expect.stringMatching(/ok|loading/) })
  const response = await owner.api.chat.send({ body: { message: 'How is the weather?' } })
  const [, ...reply] = (await response.text()).split('\n')
  expect(reply.join('\n')).toBe('It is sunny outside, about twenty degrees.')
  expect(await owner.api.models.llm()).toMatchObject({ status: 'ok', models: ['house'] })
  await using locked = await startHouse({ env: { ...env, SERVICE_LLM_API_KEY: 'hk_wrong' } })
  const answer = await complete(said('hi'), await locked.residentOwner())
  expect([answer.status, await codeOf(answer)]).toEqual([expect.any(Number), expect.stringMatching(/upstream_failed|model_unavailable/)])
})
