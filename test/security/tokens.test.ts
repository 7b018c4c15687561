import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Claims, claimsOf, expectRefused, PROTECTED, refresh, statusOf } from '../support/bearer-calls.ts'
import { later } from '../support/clock.ts'
import { json } from '../support/credentials.ts'
import { type Device, type House, startHouse } from '../support/house.ts'
import { secretOf } from '../support/on-disk.ts'
import { exchange, rawRequest } from '../support/raw-http.ts'

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

const HMAC: Record<string, string> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' }

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token written by hand, so that its header and claims may be anything; unsigned where `alg` is no HMAC. */
function forge(claims: Claims, { header = {}, key = secret }: { header?: Claims; key?: string } = {}): string {
  const full: Claims = { alg: 'HS256', typ: 'JWT', ...header }
  const text = `${part(full)}.${part(claims)}`
  const hash = HMAC[String(full.alg)]
  return `${text}.${hash ? createHmac(hash, key).update(text).digest('base64url') : ''}`
}

test('a token carries exactly what was specified, and a copy made with the secret passes', async () => {
  const claims = claimsOf(phone.accessToken)
  expect(Object.keys(claims).toSorted()).toEqual(['deviceId', 'deviceType', 'exp', 'iat', 'scope', 'sessionId', 'userId'])
  expect(claims).toMatchObject({ deviceId: phone.id, deviceType: 'phone', scope: 'guest' })
  expect(Number(claims.exp) - Number(claims.iat)).toBe(900)
  expect(await statusOf(house, forge(claims))).toBe(200)
})

test('no algorithm but HS256 is taken, whatever the key', async () => {
  const claims = claimsOf(phone.accessToken)
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '', 'HS384', 'HS512', 'RS256', 'ES256', 'HS256 ', 'hs256']) {
    await expectRefused(house, forge(claims, { header: { alg } }), `alg ${alg}`)
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
    await expectRefused(house, token, token.slice(0, 20))
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
    await expectRefused(house, forge(claims, { header, key }), JSON.stringify(header))
    await expectRefused(house, forge(claims, { header, key: '' }), JSON.stringify(header))
  }
  await expectRefused(house, forge(claims, { header: { crit: ['exp'] } }), 'an extension nobody knows')
  await expectRefused(house, forge(claims, { header: { b64: false, crit: ['b64'] } }), 'an unencoded payload')
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
  for (const [about, forged] of bad) await expectRefused(house, forge(forged), about)
})

test('an access token ends after its 15 minutes, also where it was seen before', async () => {
  const tv = await house.pair('TV', 'member', 'tv')
  expect(await statusOf(house, tv.accessToken)).toBe(200)
  later(899_000)
  expect(await statusOf(house, tv.accessToken)).toBe(200)
  later(2_000)
  await expectRefused(house, tv.accessToken, 'over')
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
  for (const change of bad) await expectRefused(house, forge({ ...claims, ...change }), JSON.stringify(change))
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
    await expectRefused(house, forge(claims, { key }), key.slice(0, 8))
    await expectRefused(house, forge(claimsOf(phone.accessToken), { key }), key.slice(0, 8))
  }
})

test('a refresh token is no access token, and the other way round', async () => {
  await expectRefused(house, phone.refreshToken, 'refresh token as access token')
  for (const token of [
    phone.accessToken,
    'hk_x',
    'x',
    '',
    phone.refreshToken.slice(0, -1),
    `${phone.refreshToken}x`,
    phone.refreshToken.toLowerCase(),
  ]) {
    const answer = await refresh(house, token)
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
