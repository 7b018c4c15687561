import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { json } from '../support/credentials.ts'
import { type Device, type House, startHouse } from '../support/house.ts'
import { occurrences, secretOf } from '../support/on-disk.ts'
import { exchange, rawRequest } from '../support/raw-http.ts'

const PROTECTED = '/api/chat/conversations'
const DAY_MS = 86_400_000

let house: House
let secret: string
let phone: Device
beforeAll(async () => {
  house = await startHouse()
  secret = secretOf(house.dataPath, 'SERVICE_JWT_SECRET')
  phone = await house.pair('Phone', 'guest')
})
afterAll(() => house[Symbol.asyncDispose]())
afterEach(() => void vi.useRealTimers())

/** Moves the clock that tokens and sessions are measured by. */
function later(ms: number): void {
  const to = Date.now() + ms
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(to)
}

type Claims = Record<string, unknown>
const HMAC: Record<string, string> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' }
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const claimsOf = (token: string): Claims => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

/** A token written by hand, so that its header and claims may be anything; unsigned where `alg` is no HMAC. */
function forge(claims: Claims, { header = {}, key = secret }: { header?: Claims; key?: string } = {}): string {
  const full: Claims = { alg: 'HS256', typ: 'JWT', ...header }
  const text = `${part(full)}.${part(claims)}`
  const hash = HMAC[String(full.alg)]
  return `${text}.${hash ? createHmac(hash, key).update(text).digest('base64url') : ''}`
}

async function expectRefused(token: string, about: string): Promise<void> {
  const answer = await house.bearer(token).fetch(PROTECTED)
  expect(answer.status, about).toBe(401)
  expect(await answer.json(), about).toEqual({ error: 'Unauthorized' })
}

const statusOf = async (token: string) => (await house.bearer(token).fetch(PROTECTED)).status
const refresh = (token: string) => house.bearer(token).fetch('/api/auth/refresh', { method: 'POST' })
async function refreshed(token: string): Promise<{ accessToken: string; refreshToken: string; expiresIn: number }> {
  const answer = await refresh(token)
  expect(answer.status).toBe(200)
  return answer.json()
}

test('a token carries exactly what was specified, and a copy made with the secret passes', async () => {
  const claims = claimsOf(phone.accessToken)
  expect(Object.keys(claims).toSorted()).toEqual(['deviceId', 'deviceType', 'exp', 'iat', 'scope', 'sessionId', 'userId'])
  expect(claims).toMatchObject({ deviceId: phone.id, deviceType: 'phone', scope: 'guest' })
  expect(Number(claims.exp) - Number(claims.iat)).toBe(900)
  expect(await statusOf(forge(claims))).toBe(200)
})

test('no algorithm but HS256 is taken, whatever the key', async () => {
  const claims = claimsOf(phone.accessToken)
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '', 'HS384', 'HS512', 'RS256', 'ES256', 'HS256 ', 'hs256']) {
    await expectRefused(forge(claims, { header: { alg } }), `alg ${alg}`)
  }
  const [head = '', body = '', signature = ''] = phone.accessToken.split('.')
  for (const token of [
    `${head}.${body}.`,
    `${head}.${body}`,
    `${head}..${signature}`,
    `.${body}.${signature}`,
    `${phone.accessToken}.`,
    `${head}.${body}.${signature}x`,
    '..',
    '.',
  ]) {
    await expectRefused(token, token.slice(0, 20))
  }
})

test('a key that the token itself names is not used, and nothing is fetched', async () => {
  let hits = 0
  const listener = createServer((_req, res) => {
    hits += 1
    res.end('{"keys":[]}')
  })
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/keys`
  const claims = claimsOf(phone.accessToken)
  const key = 'a key of my own that is long enough'
  const jwk = { kty: 'oct', k: Buffer.from(key).toString('base64url'), alg: 'HS256' }
  const headers: Claims[] = [
    { jwk },
    { jku: url },
    { x5u: url },
    { x5c: ['AAAA'] },
    { kid: '../../../../dev/null' },
    { kid: url },
    { kid: "x' UNION SELECT 'a" },
  ]
  for (const header of headers) {
    await expectRefused(forge(claims, { header, key }), JSON.stringify(header))
    await expectRefused(forge(claims, { header, key: '' }), JSON.stringify(header))
  }
  await expectRefused(forge(claims, { header: { crit: ['exp'] } }), 'an extension nobody knows')
  await expectRefused(forge(claims, { header: { b64: false, crit: ['b64'] } }), 'an unencoded payload')
  expect(hits).toBe(0)
  await new Promise((resolve) => listener.close(resolve))
})

test('a token that is over, not yet begun or without an end is refused', async () => {
  const claims = claimsOf(phone.accessToken)
  const now = Math.floor(Date.now() / 1000)
  const { exp: _, ...endless } = claims
  const { iat: __, ...unborn } = claims
  const bad: [string, Claims][] = [
    ['over since a second', { ...claims, exp: now - 1 }],
    ['without an end', endless],
    ['without a beginning', unborn],
    ['an end in words', { ...claims, exp: String(now + 600) }],
    ['an end of null', { ...claims, exp: null }],
    ['an end beyond all time', { ...claims, exp: 1e308 }],
    ['ten years', { ...claims, exp: now + 10 * 365 * 86_400 }],
    ['not yet', { ...claims, nbf: now + 600 }],
    ['made in the future', { ...claims, iat: now + 600, exp: now + 900 }],
    ['a beginning in words', { ...claims, iat: 'now' }],
  ]
  for (const [about, forged] of bad) await expectRefused(forge(forged), about)
})

test('an access token ends after its 15 minutes, also where it was seen before', async () => {
  const tv = await house.pair('TV', 'member', 'tv')
  expect(await statusOf(tv.accessToken)).toBe(200)
  later(899_000)
  expect(await statusOf(tv.accessToken)).toBe(200)
  later(2_000)
  await expectRefused(tv.accessToken, 'over')
})

test('claims that do not fit the stored session are refused, though the signature is good', async () => {
  const other = await house.pair('Other phone', 'admin')
  const claims = claimsOf(phone.accessToken)
  const others = claimsOf(other.accessToken)
  const bad: Claims[] = [
    { scope: 'admin' },
    { scope: 'owner' },
    { scope: ['admin'] },
    { deviceId: other.id },
    { deviceId: other.id, scope: 'admin' },
    { userId: randomUUID() },
    { userId: null },
    { deviceType: 'tv' },
    { deviceType: 'fridge' },
    { sessionId: randomUUID() },
    { sessionId: others.sessionId },
    { sessionId: others.sessionId, deviceId: other.id },
    { sessionId: '' },
    { deviceId: undefined },
  ]
  for (const change of bad) await expectRefused(forge({ ...claims, ...change }), JSON.stringify(change))
})

test('no other secret signs', async () => {
  const claims = { ...claimsOf(phone.accessToken), scope: 'admin' }
  const keys = [
    '',
    'secret',
    'none',
    secretOf(house.dataPath, 'AUTH_SECRET'),
    secretOf(house.dataPath, 'SERVICE_SECRETS_KEY'),
    `${secret} `,
    secret.toUpperCase(),
    'undefined',
    'null',
  ]
  for (const key of keys) {
    await expectRefused(forge(claims, { key }), key.slice(0, 8))
    await expectRefused(forge(claimsOf(phone.accessToken), { key }), key.slice(0, 8))
  }
})

test('a refresh token is no access token, and the other way round', async () => {
  await expectRefused(phone.refreshToken, 'refresh token as access token')
  for (const token of [
    phone.accessToken,
    'hk_x',
    'x',
    '',
    phone.refreshToken.slice(0, -1),
    `${phone.refreshToken}x`,
    phone.refreshToken.toLowerCase(),
  ]) {
    const answer = await refresh(token)
    expect(answer.status).toBe(401)
    expect(await answer.json()).toEqual({ error: 'Unauthorized' })
  }
  const body = await house.stranger().fetch('/api/auth/refresh', json({ refreshToken: phone.refreshToken }))
  expect(body.status).toBe(401)
  const query = await house.stranger().fetch(`/api/auth/refresh?token=${phone.refreshToken}`, { method: 'POST' })
  expect(query.status).toBe(401)
})

test('an Authorization header in any other form is 401, and never a failure', async () => {
  const token = phone.accessToken
  for (const authorization of [
    `bearer ${token}`,
    `Bearer  ${token}`,
    `Bearer ${token} x`,
    `Bearer ${token},`,
    `Basic ${token}`,
    token,
    'Bearer',
    'Bearer null',
    'Bearer undefined',
    `Token ${token}`,
    `Bearer "${token}"`,
    'Bearer hk_',
  ]) {
    const answer = await house.stranger().fetch(PROTECTED, { headers: { authorization } })
    expect(answer.status, authorization.slice(0, 20)).toBe(401)
  }
  const host = `Host: ${new URL(house.url).host}`
  const raw: [string, number[], string[]][] = [
    ['two headers, the first bad', [401], ['Authorization: Bearer x', `Authorization: Bearer ${token}`]],
    ['64 KiB', [431], [`Authorization: Bearer ${'a'.repeat(65_536)}`]],
    ['a NUL inside', [400], [`Authorization: Bearer ${token}\0`]],
    ['a bare CR inside', [400], [`Authorization: Bearer ${token}\rX: y`]],
    ['folded onto a second line', [400, 401], [`Authorization: Bearer`, ` ${token}`]],
    ['bytes that are no ASCII', [401], [`Authorization: Bearer ${token.slice(0, 30)}\xff\xfe`]],
  ]
  for (const [about, statuses, headers] of raw) {
    const { status, text } = await exchange(house.url, Buffer.from(rawRequest(`GET ${PROTECTED} HTTP/1.1`, [host, ...headers]), 'latin1'))
    expect(statuses, `${about}: ${text.slice(0, 200)}`).toContain(status)
  }
})

test('a good cookie does not help a bad Bearer token', async () => {
  const owner = await house.owner()
  expect((await owner.fetch(PROTECTED, { headers: { authorization: 'Bearer x' } })).status).toBe(401)
})

test('a lost answer is given again, and only one family goes on', async () => {
  const { refreshToken } = await house.pair('Phone on a bad line')
  const first = await refreshed(refreshToken)
  later(9_000)
  const again = await refreshed(refreshToken)
  expect(again.refreshToken).toBe(first.refreshToken)
  expect(await statusOf(again.accessToken)).toBe(200)
  const next = await refreshed(again.refreshToken)
  expect(next.refreshToken).not.toBe(first.refreshToken)
  expect(await statusOf(next.accessToken)).toBe(200)
})

test('a spent token seen after the grace ends the whole session', async () => {
  const { refreshToken } = await house.pair('Robbed phone')
  const newest = await refreshed(refreshToken)
  later(10_500)
  expect((await refresh(refreshToken)).status).toBe(401)
  await expectRefused(newest.accessToken, 'newest access token')
  expect((await refresh(newest.refreshToken)).status).toBe(401)
})

test('a spent token seen when its successor was used ends the session at once', async () => {
  const { refreshToken } = await house.pair('Phone with a twin')
  const second = await refreshed(refreshToken)
  const third = await refreshed(second.refreshToken)
  expect((await refresh(refreshToken)).status).toBe(401)
  await expectRefused(third.accessToken, 'newest access token')
  expect((await refresh(third.refreshToken)).status).toBe(401)
  expect((await refresh(second.refreshToken)).status).toBe(401)
})

test('fifty refreshes at once leave one family', async () => {
  const { refreshToken } = await house.pair('Hasty phone')
  const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(refreshToken)))
  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
  const pairs = (await Promise.all(answers.map((answer) => answer.json()))) as { accessToken: string; refreshToken: string }[]
  expect(new Set(pairs.map((pair) => pair.refreshToken)).size).toBe(1)
  const next = await refreshed(pairs[0]?.refreshToken ?? '')
  expect(await statusOf(next.accessToken)).toBe(200)
})

test('refreshing is limited per address, loopback or not, whatever a proxy header says', async () => {
  const from = '127.77.1.1'
  const statuses: number[] = []
  for (let at = 0; at < 21; at += 1) {
    const answer = await house
      .bearer(`x${'y'.repeat(30)}`)
      .fetch('/api/auth/refresh', { method: 'POST', headers: { 'x-forwarded-for': `10.0.0.${at}` } }, { from })
    statuses.push(answer.status)
    if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  }
  expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401))
  expect(statuses[20]).toBe(429)
})

test('a refresh token ends 90 days after its last use', async () => {
  const { refreshToken } = await house.pair('Phone in a drawer')
  later(89 * DAY_MS)
  const used = await refreshed(refreshToken)
  later(89 * DAY_MS)
  const again = await refreshed(used.refreshToken)
  later(91 * DAY_MS)
  expect((await refresh(again.refreshToken)).status).toBe(401)
})

test('a revoked device is out at once', async () => {
  const lost = await house.pair('Lost phone')
  expect(await statusOf(lost.accessToken)).toBe(200)
  const owner = await house.owner()
  await owner.api.pairedDevices.revoke({ params: { id: lost.id } })
  await expectRefused(lost.accessToken, 'access token')
  expect((await refresh(lost.refreshToken)).status).toBe(401)
})

test('a changed scope makes older tokens invalid, and the new ones carry it', async () => {
  const child = await house.pair('Child’s tablet', 'admin', 'tablet')
  const owner = await house.owner()
  expect((await child.fetch('/api/paired-devices')).status).toBe(200)
  await owner.api.pairedDevices.update({ params: { id: child.id }, body: { scope: 'guest' } })
  await expectRefused(child.accessToken, 'token of the wider scope')
  const { accessToken } = await refreshed(child.refreshToken)
  expect(claimsOf(accessToken).scope).toBe('guest')
  expect((await house.bearer(accessToken).fetch('/api/paired-devices')).status).toBe(403)
})

test('a device cannot widen its own scope', async () => {
  for (const scope of ['guest', 'member'] as const) {
    const device = await house.pair(`${scope}’s phone`, scope)
    expect((await device.fetch(`/api/paired-devices/${device.id}`, json({ scope: 'admin' }, 'PATCH'))).status).toBe(403)
    expect((await device.fetch('/api/keys', json({ label: 'mine', scope: 'admin' }))).status).toBe(403)
    expect((await device.fetch('/api/auth/pair/start', json({ scope: 'admin' }))).status).toBe(403)
  }
})

test('the development token is for the owner’s page alone, and never wider than the device', async () => {
  const owner = await house.owner()
  const device = await owner.api.pairedDevices.list().then((list) => list.find(({ id }) => id === phone.id))
  const good = { deviceId: phone.id, userId: device?.userId ?? '', deviceType: 'phone' }
  const path = (change: object = {}) => `/api/paired-devices/token?${new URLSearchParams({ ...good, ...change })}`
  const cookie = owner.jar.header()
  const ask = async (headers: Record<string, string>) => (await house.stranger().fetch(path(), { headers })).status

  const answer = await owner.fetch(path())
  expect(answer.status).toBe(200)
  const { token, expiresIn } = (await answer.json()) as { token: string; expiresIn: number }
  expect(claimsOf(token)).toMatchObject({ deviceId: phone.id, scope: 'guest' })
  expect(expiresIn).toBe(900)
  expect((await house.bearer(token).fetch('/api/household')).status).toBe(403)

  expect((await owner.fetch(path({ scope: 'admin' }))).status).toBe(400)
  expect((await owner.fetch(path({ deviceId: randomUUID() }))).status).toBe(404)
  expect((await owner.fetch(path({ userId: randomUUID() }))).status).toBe(409)
  expect((await owner.fetch(path({ deviceType: 'tv' }))).status).toBe(409)

  const { origin, host } = new URL(house.url)
  expect(await ask({})).toBe(401)
  expect(await ask({ cookie })).toBe(403)
  expect(await ask({ cookie, 'sec-fetch-site': 'cross-site' })).toBe(403)
  expect(await ask({ cookie, 'sec-fetch-site': 'same-site' })).toBe(403)
  expect(await ask({ cookie, 'sec-fetch-site': 'cross-site', referer: `${origin}/settings` })).toBe(403)
  expect(await ask({ cookie, origin: 'https://evil.example' })).toBe(403)
  expect(await ask({ cookie, origin: 'null' })).toBe(403)
  expect(await ask({ cookie, referer: `http://${host}.evil.example/` })).toBe(403)
  expect(await ask({ cookie, referer: 'https://evil.example/' })).toBe(403)
  expect(await ask({ cookie, referer: `${origin}/settings` })).toBe(200)
  expect(await ask({ cookie, 'x-hearth-request': '1' })).toBe(200)
})

test('an API key ends at its time, and at once when it is revoked', async () => {
  const owner = await house.owner()
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const timed = await owner.api.keys.create({ body: { label: 'timed', scope: 'member', expiresAt } })
  const revoked = await owner.api.keys.create({ body: { label: 'revoked', scope: 'admin' } })
  expect(await owner.api.keys.list()).toContainEqual(expect.not.objectContaining({ key: expect.anything() }))
  expect(await statusOf(revoked.key)).toBe(200)
  await owner.api.keys.revoke({ params: { id: revoked.id } })
  await expectRefused(revoked.key, 'revoked key')
  await expectRefused(timed.key.slice(0, -1), 'a key cut short')
  await expectRefused(timed.key.replace('hk_', ''), 'a key without its prefix')
  later(3_599_000)
  expect(await statusOf(timed.key)).toBe(200)
  later(2_000)
  await expectRefused(timed.key, 'a key that is over')
})

test('version 1 is gone, and says where to', async () => {
  const owner = await house.owner()
  const start = await owner.fetch('/api/paired-devices/pair', { method: 'POST' })
  const verify = await house
    .stranger()
    .fetch('/api/paired-devices/verify', json({ code: 'ABCDEFGH', deviceId: randomUUID(), deviceName: 'Old', deviceType: 'tv' }))
  for (const answer of [start, verify]) {
    expect(answer.status).toBe(410)
    expect(answer.headers.get('deprecation')).toBeTruthy()
    expect(answer.headers.get('link')).toContain('/api/auth/pair/')
    expect(await answer.json()).toMatchObject({ code: 'deprecated' })
  }
})

test('what was revoked stays so after a restart, what was not goes on, and nothing is on the disk in clear', async () => {
  const owner = await house.owner()
  const lost = await house.pair('Lost tablet', 'member', 'tablet')
  const kept = await house.pair('Kept tablet', 'member', 'tablet')
  const { key, id } = await owner.api.keys.create({ body: { label: 'lost', scope: 'admin' } })
  const robbed = await house.pair('Robbed tablet', 'member', 'tablet')
  const second = await refreshed(robbed.refreshToken)
  const third = await refreshed(second.refreshToken)
  await refresh(robbed.refreshToken)
  await owner.api.pairedDevices.revoke({ params: { id: lost.id } })
  await owner.api.keys.revoke({ params: { id } })
  const live = await owner.api.keys.create({ body: { label: 'kept', scope: 'guest' } })
  const afterGrace = await refreshed(kept.refreshToken)

  const secrets = {
    'refresh token': kept.refreshToken,
    'its successor': afterGrace.refreshToken,
    'a revoked one': lost.refreshToken,
    'access token': kept.accessToken,
    'API key': live.key.slice(3),
    'session cookie': owner.jar.get('hearth_session')?.split('.')[2] ?? 'none',
  }
  await house.app.idle()
  expect(occurrences(house.dataPath, secrets)).toEqual([])
  expect(occurrences(house.dataPath, { name: 'Kept tablet' })).not.toEqual([])

  await house.restart()
  for (const token of [lost.accessToken, third.accessToken, key]) await expectRefused(token, 'after the restart')
  for (const token of [lost.refreshToken, third.refreshToken, second.refreshToken]) expect((await refresh(token)).status).toBe(401)
  expect(await statusOf(kept.accessToken)).toBe(200)
  expect(await statusOf(live.key)).toBe(200)
  expect((await refresh(kept.refreshToken)).status).toBe(200)
  expect(occurrences(house.dataPath, secrets)).toEqual([])
})
