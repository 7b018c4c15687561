import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import type { Caller } from '../../server/kit/caller.ts'
import { createLog } from '../../server/kit/log.ts'
import { createReply } from '../../server/kit/reply.ts'
import type { Embedder } from '../../server/modules/memory/embedder.ts'
import type { Llm } from '../../server/modules/models/llm.ts'
import { EmbeddingRequest } from '../../server/modules/openai/openai.contract.ts'
import { createOpenAi } from '../../server/modules/openai/openai.module.ts'
import { json } from '../support/credentials.ts'
import { startHouse } from '../support/house.ts'

/** Vectors that tell which text they are of. */
const lengths: Embedder = {
  name: 'lengths',
  dimensions: 2,
  embed: async (texts) => texts.map((text) => Float32Array.of(text.length, 0.5)),
}
const caller: Caller = { kind: 'key', scope: 'member', deviceId: 'd', userId: 'u', personId: 'p', sessionId: 's', via: 'bearer' }

/** Answers one request with the module's handler, over a real response. */
async function embed(body: unknown, embedder: Embedder | null = lengths): Promise<unknown> {
  const { routes = [] } = createOpenAi({
    llm: {} as Llm,
    embedders: { current: () => embedder },
    writtenAt: async () => null,
    log: createLog('silent'),
  })
  const handler = routes[0]?.handlers.embed as unknown as (input: object, call: object) => Promise<void>
  let failure: unknown
  const server = createServer((_req, res) => {
    const call = { caller, reply: createReply(res, 'r').reply, signal: new AbortController().signal }
    handler({ body: EmbeddingRequest.parse(body) }, call).catch((error: unknown) => {
      failure = error
      res.end('null')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const answer: unknown = await (await fetch(`http://127.0.0.1:${(server.address() as { port: number }).port}/`)).json()
    if (failure) throw failure
    return answer
  } finally {
    server.close()
  }
}

test('vectors come in the order of the texts, as numbers or as base64 of 32-bit floats', async () => {
  expect(await embed({ model: 'text-embedding-3-small', input: ['a', 'four'], encoding_format: 'float' })).toEqual({
    object: 'list',
    model: 'lengths',
    data: [
      { object: 'embedding', index: 0, embedding: [1, 0.5] },
      { object: 'embedding', index: 1, embedding: [4, 0.5] },
    ],
    usage: { prompt_tokens: 2, total_tokens: 2 },
  })
  const { data } = (await embed({ input: 'abc', encoding_format: 'base64' })) as { data: { embedding: string }[] }
  const bytes = Buffer.from(data[0]?.embedding ?? '', 'base64')
  expect([bytes.readFloatLE(0), bytes.readFloatLE(4), bytes.length]).toEqual([3, 0.5, 8])
})

test('two thousand texts come whole', async () => {
  const { data } = (await embed({ input: Array.from({ length: 2_048 }, (_, at) => 'x'.repeat(at % 50)) })) as { data: { index: number }[] }
  expect(data.map(({ index }) => index)).toEqual(Array.from({ length: 2_048 }, (_, at) => at))
})

test('without an embedding model, and for a size it does not have, it says so', async () => {
  await expect(embed({ input: 'x' }, null)).rejects.toMatchObject({ status: 503, code: 'model_unavailable' })
  await expect(embed({ input: 'x', dimensions: 256 })).rejects.toMatchObject({ status: 400, details: [{ path: 'body.dimensions' }] })
})

test('a house embeds by what embeds its memory', async () => {
  await using house = await startHouse()
  const owner = await house.residentOwner()
  const answer = await owner.fetch(
    '/v1/embeddings',
    json({ model: 'any', input: ['The cat sleeps.', 'A cat is sleeping.', 'Taxes are due.'] }),
  )
  expect(answer.status).toBe(200)
  const { data, model } = (await answer.json()) as { data: { embedding: number[] }[]; model: string }
  const [cat = [], cats = [], taxes = []] = data.map(({ embedding }) => embedding)
  const dot = (a: number[], b: number[]) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
  expect(model).toMatch(/\S/)
  expect(dot(cat, cat)).toBeCloseTo(1, 3)
  expect(dot(cat, cats)).toBeGreaterThan(dot(cat, taxes))
  expect((await owner.fetch('/v1/embeddings', json({ input: [] }))).status).toBe(400)
  expect((await house.stranger().fetch('/v1/embeddings', json({ input: 'x' }))).status).toBe(401)
})
