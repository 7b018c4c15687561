import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readConfig } from '../../server/config.ts'
import { createSetupPin } from '../../server/modules/setup/setup-pin.ts'
import { json } from '../support/credentials.ts'
import { type House, startHouse } from '../support/house.ts'
import { occurrences, secretOf } from '../support/on-disk.ts'
import { exchange, rawRequest } from '../support/raw-http.ts'

const OWNER = { name: 'Ada', password: 'correct horse battery' }

let house: House
beforeAll(async () => {
  house = await startHouse({ setUp: false })
})
afterAll(() => house[Symbol.asyncDispose]())

const pinOf = (at: House) => at.pins.at(-1) ?? ''
const wrongFor = (pin: string) => String((Number(pin) + 1) % 1_000_000).padStart(6, '0')

function setUp(at: House, pin: string, headers: Record<string, string> = {}, more: object = {}): Promise<Response> {
  return at
    .stranger()
    .fetch('/api/setup', { ...json({ pin, owner: OWNER, ...more }), headers: { 'content-type': 'application/json', ...headers } })
}

const [asset = ''] = readdirSync(join(import.meta.dirname, '..', '..', 'dist', 'renderer', 'assets'))
const OPEN = ['/api/setup', '/api/status', '/setup', `/assets/${asset}`]

test('until it is set up nothing else answers', async () => {
  for (const path of OPEN) expect((await house.stranger().fetch(path)).status, path).toBe(200)
  expect(await (await house.stranger().fetch('/api/setup')).json()).toEqual({ required: true })
  const closed = [
    '/api/auth/session',
    '/api/auth/login',
    '/api/keys',
    '/api/chat/conversations',
    '/api/nothing',
    '/api/openapi.json',
    '/api/settings',
  ]
  for (const path of closed) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await house.stranger().fetch(path, { method, headers: { authorization: 'Bearer hk_x', cookie: 'hearth_session=x' } })
      expect(answer.status, `${method} ${path}`).toBe(503)
      expect(await answer.json()).toMatchObject({ code: 'setup_required' })
    }
  }
  for (const path of ['/', '/login', '/chat', '/docs', '/pair']) expect((await house.stranger().fetch(path)).status, path).toBe(503)
  const local = await house.stranger().fetch('/api/auth/local', json({ password: '' }))
  expect(local.status).toBe(503)
})

test('whoever hears that it is set up can call at once', async () => {
  const wide = await startHouse({ setUp: false, env: { SERVICE_HOST: '0.0.0.0' } })
  expect((await setUp(wide, pinOf(wide))).status).toBe(201)
  const calls = Array.from({ length: 10 }, () => wide.stranger().fetch('/api/status', { headers: { connection: 'close' } }))
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(10).fill(200))
  await wide[Symbol.asyncDispose]()
})

test('it listens on the loopback interface alone', async () => {
  const wide = await startHouse({ setUp: false, env: { SERVICE_HOST: '0.0.0.0' } })
  expect(new URL(wide.url).hostname).toBe('127.0.0.1')
  await wide[Symbol.asyncDispose]()
})

test('a Host that is not a loopback name is refused before anything is read', async () => {
  const { port } = new URL(house.url)
  const hosts = [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1.nip.io',
    `localhost@evil.example:${port}`,
    'localhost.',
    `localhost.evil.example:${port}`,
    '0.0.0.0',
    `0.0.0.0:${port}`,
    '[::]',
    '127.0.0.1:x',
    'hearth.local',
    '127.1',
    '2130706433',
    '0x7f.1',
    'localhost evil.example',
    'localhost:1:2',
    '[::ffff:127.0.0.1]',
  ]
  for (const host of hosts) {
    for (const path of OPEN) {
      const answer = await house.stranger().fetch(path, { headers: { host } })
      expect(answer.status, `${path} for ${host}`).toBe(403)
      expect(await answer.json(), host).toMatchObject({ code: 'setup_loopback_only' })
    }
    expect((await setUp(house, pinOf(house), { host })).status, host).toBe(403)
  }
  const body = JSON.stringify({ pin: pinOf(house), owner: OWNER })
  const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`]
  expect((await exchange(house.url, rawRequest('POST /api/setup HTTP/1.0', headers, body))).status).toBe(403)
  expect((await exchange(house.url, rawRequest('POST /api/setup HTTP/1.1', headers, body))).status).toBe(400)
  expect((await exchange(house.url, rawRequest('POST /api/setup HTTP/1.1', ['Host:', ...headers], body))).status).toBe(403)
  expect(
    (await exchange(house.url, rawRequest('POST /api/setup HTTP/1.1', [`Host: localhost:${port}`, 'Host: evil.example', ...headers], body)))
      .status,
  ).toBe(400)
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'localhost']) {
    expect((await house.stranger().fetch('/api/setup', { headers: { host } })).status, host).toBe(200)
  }
  expect(await (await house.stranger().fetch('/api/setup')).json()).toEqual({ required: true })
})

test('whoever came through a proxy is not at this machine', async () => {
  for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host', 'x-forwarded-proto']) {
    for (const path of OPEN) {
      const answer = await house.stranger().fetch(path, { headers: { [header]: '127.0.0.1' } })
      expect(answer.status, `${path} with ${header}`).toBe(403)
      expect(await answer.json(), header).toMatchObject({ code: 'setup_loopback_only' })
    }
    expect((await setUp(house, pinOf(house), { [header]: '127.0.0.1' })).status, header).toBe(403)
  }
})

test('nor is whoever came through a proxy that is trusted, even where that proxy says so', async () => {
  const proxied = await startHouse({ setUp: false, env: { SERVICE_TRUSTED_PROXIES: '127.0.0.0/8' } })
  try {
    for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host', 'x-forwarded-proto']) {
      for (const value of ['127.0.0.1', '203.0.113.7', 'http']) {
        expect((await setUp(proxied, pinOf(proxied), { [header]: value })).status, `${header}: ${value}`).toBe(403)
      }
    }
    expect(await (await proxied.stranger().fetch('/api/setup')).json()).toEqual({ required: true })
  } finally {
    await proxied[Symbol.asyncDispose]()
  }
})

test('another site cannot set it up, even with the right PIN', async () => {
  for (const headers of [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const answer = await setUp(house, pinOf(house), headers)
    expect(answer.status, JSON.stringify(headers)).toBe(403)
    expect(answer.headers.getSetCookie()).toEqual([])
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    expect((await setUp(house, pinOf(house), { 'content-type': type })).status, type).toBe(415)
  }
})

test('a body that is not right does not cost a try, nor tells whether the PIN was', async () => {
  for (let at = 0; at < 8; at += 1) {
    for (const pin of [pinOf(house), wrongFor(pinOf(house))])
      expect((await setUp(house, pin, {}, { owner: { name: 'Ada', password: 'short' } })).status).toBe(400)
  }
  expect(house.pins).toHaveLength(1)
  const bad = [
    { household: { timezone: 'Etc/../../x' } },
    { household: { locale: '<script>' } },
    { household: { displayName: '' } },
    { idp: { issuer: 'javascript:alert(1)', clientId: 'a', clientSecret: 'b' } },
    { owner: { ...OWNER, role: 'admin' } },
    { owner: { ...OWNER, email: 'x' } },
    { admin: true },
  ]
  for (const more of bad) expect((await setUp(house, pinOf(house), {}, more)).status, JSON.stringify(more)).toBe(400)
})

test('five wrong PINs close the door for a minute and make a new one', () => {
  let now = 0
  const pins: string[] = []
  const pin = createSetupPin(
    (next) => void pins.push(next),
    () => now,
  )
  const codeFor = (given: string) => {
    try {
      pin.check(given)
      return 'good'
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  pin.start()
  const first = pins[0] ?? ''
  expect(first).toMatch(/^\d{6}$/)
  for (let at = 0; at < 5; at += 1) expect(codeFor(wrongFor(first))).toBe('wrong_pin')
  expect(pins).toHaveLength(2)
  for (const given of [first, pins[1] ?? '']) expect(codeFor(given)).toBe('rate_limited')
  now = 59_999
  expect(codeFor(pins[1] ?? '')).toBe('rate_limited')
  now = 60_000
  expect(codeFor(first)).toBe(first === pins[1] ? 'good' : 'wrong_pin')
  expect(codeFor(pins[1] ?? '')).toBe('good')
  for (const strange of ['', ' ', `${pins[1]} `, 'undefined', '０００００１']) expect(codeFor(strange)).not.toBe('good')
})

test('PINs are spread over all six digits', () => {
  const pins: string[] = []
  for (let at = 0; at < 500; at += 1) createSetupPin((pin) => void pins.push(pin)).start()
  expect(new Set(pins).size).toBeGreaterThan(495)
  for (const place of [0, 1, 2, 3, 4, 5]) expect(new Set(pins.map((pin) => pin[place])).size).toBe(10)
})

test('a hundred wrong PINs at once are five tries', async () => {
  const guessed = await startHouse({ setUp: false })
  try {
    const first = pinOf(guessed)
    const answers = await Promise.all(Array.from({ length: 100 }, () => setUp(guessed, wrongFor(first))))
    const bodies = await Promise.all(
      answers.map(async (answer) => ({ status: answer.status, body: await answer.json(), wait: answer.headers.get('retry-after') })),
    )
    const wrong = bodies.filter(({ status }) => status === 401)
    expect(wrong).toHaveLength(5)
    for (const { body } of wrong)
      expect(body).toMatchObject({ error: expect.any(String), code: 'wrong_pin', requestId: expect.any(String) })
    const limited = bodies.filter(({ status }) => status === 429)
    expect(limited).toHaveLength(95)
    for (const { wait } of limited) expect(Number(wait)).toBeGreaterThan(1)
    expect(guessed.pins).toHaveLength(2)
    for (const pin of guessed.pins) expect((await setUp(guessed, pin)).status).toBe(429)
    expect(await (await guessed.stranger().fetch('/api/setup')).json()).toEqual({ required: true })
  } finally {
    await guessed[Symbol.asyncDispose]()
  }
})

test('the right PIN works once, writes fresh secrets, and closes the wizard', async () => {
  const pin = pinOf(house)
  const answers = await Promise.all([setUp(house, pin), setUp(house, pin), setUp(house, pin)])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
  const done = answers.find(({ status }) => status === 201) as Response
  expect(await done.json()).toEqual({ user: { email: null, name: 'Ada', picture: null } })
  const [line = ''] = done.headers.getSetCookie()
  for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Path=/']) expect(line).toContain(attribute)
  const cookie = line.split(';')[0] ?? ''
  expect((await house.stranger().fetch('/api/keys', { headers: { cookie } })).status).toBe(200)

  const again = await setUp(house, pin)
  expect(again.status).toBe(409)
  expect(await again.json()).toMatchObject({ code: 'already_set_up' })
  expect(await (await house.stranger().fetch('/api/setup')).json()).toEqual({ required: false })
  expect((await house.stranger().fetch('/setup')).status).toBe(404)

  const names = ['AUTH_SECRET', 'SERVICE_JWT_SECRET', 'SERVICE_SECRETS_KEY']
  const secrets = names.map((name) => secretOf(house.dataPath, name))
  for (const secret of secrets) expect(secret).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(secrets).size).toBe(3)
  expect(statSync(join(house.dataPath, 'config', 'secrets.env')).mode & 0o777).toBe(0o600)
  await house.app.idle()
  expect(occurrences(house.dataPath, { password: OWNER.password, cookie: cookie.split('.')[2] ?? 'none' })).toEqual([])
})

test('what is set up stays so after a restart, and makes no new PIN', async () => {
  const before = house.pins.length
  await house.restart()
  expect(await (await house.stranger().fetch('/api/setup')).json()).toEqual({ required: false })
  expect((await setUp(house, pinOf(house))).status).toBe(409)
  expect(house.pins).toHaveLength(before)
})

test('secrets that are too short are refused by name, and an empty one is none', () => {
  const bad: Record<string, string> = {
    AUTH_SECRET: 'a'.repeat(31),
    SERVICE_JWT_SECRET: 'a'.repeat(31),
    SERVICE_SECRETS_KEY: 'g'.repeat(64),
    SERVICE_OWNER_PASSWORD: '123456789',
  }
  for (const [name, value] of Object.entries(bad)) {
    const read = vi.fn(() => readConfig({ [name]: value }, null))
    expect(read, name).toThrow(new RegExp(`^${name} `))
    expect(() => read(), name).not.toThrow(value)
  }
  expect(readConfig({ AUTH_SECRET: 'a'.repeat(32) }, null).env.AUTH_SECRET).toHaveLength(32)
  expect(readConfig({ AUTH_SECRET: '' }, null).env.AUTH_SECRET).toBeUndefined()
})
