import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { api } from '../../server/api.ts'
import { checkAnswer } from '../support/answers.ts'
import { type Ask, CREDENTIALS, type Credential, everyCredential } from '../support/credentials.ts'
import { type House, startHouse } from '../support/house.ts'

type Audience = 'none' | 'lan' | 'guest' | 'member' | 'admin' | 'owner'

/** Who may call what, written down from the contract and not from the code. */
const TABLE: Record<string, Audience> = {
  'GET /api/status': 'none',
  'GET /api/openapi.json': 'none',
  'GET /api/setup': 'none',
  'GET /api/trust': 'none',
  'POST /api/trust': 'owner',
  'DELETE /api/trust': 'owner',
  'POST /api/setup': 'none',
  'GET /api/auth/session': 'none',
  'GET /api/auth/login': 'none',
  'GET /api/auth/callback': 'none',
  'POST /api/auth/local': 'none',
  'POST /api/auth/desktop': 'none',
  'POST /api/auth/refresh': 'none',
  'POST /api/auth/pair/complete': 'none',
  'POST /api/auth/pair/browser': 'none',
  'POST /api/auth/pair/request': 'lan',
  'POST /api/auth/pair/request/{id}': 'lan',
  'POST /api/auth/pair/start': 'owner',
  'POST /api/auth/pair/approve': 'owner',
  'DELETE /api/auth/pair/{id}': 'owner',
  'GET /api/auth/pair/{id}': 'admin',
  'POST /api/auth/password': 'owner',
  'GET /api/auth/sessions': 'owner',
  'DELETE /api/auth/sessions/{id}': 'owner',
  'GET /api/paired-devices': 'admin',
  'PATCH /api/paired-devices/{id}': 'admin',
  'POST /api/paired-devices/{id}/test': 'admin',
  'DELETE /api/paired-devices/{id}': 'admin',
  'GET /api/paired-devices/token': 'owner',
  'POST /api/paired-devices/pair': 'admin',
  'POST /api/paired-devices/verify': 'none',
  'GET /api/keys': 'owner',
  'POST /api/keys': 'owner',
  'DELETE /api/keys/{id}': 'owner',
  'GET /api/settings': 'owner',
  'PATCH /api/settings': 'owner',
  'GET /api/household': 'member',
  'PUT /api/household': 'admin',
  'GET /api/llm': 'member',
  'GET /api/models': 'owner',
  'GET /api/models/overview': 'owner',
  'POST /api/models/download': 'owner',
  'POST /api/models/downloads/{id}/pause': 'owner',
  'POST /api/models/downloads/{id}/resume': 'owner',
  'DELETE /api/models/downloads/{id}': 'owner',
  'POST /api/models/import': 'owner',
  'POST /api/models/{name}/load': 'owner',
  'POST /api/models/{name}/unload': 'owner',
  'DELETE /api/models/{name}': 'owner',
  'GET /v1/models': 'member',
  'GET /v1/models/{name}': 'member',
  'POST /v1/chat/completions': 'member',
  'POST /v1/embeddings': 'member',
  'POST /mcp': 'member',
  'GET /api/mcp/servers': 'admin',
  'POST /api/mcp/servers': 'admin',
  'GET /api/mcp/servers/{id}': 'admin',
  'PATCH /api/mcp/servers/{id}': 'admin',
  'DELETE /api/mcp/servers/{id}': 'admin',
  'GET /api/actions': 'member',
  'GET /api/actions/runs': 'admin',
  'POST /api/actions/{name}/execute': 'member',
  'GET /api/memory': 'member',
  'POST /api/memory': 'member',
  'DELETE /api/memory/{id}': 'member',
  'GET /api/memory/raw': 'member',
  'PUT /api/memory/soul': 'admin',
  'GET /api/memory/chunks': 'member',
  'POST /api/memory/chunks': 'member',
  'GET /api/memory/chunks/{id}': 'member',
  'GET /api/memory/chunks/{id}/history': 'member',
  'PATCH /api/memory/chunks/{id}': 'member',
  'DELETE /api/memory/chunks/{id}': 'member',
  'GET /api/memory/index': 'member',
  'GET /api/memory/people/{id}': 'member',
  'DELETE /api/memory/people/{id}': 'member',
  'GET /api/notifications': 'guest',
  'GET /api/notifications/{id}': 'guest',
  'POST /api/notifications/send': 'admin',
  'POST /api/notifications/{id}/ack': 'guest',
  'POST /api/notifications/{id}/action': 'guest',
  'POST /api/notifications/read-all': 'guest',
  'GET /api/push/vapid': 'guest',
  'GET /api/calendar': 'member',
  'POST /api/calendar': 'member',
  'GET /api/calendar/{id}': 'member',
  'PATCH /api/calendar/{id}': 'member',
  'DELETE /api/calendar/{id}': 'member',
  'POST /api/calendar/feed': 'member',
  'DELETE /api/calendar/feed': 'member',
  'GET /api/calendar.ics': 'member',
  'GET /api/calendar/subscriptions': 'member',
  'POST /api/calendar/subscriptions': 'admin',
  'POST /api/calendar/subscriptions/{id}/refresh': 'member',
  'DELETE /api/calendar/subscriptions/{id}': 'admin',
  'GET /api/todos': 'member',
  'POST /api/todos': 'member',
  'GET /api/todos/lists': 'member',
  'GET /api/todos/{id}': 'member',
  'PATCH /api/todos/{id}': 'member',
  'DELETE /api/todos/{id}': 'member',
  'POST /api/todos/{id}/complete': 'member',
  'GET /api/timers': 'member',
  'POST /api/timers': 'member',
  'GET /api/timers/{id}': 'member',
  'PATCH /api/timers/{id}': 'member',
  'DELETE /api/timers/{id}': 'member',
  'POST /api/chat': 'guest',
  'GET /api/chat/conversations': 'guest',
  'GET /api/chat/conversations/search': 'guest',
  'GET /api/chat/conversations/{id}': 'guest',
  'POST /api/chat/conversations/{id}': 'guest',
  'DELETE /api/chat/conversations/{id}': 'guest',
  'POST /api/chat/conversations/{id}/regenerate': 'guest',
  'GET /api/chat/conversations/{id}/export': 'guest',
  'POST /api/chat/conversations/{id}/tool-calls/{callId}': 'guest',
  // Last, since they end what they are called with.
  'GET /api/auth/logout': 'none',
  'POST /api/auth/logout': 'none',
}

/** A query without which a GET is refused before anything else. */
const QUERY: Record<string, string> = {
  '/api/chat/conversations/search': '?q=tea',
  '/api/paired-devices/token': `?deviceId=${randomUUID()}&userId=${randomUUID()}&deviceType=phone`,
}

/** GETs that change something or stream: there is no HEAD of them. */
const NO_HEAD = [
  '/api/calendar.ics',
  '/api/auth/login',
  '/api/auth/callback',
  '/api/auth/logout',
  '/api/paired-devices/token',
  '/api/chat/conversations/{id}/export',
  '/api/memory/people/{id}',
]

const RANK = { none: 0, guest: 1, member: 2, admin: 3, owner: 4 }

/** What the contract answers before a handler runs: 401, 403, or neither. */
function expected(audience: Audience, credential: Credential): 401 | 403 | 'admitted' {
  if (audience === 'none' || audience === 'lan') return 'admitted'
  const rank = RANK[credential.split(' ')[0] as keyof typeof RANK]
  if (rank === 0) return 401
  return rank >= RANK[audience] ? 'admitted' : 403
}

let house: House
let asks: Record<Credential, Ask>
beforeAll(async () => {
  house = await startHouse()
  asks = await everyCredential(house)
})
afterAll(() => house[Symbol.asyncDispose]())

const specs = Object.values(api).flatMap((contract) => Object.values(contract))
const pathOf = (path: string) => path.replaceAll(/\{(id|callId)\}/g, () => randomUUID()).replace('{name}', 'nothing') + (QUERY[path] ?? '')

test('the table names every endpoint there is, and no other', () => {
  expect(Object.keys(TABLE).toSorted()).toEqual(specs.map(({ method, path }) => `${method} ${path}`).toSorted())
})

test('every endpoint admits exactly whom the contract admits', async () => {
  for (const [route, audience] of Object.entries(TABLE)) {
    // A refresh token is a credential of its own: without one the answer is 401 for everybody.
    if (route === 'POST /api/auth/refresh') continue
    const [method = '', path = ''] = route.split(' ')
    for (const credential of CREDENTIALS) {
      const about = `${route} with ${credential}`
      const answer = await asks[credential](pathOf(path), { method })
      const { status } = answer
      await checkAnswer(answer, about)
      expect(status === 401 || status === 403 ? status : 'admitted', about).toBe(expected(audience, credential))
    }
  }
  asks = await everyCredential(house)
})

test('only a refresh token refreshes, whoever else one is', async () => {
  for (const credential of CREDENTIALS) {
    const answer = await asks[credential]('/api/auth/refresh', { method: 'POST' })
    expect(answer.status, credential).toBe(401)
    await checkAnswer(answer, credential)
  }
  const phone = await house.pair('Phone')
  const answer = await house.bearer(phone.refreshToken).fetch('/api/auth/refresh', { method: 'POST' })
  expect(answer.status).toBe(200)
})

test('HEAD is admitted as GET is, and says nothing', async () => {
  for (const [route, audience] of Object.entries(TABLE)) {
    const [method, path = ''] = route.split(' ')
    if (method !== 'GET' || NO_HEAD.includes(path)) continue
    for (const credential of ['none', 'guest token', 'member cookie', 'owner cookie'] as const) {
      const answer = await asks[credential](pathOf(path), { method: 'HEAD' })
      const { status } = answer
      expect(await answer.text()).toBe('')
      expect(status === 401 || status === 403 ? status : 'admitted', `HEAD ${path} with ${credential}`).toBe(expected(audience, credential))
    }
  }
})

test('an unknown path is 401 to a stranger and 404 to everybody else', async () => {
  const unknown = [
    '/api/nothing',
    '/api/',
    '/api/chat/',
    '/api/keys/1/2/3',
    '/api/auth',
    '/api/__proto__',
    '/api/constructor',
    '/api/chat/conversations/a/b/c',
    '/v1/nope',
    '/v1/',
    '/v1',
    '/mcp/nope',
    '/mcp/',
  ]
  for (const path of unknown) {
    for (const credential of ['none', 'guest token', 'member cookie', 'admin key', 'owner cookie'] as const) {
      for (const method of ['GET', 'POST']) {
        const answer = await asks[credential](path, { method })
        expect(answer.status, `${method} ${path} with ${credential}`).toBe(credential === 'none' ? 401 : 404)
        await checkAnswer(answer, `${method} ${path} with ${credential}`)
      }
    }
  }
})

test('a wrong method is 401 to a stranger and 405 with Allow to everybody else', async () => {
  const byPath = Map.groupBy(specs, ({ path }) => path)
  for (const [path, known] of byPath) {
    const allowed = known.map(({ method }) => method as string)
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      if (allowed.includes(method) || (method === 'HEAD' && allowed.includes('GET') && !NO_HEAD.includes(path))) continue
      const about = `${method} ${path}`
      const stranger = await asks.none(pathOf(path), { method })
      expect(stranger.status, about).toBe(401)
      const guest = await asks['guest token'](pathOf(path), { method })
      expect(guest.status, about).toBe(405)
      expect(
        guest.headers
          .get('allow')
          ?.split(', ')
          .filter((name) => name !== 'HEAD')
          .toSorted(),
        about,
      ).toEqual(allowed.toSorted())
      if (method !== 'HEAD') {
        await checkAnswer(stranger, about)
        await checkAnswer(guest, about)
      }
    }
  }
})
