import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { json } from '../support/credentials.ts'
import { type House, OWNER_PASSWORD, startHouse } from '../support/house.ts'

let house: House
beforeAll(async () => {
  house = await startHouse()
})
afterAll(() => house[Symbol.asyncDispose]())

test('what another site makes a browser send changes nothing', async () => {
  const owner = await house.owner()
  const cookie = owner.jar.header()
  const phone = await house.pair('Phone')
  const changes: [string, string, object | null][] = [
    ['POST', '/api/keys', { label: 'evil', scope: 'admin' }],
    ['PATCH', '/api/settings', { SERVICE_PUBLIC_URL: 'https://evil.example' }],
    ['PATCH', `/api/paired-devices/${phone.id}`, { scope: 'admin' }],
    ['DELETE', `/api/paired-devices/${phone.id}`, null],
    ['POST', '/api/auth/pair/start', { scope: 'admin' }],
    ['POST', '/api/auth/pair/approve', { userCode: 'ABC-DEF' }],
    ['POST', '/api/auth/password', { current: OWNER_PASSWORD, next: 'evil password' }],
    ['POST', '/api/auth/logout', null],
    ['POST', '/api/chat', { message: 'I was never here' }],
  ]
  const { host } = new URL(house.url)
  const origins: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://${host}.evil.example` },
    { origin: `https://${host}` },
    { origin: `http://evil.example@${host}` },
    { origin: 'http://127.0.0.1' },
    { origin: 'http://localhost:1' },
    { origin: '' },
    { origin: `${house.url}/` },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    { referer: `${house.url}/settings` },
    { 'x-hearth-request': '1' },
    {},
  ]
  for (const [method, path, body] of changes) {
    for (const headers of origins) {
      const init = {
        method,
        headers: { cookie, ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }
      const answer = await house.stranger().fetch(path, init)
      expect(answer.status, `${method} ${path} with ${JSON.stringify(headers)}`).toBe(403)
      expect(await answer.json()).toMatchObject({ code: 'cross_site' })
    }
  }
  for (const path of ['/api/auth/logout', `/api/paired-devices/token?deviceId=${phone.id}&userId=${randomUUID()}&deviceType=phone`]) {
    for (const headers of [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
      { referer: 'https://evil.example/' },
      { 'sec-fetch-site': 'cross-site', 'x-hearth-request': '1' },
    ]) {
      expect(
        (await house.stranger().fetch(path, { headers: { cookie, ...headers } })).status,
        `GET ${path} with ${JSON.stringify(headers)}`,
      ).toBe(403)
    }
  }
  expect(await owner.api.keys.list()).not.toContainEqual(expect.objectContaining({ label: 'evil' }))
  expect((await owner.api.settings.get()).SERVICE_PUBLIC_URL).toBeNull()
  expect(await owner.api.pairedDevices.list()).toContainEqual(expect.objectContaining({ id: phone.id, scope: 'member' }))
  expect(await owner.api.chat.list({ query: {} })).toEqual([])
})

test('a body that a form can send is not read, and a method in a header or query is not the method', async () => {
  const owner = await house.owner()
  const body = JSON.stringify({ label: 'evil', scope: 'admin' })
  for (const type of [
    'text/plain',
    'text/plain; application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=a',
  ]) {
    expect((await owner.fetch('/api/keys', { method: 'POST', headers: { 'content-type': type }, body })).status, type).toBe(415)
  }
  const { id } = await owner.api.keys.create({ body: { label: 'kept', scope: 'guest' } })
  for (const header of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
    expect((await owner.fetch(`/api/keys/${id}`, { method: 'POST', headers: { [header]: 'DELETE' } })).status, header).toBe(405)
    expect((await owner.fetch('/api/keys', { headers: { [header]: 'DELETE' } })).status, header).toBe(200)
  }
  expect((await owner.fetch(`/api/keys/${id}?_method=DELETE`, { method: 'POST' })).status).toBe(405)
  expect(await owner.api.keys.list()).toContainEqual(expect.objectContaining({ id }))
})

test('signing in from another site or by a foreign name is refused', async () => {
  for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
    const answer = await house
      .stranger()
      .fetch('/api/auth/local', { ...json({ password: OWNER_PASSWORD }), headers: { 'content-type': 'application/json', ...headers } })
    expect(answer.status, JSON.stringify(headers)).toBe(403)
    expect(answer.headers.getSetCookie()).toEqual([])
  }
  const cookie = (await house.owner()).jar.header()
  for (const host of [
    'evil.example',
    '127.0.0.1.nip.io',
    'localhost.evil.example',
    'localhost@evil.example',
    '0.0.0.0',
    'hearth.local.evil.example',
    '[::2]',
  ]) {
    const answer = await house.stranger().fetch('/api/keys', { headers: { cookie, host } })
    expect(answer.status, host).toBe(403)
    expect(await answer.json(), host).toMatchObject({ code: 'unknown_host' })
  }
  for (const host of ['localhost', 'localhost:1', '127.0.0.1', '[::1]:7420', 'hearth.local', 'LOCALHOST']) {
    expect((await house.stranger().fetch('/api/keys', { headers: { cookie, host } })).status, host).toBe(200)
  }
})

test('nobody learns anything without a credential', async () => {
  const stranger = house.stranger()
  expect(await (await stranger.fetch('/api/auth/session')).json()).toEqual({ user: null })
  const everything = await Promise.all(
    ['/api/status', '/api/setup', '/api/openapi.json', '/', '/login', '/pair'].map(async (path) => (await stranger.fetch(path)).text()),
  )
  expect(everything.join('\n')).not.toMatch(/\bAda\b/)
})

test('where to go after signing in is a path of this server', async () => {
  const to = async (returnTo: string) => {
    const answer = await house.stranger().fetch(`/api/auth/login?returnTo=${encodeURIComponent(returnTo)}`)
    expect(answer.status).toBe(302)
    return answer.headers.get('location')
  }
  for (const evil of [
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https:evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/\n/evil.example',
    '///evil.example',
    'evil',
    '',
    '/%0d%0aSet-Cookie:a=b/../\r\n',
    '//127.0.0.1@evil.example',
    '/..//evil.example',
    '/./\\evil.example',
  ]) {
    const location = await to(evil)
    const inner = new URL(location ?? '', house.url).searchParams.get('returnTo') ?? ''
    expect(new URL(inner, house.url).origin, evil).toBe(house.url)
    expect(inner, evil).toMatch(/^\/(?![\\/])/)
    expect(location).not.toMatch(/[\r\n]/)
  }
  expect(await to('/chat?a=1')).toBe(`/login?returnTo=${encodeURIComponent('/chat?a=1')}`)
})
