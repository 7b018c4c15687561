import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { api } from '../../server/api.ts'
import type { EndpointSpec } from '../../server/kit/endpoint.ts'
import { checkAnswer, codeOf } from '../support/answers.ts'
import { json } from '../support/credentials.ts'
import { type Browser, type House, OWNER_PASSWORD, startHouse } from '../support/house.ts'

const deviceInfo = { name: 'Phone', type: 'phone' }
const device = { name: 'Kitchen', scope: 'member', personId: null, quietHours: { from: '22:00', to: '07:00' } }

/** One good body for every endpoint that takes one. */
const BODIES: Record<string, Record<string, unknown>> = {
  'POST /api/setup': { pin: '000000', owner: { name: 'Eve', password: 'a long password' } },
  'POST /api/auth/local': { password: 'wrong' },
  'POST /api/auth/desktop': { ticket: 'none' },
  'POST /api/auth/password': { current: 'wrong', next: 'another password' },
  'POST /api/auth/pair/start': { scope: 'guest', name: 'TV' },
  'POST /api/auth/pair/complete': { code: 'ABCDEFGH', secret: 'none', deviceInfo },
  'POST /api/auth/pair/browser': { code: 'ABCDEFGH', secret: 'none', deviceInfo },
  'POST /api/auth/pair/request': { deviceInfo },
  'POST /api/auth/pair/approve': { userCode: 'ABC-DEF', scope: 'guest' },
  'POST /api/auth/pair/request/{id}': { pollSecret: 'none', browser: false },
  'PATCH /api/paired-devices/{id}': device,
  'POST /api/paired-devices/verify': { code: 'ABCDEFGH', deviceId: randomUUID(), deviceName: 'Phone', deviceType: 'phone' },
  'POST /api/keys': { label: 'Script', scope: 'guest', expiresAt: null },
  'PATCH /api/settings': { SERVICE_LLM_MODEL: null, SERVICE_PUBLIC_URL: null },
  'POST /api/chat': { message: 'Hello' },
  'POST /api/chat/conversations/{id}': { title: 'Tea' },
  'POST /api/chat/conversations/{id}/tool-calls/{callId}': { approve: true },
  'PUT /api/household': {
    displayName: 'Home',
    timezone: 'Europe/Berlin',
    locale: 'en-GB',
    mode: 'single',
    persons: [{ displayName: 'Ada', role: 'owner' }],
  },
  'POST /api/notifications/send': { title: 'Tea', body: 'is ready', level: 'info', category: null, dedupeKey: 'tea' },
  'POST /api/notifications/{id}/ack': { status: 'read' },
  'POST /api/notifications/{id}/action': { action: 'Dismiss' },
  'POST /api/calendar': {
    title: 'Choir',
    startAt: '2026-03-05T18:30:00Z',
    endAt: '2026-03-05T20:00:00Z',
    allDay: false,
    recurrence: 'FREQ=WEEKLY',
    personId: null,
  },
  'PATCH /api/calendar/{id}': { title: 'Choir', location: null, recurrence: null },
  'POST /api/calendar/subscriptions': { name: 'School', url: 'http://127.0.0.1:9/school.ics' },
  'POST /api/todos': { title: 'Milk', list: 'shopping', dueAt: null, remindAt: null, recurrence: null, personId: null },
  'PATCH /api/todos/{id}': { title: 'Milk', notes: 'two', completed: true },
  'POST /api/timers': { name: 'Tea', durationMs: 60_000 },
  'PATCH /api/timers/{id}': { name: 'Tea', paused: true, addMs: 1000 },
  'POST /api/memory': { category: 'house', key: 'boiler', value: '4711' },
  'PUT /api/memory/soul': { content: 'Be kind.' },
  'POST /api/memory/chunks': {
    source: 'note',
    content: 'The key is in the jar.',
    category: 'house',
    title: 'Key',
    personId: null,
    pinned: false,
  },
  'PATCH /api/memory/chunks/{id}': { content: 'The key is in the bowl.', pinned: true, promoted: false },
  'POST /api/models/download': { id: 'none' },
  'POST /api/actions/{name}/execute': { url: 'http://127.0.0.1:9/', method: 'GET', timeoutMs: 100 },
  'POST /api/mcp/servers': { name: 'shed', url: 'http://127.0.0.1:9/mcp', enabled: false },
  'PATCH /api/mcp/servers/{id}': { name: 'shed', url: 'http://127.0.0.1:9/mcp', token: null, enabled: false },
  'POST /mcp': { jsonrpc: '2.0' },
  'POST /v1/chat/completions': { messages: [{ role: 'user', content: 'Hello' }] },
  'POST /v1/embeddings': { input: 'Hello' },
}

/** Whose bodies may have fields that this server does not know: protocols of others, and what an action checks by its own schema. */
const FREE = ['POST /mcp', 'POST /v1/chat/completions', 'POST /v1/embeddings', 'POST /api/actions/{name}/execute']

/** A query without which a GET is refused for that reason. */
const QUERY: Record<string, string> = {
  '/api/chat/conversations/search': '?q=tea',
  '/api/paired-devices/token': `?deviceId=${randomUUID()}&userId=${randomUUID()}&deviceType=phone`,
}

const ENDS_THE_SESSION = ['/api/auth/logout']

let house: House
let owner: Browser
beforeAll(async () => {
  house = await startHouse()
  owner = await house.owner()
})
afterAll(() => house[Symbol.asyncDispose]())

const specs: EndpointSpec[] = Object.values(api).flatMap((contract) => Object.values(contract) as EndpointSpec[])
const nameOf = ({ method, path }: EndpointSpec) => `${method} ${path}`
const withBody = specs.filter(({ body }) => body)
/** While version 1 is off, whatever is sent to it is told that it is gone. */
const judging = withBody.filter(({ path }) => path !== '/api/paired-devices/verify')
const withId = specs.filter(({ path }) => path.includes('{id}'))

function send(spec: EndpointSpec, init: RequestInit, id: string = randomUUID()): Promise<Response> {
  return owner.fetch(
    spec.path.replace('{id}', id).replace('{callId}', randomUUID()).replace('{name}', 'http_request') + (QUERY[spec.path] ?? ''),
    {
      ...init,
      method: spec.method,
    },
  )
}

async function expectFailure(spec: EndpointSpec, init: RequestInit, status: number, about: string): Promise<string> {
  const answer = await send(spec, init)
  const text = await checkAnswer(answer, `${nameOf(spec)}, ${about}`)
  expect(answer.status, `${nameOf(spec)}, ${about}: ${text}`).toBe(status)
  return text
}

test('there is a good body here for every endpoint that takes one', () => {
  expect(Object.keys(BODIES).toSorted()).toEqual(withBody.map(nameOf).toSorted())
})

test('JSON that is none, or no object, is 400', async () => {
  const headers = { 'content-type': 'application/json' }
  const bad = ['{', '{"a":}', '[]', '"text"', 'null', '1', 'true', '{"a":1}trailing', '\u0000', "{'a':1}", '{"__proto__":{"admin":true}}']
  for (const spec of judging) {
    for (const body of bad) expect(JSON.parse(await expectFailure(spec, { headers, body }, 400, body)).code).toBe('validation_failed')
  }
})

test('a field that is not known is 400 and named', async () => {
  for (const spec of judging.filter((known) => !FREE.includes(nameOf(known)))) {
    for (const field of ['isAdmin', 'constructor', 'createdby']) {
      const text = await expectFailure(spec, json({ ...BODIES[nameOf(spec)], [field]: 1 }), 400, field)
      expect(JSON.parse(text)).toMatchObject({
        code: 'validation_failed',
        details: [{ path: expect.stringMatching(/^body/), message: expect.stringContaining(field) }],
      })
    }
  }
})

test('wrong types, empty, huge and strange values never fail inside', async () => {
  const values = [
    null,
    0,
    1e308,
    true,
    [],
    {},
    '',
    '\0',
    '\ud800',
    '../../etc/passwd',
    'x'.repeat(100_000),
    '\r\nSet-Cookie: a=b',
    "' OR 1=1 --",
  ]
  for (const spec of withBody) {
    const good = BODIES[nameOf(spec)] ?? {}
    for (const field of Object.keys(good)) {
      if (spec.path === '/api/auth/password') continue // each would cost a password hash; its fields are tried below
      const answers = await Promise.all(values.map((value) => send(spec, json({ ...good, [field]: value }))))
      for (const [at, answer] of answers.entries()) {
        const value = JSON.stringify(values[at]).slice(0, 40)
        await checkAnswerOrStream(answer, `${nameOf(spec)} with ${field} = ${value}`)
      }
    }
  }
  for (const next of [null, 1, 'short', 'x'.repeat(1025)]) {
    const answer = await owner.fetch('/api/auth/password', json({ current: OWNER_PASSWORD, next }))
    expect(answer.status, String(next).slice(0, 10)).toBe(400)
  }
  expect((await house.owner()).jar.get('hearth_session')).toBeDefined()
})

/** Chat answers a good message by a stream; what is asked of it here is only that it does not fail. */
async function checkAnswerOrStream(answer: Response, about: string): Promise<void> {
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) await answer.text()
  else await checkAnswer(answer, about)
}

test('a body over 1 MiB is 413, one of 1 MiB is read', async () => {
  const ofBytes = (bytes: number) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ a: 'x'.repeat(bytes - '{"a":""}'.length) }),
  })
  for (const spec of judging) {
    expect(JSON.parse(await expectFailure(spec, ofBytes(1024 * 1024 + 1), 413, 'a byte too much')).code).toBe('too_large')
    expect(JSON.parse(await expectFailure(spec, ofBytes(1024 * 1024), 400, 'just not too much')).code).toBe('validation_failed')
  }
})

test('a body that is no JSON in UTF-8 is 415', async () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'text/json',
    'application/jsonp',
    'application/json; charset=utf-7',
    'application/json; charset=utf-16',
    '',
  ]
  for (const spec of withBody) {
    const body = JSON.stringify(BODIES[nameOf(spec)])
    for (const type of types) {
      const text = await expectFailure(spec, { headers: { 'content-type': type }, body }, 415, type)
      expect(JSON.parse(text).code).toBe('unsupported_media_type')
    }
  }
})

test('an id that is none is 400', async () => {
  const bad = [
    '1',
    'x',
    ':id',
    '%7Bid%7D',
    '%00',
    '..%2f..%2fetc%2fpasswd',
    '00000000-0000-4000-8000-00000000000g',
    "1'%20OR%20'1'='1",
    '%E0%A4%A',
    '*',
    'null',
    'a'.repeat(199),
  ]
  for (const spec of withId) {
    for (const id of bad) {
      const answer = await send(spec, spec.body ? json(BODIES[nameOf(spec)]) : {}, id)
      // What is no text in UTF-8 names nothing, and is 404 like any path that is not there.
      expect(answer.status, `${nameOf(spec)} of ${id}`).toBe(id === '%E0%A4%A' ? 404 : 400)
      await checkAnswer(answer, `${nameOf(spec)} of ${id}`)
    }
  }
})

test('an id that nothing has is 404, and 401 where only its secret opens it', async () => {
  for (const spec of withId) {
    const answer = await send(spec, spec.body ? json(BODIES[nameOf(spec)]) : {})
    expect(answer.status, nameOf(spec)).toBe(spec.path === '/api/auth/pair/request/{id}' ? 401 : 404)
    const text = await checkAnswer(answer, nameOf(spec))
    if (answer.status === 404) expect(JSON.parse(text).code).toBe('not_found')
  }
})

test('a query with a name given twice, a wrong value or an unknown one is 400', async () => {
  const bad = [
    '/api/chat/conversations?limit=1&limit=2',
    '/api/chat/conversations?limit=0',
    '/api/chat/conversations?limit=501',
    '/api/chat/conversations?limit=-1',
    '/api/chat/conversations?limit=1e9',
    '/api/chat/conversations?limit=NaN',
    '/api/chat/conversations?limit=',
    '/api/chat/conversations?limit=1.5',
    '/api/chat/conversations?deviceId=x',
    '/api/chat/conversations?deviceId[]=x',
    '/api/chat/conversations?__proto__=x',
    '/api/chat/conversations/search',
    '/api/chat/conversations/search?q=',
    '/api/chat/conversations/search?q=a&q=b',
    `/api/chat/conversations/search?q=${'a'.repeat(501)}`,
    '/api/paired-devices/token',
    '/api/paired-devices/token?deviceId=1&userId=2&deviceType=fridge',
    `/api/auth/login?returnTo=${'a'.repeat(513)}`,
    '/api/auth/login?returnTo=/a&returnTo=/b',
  ]
  for (const path of bad) {
    const answer = await owner.fetch(path)
    expect(answer.status, path).toBe(400)
    expect(JSON.parse(await checkAnswer(answer, path)).code).toBe('validation_failed')
  }
})

test('every endpoint without a body answers without failing inside, whatever body comes', async () => {
  const headers = { 'content-type': 'application/json' }
  for (const spec of specs) {
    if (spec.body || ENDS_THE_SESSION.includes(spec.path)) continue
    for (const body of ['{', 'x'.repeat(70_000)]) await checkAnswerOrExport(await send(spec, { headers, body }), nameOf(spec))
  }
  expect((await owner.fetch('/api/keys')).status).toBe(200)
})

async function checkAnswerOrExport(answer: Response, about: string): Promise<void> {
  if (answer.status === 302) expect(await answer.text(), about).toBe('')
  else await checkAnswer(answer, about)
}

test('record fields that only the server sets are ignored or refused, never written', async () => {
  const phone = await house.pair('Phone', 'guest')
  const before = (await owner.api.pairedDevices.list()).find(({ id }) => id === phone.id)
  const sent = { ...before, id: randomUUID(), userId: randomUUID(), isConnected: true, lastSeen: '2000-01-01T00:00:00.000Z', type: 'tv' }
  const answer = await owner.fetch(`/api/paired-devices/${phone.id}`, json(sent, 'PATCH'))
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ id: phone.id, userId: before?.userId, isConnected: false, type: 'phone' })
  for (const field of ['tokenHash', 'createdAt', 'secret', 'accessToken', 'householdId']) {
    expect((await owner.fetch(`/api/paired-devices/${phone.id}`, json({ [field]: 'x' }, 'PATCH'))).status, field).toBe(400)
  }
  for (const body of [
    { label: 'a', scope: 'guest', id: randomUUID() },
    { label: 'a', scope: 'guest', key: 'hk_mine' },
    { label: 'a', scope: 'owner' },
    { label: 'a', scope: 'guest', expiresAt: '2001-01-01T00:00:00Z' },
  ]) {
    const refused = await owner.fetch('/api/keys', json(body))
    expect(refused.status).toBe(400)
    expect(await codeOf(refused)).toBe('validation_failed')
  }
})
