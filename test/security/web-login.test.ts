import { createHmac, randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createDesktopTickets } from '../../server/modules/auth/desktop-tickets.ts'
import { later } from '../support/clock.ts'
import { json } from '../support/credentials.ts'
import { type House, OWNER_PASSWORD, startHouse } from '../support/house.ts'
import { secretOf } from '../support/on-disk.ts'

const DAY_MS = 86_400_000

let house: House
beforeAll(async () => {
  house = await startHouse()
})
afterAll(() => house[Symbol.asyncDispose]())
afterEach(() => void vi.useRealTimers())

/** Signs in with these request headers; answers the cookie lines. */
async function signIn(headers: Record<string, string> = {}): Promise<string[]> {
  const answer = await house.stranger().fetch('/api/auth/local', {
    ...json({ password: OWNER_PASSWORD }),
    headers: { 'content-type': 'application/json', origin: house.url, ...headers },
  })
  expect(answer.status).toBe(204)
  return answer.headers.getSetCookie()
}

const cookieOf = (lines: string[]) => lines[0]?.split(';')[0] ?? ''

const valueIn = (lines: string[]) => cookieOf(lines).split('=')[1] ?? ''

const asks = async (cookie: string, path = '/api/keys') => (await house.stranger().fetch(path, { headers: { cookie } })).status

async function expectOut(cookie: string, about: string): Promise<void> {
  const answer = await house.stranger().fetch('/api/keys', { headers: { cookie } })
  expect(answer.status, about).toBe(401)
  expect(await answer.json(), about).toEqual({ error: 'Unauthorized' })
  const session = await house.stranger().fetch('/api/auth/session', { headers: { cookie } })
  expect(await session.json(), about).toEqual({ user: null })
}

test('the session cookie is for this server alone and no script reads it', async () => {
  const [line = '', ...others] = await signIn()
  expect(others).toEqual([])
  expect(line).toMatch(/^hearth_session=[\w.-]+;/)
  for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Path=/', 'Max-Age=2592000']) expect(line).toContain(attribute)
  expect(line).not.toMatch(/domain=|secure/i)
  expect(Buffer.byteLength(line)).toBeLessThanOrEqual(4096)
})

test('a cookie that was there before is never adopted', async () => {
  const mine = valueIn(await signIn())
  for (const planted of ['planted', mine, `${randomUUID()}.${randomUUID()}.x.y`]) {
    const lines = await signIn({ cookie: `hearth_session=${planted}` })
    expect(valueIn(lines)).not.toBe(planted)
    expect(await asks(cookieOf(lines))).toBe(200)
  }
})

test('behind a trusted proxy that speaks HTTPS the cookie is __Host- and Secure', async () => {
  const proxied = await startHouse({ env: { SERVICE_TRUSTED_PROXIES: '127.0.0.0/8', SERVICE_PUBLIC_URL: 'https://home.example' } })
  try {
    const forwarded = { host: 'home.example', 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' }
    const enter = (headers: Record<string, string>) =>
      proxied
        .stranger()
        .fetch('/api/auth/local', { ...json({ password: OWNER_PASSWORD }), headers: { 'content-type': 'application/json', ...headers } })
    const answer = await enter({ ...forwarded, origin: 'https://home.example' })
    expect(answer.status).toBe(204)
    const [line = ''] = answer.headers.getSetCookie()
    expect(line).toMatch(/^__Host-hearth_session=/)
    for (const attribute of ['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/']) expect(line).toContain(attribute)
    expect(line).not.toMatch(/domain=/i)
    const cookie = line.split(';')[0] ?? ''
    const get = async (headers: Record<string, string>) => (await proxied.stranger().fetch('/api/keys', { headers })).status
    expect(await get({ ...forwarded, cookie })).toBe(200)
    // Without TLS a sibling host may have planted the plain name, and over TLS only the prefixed one counts.
    expect(await get({ ...forwarded, cookie: cookie.replace('__Host-', '') })).toBe(401)
    expect((await enter({ ...forwarded, origin: 'http://home.example' })).status).toBe(403)
    expect((await enter({ ...forwarded, 'x-forwarded-proto': 'http', origin: 'https://home.example' })).status).toBe(403)
  } finally {
    await proxied[Symbol.asyncDispose]()
  }
})

test('a proxy that nobody trusts decides neither scheme nor address', async () => {
  const [line = ''] = await signIn({ 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' })
  expect(line).toMatch(/^hearth_session=/)
  const owner = await house.owner()
  expect((await owner.api.auth.sessions()).map(({ address }) => address)).not.toContain('203.0.113.7')
})

test('a cookie that was changed, cut or signed by another is nobody', async () => {
  const value = valueIn(await signIn())
  const [instance = '', id = '', token = '', signature = ''] = value.split('.')
  const flipped = `${token[0] === 'A' ? 'B' : 'A'}${token.slice(1)}`
  const bad = [
    '', '.', '...', '....', 'x.y.z.w', value.slice(0, -1), `${value}x`, `${value}.x`, value.toUpperCase(),
    `${instance}.${id}.${token}`, `${instance}.${id}.${token}.`, `${instance}.${id}.${flipped}.${signature}`,
    `${instance}.${randomUUID()}.${token}.${signature}`, `${randomUUID()}.${id}.${token}.${signature}`,
    `${instance}.${id}..${signature}`, '%E0%A4%A', '%00', 'a'.repeat(4_000), `"${value}x"`,
  ] // biome-ignore format: a table
  for (const cookie of bad) await expectOut(`hearth_session=${cookie}`, cookie.slice(0, 60))
  const signed = (...parts: string[]) => {
    const text = parts.join('.')
    return `hearth_session=${text}.${createHmac('sha256', secretOf(house.dataPath, 'AUTH_SECRET')).update(text).digest('base64url')}`
  }
  expect(await asks(signed(instance, id, token))).toBe(200)
  await expectOut(signed(randomUUID(), id, token), 'of another Hearth with the same secret')
  await expectOut(signed(instance, randomUUID(), token), 'of a session that is none')
  await expectOut(signed(instance, id, flipped), 'of another secret part')
  await expectOut(`HEARTH_SESSION=${value}`, 'another name')
  await expectOut(`__Host-hearth_session=${value}`, 'the name for HTTPS')
  await expectOut(`hearth_device=${value}`, 'the name for devices')
  expect(await asks(`a=b; hearth_session=${value}; c=%`)).toBe(200)
})

test('a session ends after a week unused and after thirty days in any case', async () => {
  const idle = cookieOf(await signIn())
  const busy = cookieOf(await signIn())
  for (let day = 6; day <= 24; day += 6) {
    later(6 * DAY_MS)
    expect(await asks(busy), `day ${day}`).toBe(200)
  }
  await house.app.idle()
  await expectOut(idle, 'idle')
  later(5.9 * DAY_MS)
  expect(await asks(busy), 'just before thirty days').toBe(200)
  later(0.2 * DAY_MS)
  await expectOut(busy, 'thirty days')
})

test('logging out ends the session, not only its cookie', async () => {
  const owner = await house.owner()
  const cookie = owner.jar.header()
  const bye = await owner.fetch('/api/auth/logout', { method: 'POST' })
  expect(bye.status).toBe(204)
  expect(bye.headers.getSetCookie()[0]).toMatch(/^hearth_session=;.*Max-Age=0/)
  await expectOut(cookie, 'logged out')

  const again = await house.owner()
  const kept = again.jar.header()
  const page = await again.fetch('/api/auth/logout')
  expect(page.status).toBe(302)
  expect(page.headers.get('location')).toBe('/login')
  await expectOut(kept, 'logged out by link')
})

test('sessions are listed, and ended one by one', async () => {
  const mine = await house.owner()
  const other = await house.owner()
  const sessions = await mine.api.auth.sessions()
  const current = sessions.filter((session) => session.current)
  expect(current).toHaveLength(1)
  expect(JSON.stringify(sessions)).not.toMatch(/hash|token/i)
  const theirs = (await other.api.auth.sessions()).find((session) => session.current)
  await mine.api.auth.endSession({ params: { id: theirs?.id ?? '' } })
  await expectOut(other.jar.header(), 'ended from elsewhere')
  expect((await mine.fetch('/api/keys')).status).toBe(200)
})

test('a new password ends every other session, and wants the old one', async () => {
  const mine = await house.owner()
  const other = await house.owner()
  const wrong = await mine.fetch('/api/auth/password', json({ current: 'not it', next: 'another long one' }))
  expect(wrong.status).toBe(401)
  const right = await mine.fetch('/api/auth/password', json({ current: OWNER_PASSWORD, next: 'another long one' }))
  expect(right.status).toBe(204)
  await expectOut(other.jar.header(), 'older session')
  expect((await mine.fetch('/api/keys')).status).toBe(200)
  expect((await house.stranger().fetch('/api/auth/local', json({ password: OWNER_PASSWORD }))).status).toBe(401)
  expect((await mine.fetch('/api/auth/password', json({ current: 'another long one', next: OWNER_PASSWORD }))).status).toBe(204)
})

test('five wrong passwords close the door to their address, whatever it claims to be', async () => {
  const from = '127.77.4.1'
  const attempt = (password: string, headers: Record<string, string> = {}, address = from) =>
    house
      .stranger()
      .fetch('/api/auth/local', { ...json({ password }), headers: { 'content-type': 'application/json', ...headers } }, { from: address })
  for (let at = 0; at < 5; at += 1) expect((await attempt(`wrong ${at}`, { 'x-forwarded-for': `10.0.0.${at}` })).status).toBe(401)
  const closed = await attempt(OWNER_PASSWORD, { 'x-forwarded-for': '10.9.9.9', 'x-real-ip': '10.9.9.9' })
  expect(closed.status).toBe(429)
  expect(Number(closed.headers.get('retry-after'))).toBeGreaterThan(1)
  expect(closed.headers.getSetCookie()).toEqual([])
  expect((await attempt(OWNER_PASSWORD, {}, '127.77.4.2')).status).toBe(204)
})

test('twenty wrong passwords at once are no way around that', async () => {
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, at) =>
      house.stranger().fetch('/api/auth/local', json({ password: `wrong ${at}` }), { from: '127.77.4.3' }),
    ),
  )
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(5)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
})

test('a desktop ticket works once, for half a minute, from this machine alone', async () => {
  const redeem = (ticket: string, headers: Record<string, string> = {}) =>
    house.stranger().fetch('/api/auth/desktop', { ...json({ ticket }), headers: { 'content-type': 'application/json', ...headers } })
  const ticket = house.app.tickets.issue()
  for (const headers of [{ 'x-forwarded-for': '127.0.0.1' }, { host: 'evil.example' }, { host: '0.0.0.0' }, { via: '1.1 proxy' }])
    expect((await redeem(ticket, headers)).status, JSON.stringify(headers)).toBe(403)
  expect((await redeem('wrong')).status).toBe(401)
  const answers = await Promise.all([redeem(ticket), redeem(ticket), redeem(ticket)])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 401, 401])
  let now = 0
  const tickets = createDesktopTickets(() => now)
  const [early, late] = [tickets.issue(), tickets.issue()]
  now = 30_000
  expect(tickets.redeem(early)).toBe(true)
  now = 30_001
  expect(tickets.redeem(late)).toBe(false)
})

test('a cookie of another Hearth, and one from before the secret changed, is nobody', async () => {
  const cookie = cookieOf(await signIn())
  const other = await startHouse()
  try {
    writeFileSync(join(other.dataPath, 'config', 'secrets.env'), readFileSync(join(house.dataPath, 'config', 'secrets.env')))
    await other.restart()
    expect((await other.stranger().fetch('/api/keys', { headers: { cookie } })).status).toBe(401)
  } finally {
    await other[Symbol.asyncDispose]()
  }
  await house.restart()
  expect(await asks(cookie)).toBe(200)
  const path = join(house.dataPath, 'config', 'secrets.env')
  const secrets = readFileSync(path, 'utf8')
  writeFileSync(path, secrets.replace(secretOf(house.dataPath, 'AUTH_SECRET'), 'f'.repeat(64)))
  await house.restart()
  await expectOut(cookie, 'signed with the old secret')
  expect(await asks(cookieOf(await signIn()))).toBe(200)
})
