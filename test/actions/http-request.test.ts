import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeOf } from '../support/answers.ts'
import { json } from '../support/credentials.ts'
import { type House, type Person, startHouse } from '../support/house.ts'
import { type Endpoint, listen } from '../support/listener.ts'

let house: House
let owner: Person
let remote: Endpoint
const came: { method: string | undefined; headers: Record<string, unknown>; body: string }[] = []

beforeAll(async () => {
  remote = await listen(async (req, res) => {
    let body = ''
    for await (const piece of req) body += String(piece)
    came.push({ method: req.method, headers: req.headers, body })
    const path = req.url?.split('?')[0]
    if (path === '/json') return void res.writeHead(200, { 'content-type': 'application/json' }).end('{"a":[1]}')
    if (path === '/text') return void res.writeHead(404, { 'content-type': 'text/plain' }).end('not here')
    if (path === '/long') return void res.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(500_000))
    if (path === '/huge') return void res.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(3_000_000))
    if (path === '/binary') return void res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(100))
    if (path === '/broken') return void res.writeHead(200, { 'content-type': 'application/json' }).end('{"a":')
  })
  house = await startHouse({ env: { SERVICE_FETCH_ALLOW_LOCAL: '1' } })
  owner = await house.residentOwner()
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await remote[Symbol.asyncDispose]()
})

const ask = (body: Record<string, unknown>, who: Person = owner) =>
  who.api.actions.execute({ params: { name: 'http_request' }, body: body as Record<string, never> })

test('an answer is told with its status and content, whatever the status', async () => {
  const { host } = new URL(remote.url)
  expect(await ask({ url: `${remote.url}/json` })).toEqual({
    output: `${host} answered 200.`,
    data: { status: 200, type: 'application/json', json: { a: [1] } },
  })
  expect((await ask({ url: `${remote.url}/text` })).data).toEqual({ status: 404, type: 'text/plain', text: 'not here' })
  expect((await ask({ url: `${remote.url}/binary` })).data).toEqual({ status: 200, type: 'image/png', bytes: 100 })
  expect((await ask({ url: `${remote.url}/broken` })).data).toEqual({ status: 200, type: 'application/json', text: '{"a":' })
  expect(((await ask({ url: `${remote.url}/long` })).data as { text: string }).text).toHaveLength(65_537)
})

test('method, headers and body go out as given, and records as JSON', async () => {
  came.length = 0
  await ask({ method: 'POST', url: `${remote.url}/json`, headers: { 'X-Room': 'hall' }, body: { lamp: 'on' } })
  await ask({ method: 'PUT', url: `${remote.url}/json`, headers: { 'Content-Type': 'text/csv' }, body: 'a,b' })
  expect(came).toMatchObject([
    { method: 'POST', headers: { 'x-room': 'hall', 'content-type': 'application/json' }, body: '{"lamp":"on"}' },
    { method: 'PUT', headers: { 'content-type': 'text/csv' }, body: 'a,b' },
  ])
})

test('too much, too slow, unreachable and wrong are failures with a name', async () => {
  await expect(ask({ url: `${remote.url}/huge` })).rejects.toMatchObject({ status: 502, code: 'upstream_failed' })
  await expect(ask({ url: `${remote.url}/never`, timeoutMs: 100 })).rejects.toMatchObject({ status: 504, code: 'timeout' })
  await expect(ask({ url: 'http://127.0.0.1:9/' })).rejects.toMatchObject({ status: 403 })
  for (const wrong of [
    {},
    { url: 'file:///etc/passwd' },
    { url: 'x' },
    { url: remote.url, method: 'TRACE' },
    { url: remote.url, timeoutMs: 1 },
    { url: remote.url, odd: 1 },
  ])
    await expect(ask(wrong), JSON.stringify(wrong)).rejects.toMatchObject({ status: 400 })
  await expect(ask({ url: `${remote.url}/json`, headers: { Host: 'evil' } })).rejects.toMatchObject({ status: 400 })
})

test('it is for admins, and addresses at home are out of its reach unless that was allowed', async () => {
  const member = await house.pair('Ben', 'member')
  const refused = await member.fetch('/api/actions/http_request/execute', json({ url: `${remote.url}/json` }))
  expect(refused.status).toBe(403)
  await using closed = await startHouse()
  const hits = remote.hits.length
  const answer = await (await closed.residentOwner()).fetch('/api/actions/http_request/execute', json({ url: `${remote.url}/json` }))
  expect([answer.status, await codeOf(answer), remote.hits.length]).toEqual([403, 'address_blocked', hits])
})

test('credentials in it do not reach the audit', async () => {
  const secret = 'tkn-of-the-remote-4711'
  await ask({ url: `${remote.url}/json?token=${secret}`, headers: { Authorization: `Bearer ${secret}`, 'X-Api-Key': secret } })
  const items = await owner.api.actions.runs({ query: { action: 'http_request', limit: 1 } })
  expect(JSON.stringify(items)).not.toContain(secret)
  expect(items[0]?.params).toMatchObject({ method: 'GET' })
})
