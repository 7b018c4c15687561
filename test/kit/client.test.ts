import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { ApiError, createClient } from '../../server/kit/client.ts'
import { ById, endpoint, nothing } from '../../server/kit/endpoint.ts'

const Lamp = z.object({ id: z.string(), level: z.number() })
const lamps = {
  list: endpoint({
    method: 'GET',
    path: '/api/lamps',
    access: 'guest',
    summary: '',
    query: z.strictObject({ room: z.string().optional(), limit: z.coerce.number().default(5) }),
    returns: z.array(Lamp),
  }),
  dim: endpoint({
    method: 'PATCH',
    path: '/api/lamps/{id}/scenes/{scene}',
    access: 'guest',
    summary: '',
    params: z.object({ id: z.string(), scene: z.string() }),
    body: z.strictObject({ level: z.number() }),
    returns: Lamp,
  }),
  remove: endpoint({ method: 'DELETE', path: '/api/lamps/{id}', access: 'admin', summary: '', params: ById, returns: nothing }),
  glow: endpoint({ method: 'GET', path: '/api/glow', access: 'guest', summary: '', returns: z.string(), kind: 'stream' }),
}

/** A client whose requests are kept, and answered with `answer`. */
function recorded(answer: () => Response | Promise<Response>) {
  const sent: { path: string; init: RequestInit }[] = []
  const client = createClient({ lamps }, async (path, init) => {
    sent.push({ path, init })
    return answer()
  })
  return { client: client.lamps, sent }
}
const json = (body: unknown, init?: ResponseInit) => () => new Response(JSON.stringify(body), init)

test('a call becomes a request with its path, query and body in place', async () => {
  const { client, sent } = recorded(json({ id: 'a', level: 7 }))
  await client.dim({ params: { id: 'a/b ?', scene: '$&{id}' }, body: { level: 7 } })
  const { client: lister, sent: listed } = recorded(json([]))
  await lister.list({ query: { room: 'a&b', limit: undefined } })
  await lister.list({ query: {} })
  expect(sent).toEqual([
    {
      path: `/api/lamps/${encodeURIComponent('a/b ?')}/scenes/${encodeURIComponent('$&{id}')}`,
      init: { method: 'PATCH', body: '{"level":7}', headers: { 'content-type': 'application/json' } },
    },
  ])
  expect(listed.map(({ path }) => path)).toEqual(['/api/lamps?room=a%26b', '/api/lamps'])
})

test('answers are parsed: records, nothing, and streams as they come', async () => {
  const dimmed = await recorded(json({ id: 'a', level: 7, further: 'field' })).client.dim({
    params: { id: 'a', scene: 's' },
    body: { level: 7 },
  })
  expect(dimmed).toEqual({ id: 'a', level: 7 })
  expectTypeOf(dimmed).toEqualTypeOf<{ id: string; level: number }>()
  expect(await recorded(() => new Response(null, { status: 204 })).client.remove({ params: { id: 'x' } })).toBeUndefined()
  const stream = await recorded(() => new Response('piece by piece')).client.glow()
  expect(await stream.text()).toBe('piece by piece')
  await expect(recorded(json({ id: 'a' })).client.dim({ params: { id: 'a', scene: 's' }, body: { level: 7 } })).rejects.toThrow(z.ZodError)
})

const refusal = (answer: () => Response) =>
  recorded(answer)
    .client.list({ query: {} })
    .then(
      () => null,
      (error: unknown) => error,
    )

test('a refusal carries what the server said', async () => {
  const details = [{ path: 'query.limit', message: 'is too large' }]
  const error = await refusal(
    json(
      { error: 'No.', code: 'validation_failed', details, requestId: 'r1' },
      { status: 400, headers: { 'retry-after': '7', 'x-request-id': 'r2' } },
    ),
  )
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 400, code: 'validation_failed', message: 'No.', details, requestId: 'r1', retryAfterSec: 7 })
})

test.each([
  [
    'the bare 401',
    json({ error: 'Unauthorized' }, { status: 401, headers: { 'x-request-id': 'r2' } }),
    { status: 401, code: 'unauthorized', message: 'Unauthorized', requestId: 'r2' },
  ],
  [
    'a page of a proxy',
    () => new Response('<h1>502 Bad Gateway</h1>', { status: 502 }),
    { status: 502, code: 'internal', requestId: null, retryAfterSec: null },
  ],
  ['nothing at all', () => new Response(null, { status: 503 }), { status: 503, code: 'internal' }],
  ['JSON of another kind', json([1, 2], { status: 500 }), { status: 500, code: 'internal' }],
])('%s is a refusal too', async (_what, answer, expected) => {
  const error = await refusal(answer)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject(expected)
})

test('a signal reaches the request', async () => {
  const { client, sent } = recorded(json([]))
  const { signal } = new AbortController()
  await client.list({ query: {} }, { signal })
  expect(sent[0]?.init.signal).toBe(signal)
})

test('what does not fit the contract does not compile', () => {
  const { client } = recorded(json([]))
  // @ts-expect-error the scene is missing
  void (() => client.dim({ params: { id: 'a' }, body: { level: 1 } }))
  // @ts-expect-error the level is a number
  void (() => client.dim({ params: { id: 'a', scene: 's' }, body: { level: 'low' } }))
  expectTypeOf(client.glow).returns.resolves.toEqualTypeOf<Response>()
  expectTypeOf(client.remove).returns.resolves.toEqualTypeOf<void>()
})
