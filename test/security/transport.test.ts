import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkAnswer, expectAlive } from '../support/answers.ts'
import { type Ask, json } from '../support/credentials.ts'
import { type Browser, type House, OWNER_PASSWORD, startHouse } from '../support/house.ts'
import { exchange, rawRequest } from '../support/raw-http.ts'

let house: House
let owner: Browser
let guest: Ask
let host: string
beforeAll(async () => {
  house = await startHouse()
  owner = await house.owner()
  guest = (await house.pair('Guest', 'guest')).fetch
  host = new URL(house.url).host
})
afterAll(() => house[Symbol.asyncDispose]())

test('requests that two readers could read differently are refused and the connection ends', async () => {
  const post = (headers: string[], body = '') =>
    ['POST /api/auth/local HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json', ...headers, '', body].join('\r\n')
  const smuggled = `0\r\n\r\nGET /api/keys HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  const bad: Record<string, string> = {
    'a length and chunks': post(['Content-Length: 6', 'Transfer-Encoding: chunked'], smuggled),
    'an encoding nobody knows': post(['Transfer-Encoding: xchunked'], smuggled),
    'chunks twice': post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], smuggled),
    'chunks not last': post(['Transfer-Encoding: chunked, identity'], smuggled),
    'two lengths': post(['Content-Length: 6', 'Content-Length: 7'], '{"a":1}'),
    'a list of lengths': post(['Content-Length: 6, 7'], '{"a":1}'),
    'a signed length': post(['Content-Length: +6'], '{"a":1}'),
    'a negative length': post(['Content-Length: -1']),
    'a length in hex': post(['Content-Length: 0x6'], '{"a":1}'),
    'a space before the colon': post(['Content-Length : 6'], '{"a":1}'),
    'a bare line feed': `GET /api/status HTTP/1.1\nHost: ${host}\n\n`,
    'a bare carriage return': `GET /api/status HTTP/1.1\r\nHost: ${host}\r\nX: a\rb\r\n\r\n`,
    'a NUL in a header': `GET /api/status HTTP/1.1\r\nHost: ${host}\r\nX: a\0b\r\n\r\n`,
    'a folded header': `GET /api/status HTTP/1.1\r\nHost: ${host}\r\nX: a\r\n : b\r\n\r\n`,
    'a header without a name': `GET /api/status HTTP/1.1\r\nHost: ${host}\r\n: b\r\n\r\n`,
    'a bad chunk size': post(['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'),
    'a chunk size beyond 64 bits': post(['Transfer-Encoding: chunked'], 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'),
    'two hosts': `GET /api/status HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\n\r\n`,
    'no host': 'GET /api/status HTTP/1.1\r\n\r\n',
    'another protocol': `GET /api/status HTTP/9.9\r\nHost: ${host}\r\n\r\n`,
    'no HTTP at all': 'hello\r\n\r\n',
    'a TLS greeting': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  }
  for (const [about, bytes] of Object.entries(bad)) {
    const { status, closed, text } = await exchange(house.url, Buffer.from(bytes, 'latin1'))
    expect(status, `${about}: ${text.slice(0, 200)}`).toBe(400)
    expect(closed, about).toBe(true)
    expect(text.match(/HTTP\/1\.1 /g), about).toHaveLength(1)
  }
  await expectAlive(house, 'smuggling')
})

test('an address or headers beyond all measure are refused', async () => {
  const get = (path: string, headers: string[] = []) =>
    exchange(house.url, rawRequest(`GET ${path} HTTP/1.1`, [`Host: ${host}`, ...headers]))
  expect([414, 431]).toContain((await get(`/api/status?${'a'.repeat(65_536)}`)).status)
  expect((await get('/api/status', [`X: ${'a'.repeat(65_536)}`])).status).toBe(431)
  expect(
    (
      await get(
        '/api/status',
        Array.from({ length: 2_000 }, (_, at) => `X-${at}: a`),
      )
    ).status,
  ).toBe(431)
  expect([200, 431]).toContain((await get('/api/status', [`X-Forwarded-Proto: ${' '.repeat(50_000)}a`])).status)
  expect([200, 431]).toContain(
    (
      await get(
        '/api/status',
        Array.from({ length: 500 }, (_, at) => `X-${at}: a`),
      )
    ).status,
  )
  await expectAlive(house, 'long headers')
})

test('a path written in any other way is the same path or none', async () => {
  const cookie = owner.jar.header()
  const targets = ['/API/keys', '/Api/keys', '/api//keys', '//api/keys', '/api/keys/', '/api/%6beys', '/%61pi/keys', '/api/x/..%2fkeys', '/api/x/../keys', '/api/./keys', '/api/status/../keys', '/api/status%2f..%2fkeys', '/api/keys;x', '/api/keys;/api/status', '/api/keys%00', '/api/keys%2f', '/api/keys%20', '/api/keys%3f', '/api/keys.json', '/api/keys#/api/status', '/api\\keys', '\\api\\keys', '/api/keys?path=/api/status', '/setup/../api/keys', '/assets/../api/keys', `http://${host}/api/keys`, 'http://evil.example/api/keys', 'https://evil.example/api/keys', `//evil.example/api/keys`, '*', '/api/keys/%2e%2e/keys', '/api/%2e%2e/api/keys', '/api/k%C3%A9ys', '/api/%zz', '/%', '/%E0%A4%A', '/api/keys%'] // biome-ignore format: a list
  for (const target of targets) {
    const ask = (...headers: string[]) => exchange(house.url, rawRequest(`GET ${target} HTTP/1.1`, [`Host: ${host}`, ...headers]))
    const [stranger, asGuest, asOwner] = await Promise.all([
      ask(),
      ask(`Authorization: Bearer ${await guestToken()}`),
      ask(`Cookie: ${cookie}`),
    ])
    expect([400, 401, 404], `${target}: ${stranger.text.slice(0, 300)}`).toContain(stranger.status)
    expect([400, 403, 404], `${target}: ${asGuest.text.slice(0, 300)}`).toContain(asGuest.status)
    expect([200, 400, 404], `${target}: ${asOwner.text.slice(0, 300)}`).toContain(asOwner.status)
  }
  for (const method of ['OPTIONS', 'HEAD', 'TRACE', 'PUT', 'POST', 'PROPFIND', 'SEARCH']) {
    expect((await house.stranger().fetch('/api/keys', { method })).status, method).toBe(401)
  }
  const traced = await guest('/api/chat/conversations', { method: 'TRACE', headers: { 'x-mine': 'echo' } })
  expect(await traced.text()).not.toContain('echo')
})

let token = ''

async function guestToken(): Promise<string> {
  token ||= (await house.pair('Path guest', 'guest')).accessToken
  return token
}

test('headers that name another address or method change nothing', async () => {
  for (const headers of [
    { 'x-original-url': '/api/status' },
    { 'x-rewrite-url': '/api/status' },
    { 'x-original-host': 'localhost' },
    { 'x-forwarded-path': '/api/status' },
    { 'x-forwarded-prefix': '/api/status' },
    { 'x-custom-ip-authorization': '127.0.0.1' },
  ] as Record<string, string>[]) {
    expect((await house.stranger().fetch('/api/keys', { headers })).status, JSON.stringify(headers)).toBe(401)
    expect((await guest('/api/keys', { headers })).status, JSON.stringify(headers)).toBe(403)
  }
  const status = await house.stranger().fetch('/api/status', { headers: { 'x-original-url': '/api/keys', 'x-rewrite-url': '/api/keys' } })
  expect(await status.json()).toHaveProperty('uptime')
})

test('a fault inside is told without its cause', async () => {
  const broken = await startHouse()
  try {
    const person = await broken.owner()
    const file = new Database(join(broken.dataPath, 'hearth.sqlite'))
    file.pragma('foreign_keys = OFF')
    file.exec('DROP TABLE "api_key"')
    file.close()
    const answer = await person.fetch('/api/keys')
    expect(answer.status).toBe(500)
    expect(await answer.json()).toEqual({ error: expect.any(String), code: 'internal', requestId: answer.headers.get('x-request-id') })
    const text = await (await person.fetch('/api/keys', json({ label: 'a', scope: 'guest' }))).text()
    expect(text).not.toMatch(/api_key|no such table|SQL|\n\s+at |\.ts/)
    expect((await broken.stranger().fetch('/api/status')).status).toBe(200)
    expect((await broken.bearer('hk_x').fetch('/api/keys')).status).toBe(500)
  } finally {
    await broken[Symbol.asyncDispose]()
  }
})

test('the general limit counts per credential, and loopback is not exempt', async () => {
  const limited = await startHouse({ env: { SERVICE_RATE_LIMIT: '20' } })
  try {
    const [one, two] = [await limited.pair('One'), await limited.pair('Two')]
    const burst = (ask: Ask, from: string) => Promise.all(Array.from({ length: 150 }, () => ask('/api/chat/conversations', {}, { from })))
    const refusedOf = (answers: Response[]) => answers.filter(({ status }) => status === 429)
    const refused = refusedOf(await burst(one.fetch, '127.77.5.1'))
    expect(refused.length).toBeGreaterThan(0)
    await checkAnswer(refused[0] as Response, 'limited')
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect((await two.fetch('/api/chat/conversations', {}, { from: '127.77.5.1' })).status).toBe(200)
    expect(refusedOf(await burst(one.fetch, '127.77.5.2')).length).toBeGreaterThan(0)
    expect(refusedOf(await burst(limited.stranger().fetch, '127.77.5.3')).length).toBeGreaterThan(0)
    const rotated = await Promise.all(
      Array.from({ length: 150 }, (_, at) =>
        limited
          .stranger()
          .fetch('/api/status', { headers: { 'x-forwarded-for': `10.0.0.${at}`, 'x-real-ip': `10.0.0.${at}` } }, { from: '127.77.5.4' }),
      ),
    )
    expect(refusedOf(rotated).length).toBeGreaterThan(0)
  } finally {
    await limited[Symbol.asyncDispose]()
  }
})

test('behind a trusted proxy it is the client that counts, not what the client made up', async () => {
  const proxied = await startHouse({ env: { SERVICE_TRUSTED_PROXIES: '127.0.0.0/8' } })
  try {
    const attempt = async (forwarded: string) =>
      (
        await proxied.stranger().fetch('/api/auth/local', {
          ...json({ password: 'wrong' }),
          headers: { 'content-type': 'application/json', 'x-forwarded-for': forwarded },
        })
      ).status
    for (let at = 0; at < 5; at += 1) expect(await attempt(`10.0.0.${at}, 203.0.113.9`)).toBe(401)
    expect(await attempt('10.0.0.99, 203.0.113.9')).toBe(429)
    expect(await attempt('203.0.113.9, 127.0.0.1')).toBe(429)
    expect(await attempt('203.0.113.10')).toBe(401)
    const request = (headers: Record<string, string>) =>
      proxied.stranger().fetch('/api/auth/pair/request', {
        ...json({ deviceInfo: { name: 'TV', type: 'tv' } }),
        headers: { 'content-type': 'application/json', ...headers },
      })
    expect((await request({ 'x-forwarded-for': '192.168.1.20' })).status).toBe(201)
    expect((await request({ 'x-forwarded-for': '203.0.113.9' })).status).toBe(403)
    expect((await request({ 'x-forwarded-for': '192.168.1.20, 203.0.113.9' })).status).toBe(403)
    for (const headers of [
      { 'x-real-ip': '203.0.113.9' },
      { forwarded: 'for=203.0.113.9' },
      { via: '1.1 proxy' },
      { 'x-forwarded-for': 'unknown' },
    ] as Record<string, string>[])
      expect((await request(headers)).status, JSON.stringify(headers)).toBe(403)
    const timed = async (headers: Record<string, string>) => {
      const startedAt = performance.now()
      for (let at = 0; at < 30; at += 1) await proxied.stranger().fetch('/api/status', { headers })
      return performance.now() - startedAt
    }
    const plain = await timed({ 'x-forwarded-for': '203.0.113.9' })
    expect(await timed({ 'x-forwarded-proto': `${' ,'.repeat(3_500)}a`, 'x-forwarded-for': `${' ,'.repeat(3_500)}a` })).toBeLessThan(
      5 * plain + 500,
    )
    const signedIn = await proxied.stranger().fetch('/api/auth/local', {
      ...json({ password: OWNER_PASSWORD }),
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.11', 'x-forwarded-proto': 'https, http' },
    })
    expect(signedIn.status).toBe(204)
  } finally {
    await proxied[Symbol.asyncDispose]()
  }
})
