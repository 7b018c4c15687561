import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { claimsOf, expectRefused, refresh, refreshed, statusOf } from '../support/bearer-calls.ts'
import { later } from '../support/clock.ts'
import { json } from '../support/credentials.ts'
import { type Device, type House, startHouse } from '../support/house.ts'
import { occurrences } from '../support/on-disk.ts'

const DAY_MS = 86_400_000

let house: House
let phone: Device
beforeAll(async () => {
  house = await startHouse()
  phone = await house.pair('Phone', 'guest')
})
afterAll(() => house[Symbol.asyncDispose]())
afterEach(() => void vi.useRealTimers())

test('a lost answer is given again, and only one family goes on', async () => {
  const { refreshToken } = await house.pair('Phone on a bad line')
  const first = await refreshed(house, refreshToken)
  later(9_000)
  const again = await refreshed(house, refreshToken)
  expect(again.refreshToken).toBe(first.refreshToken)
  expect(await statusOf(house, again.accessToken)).toBe(200)
  const next = await refreshed(house, again.refreshToken)
  expect(next.refreshToken).not.toBe(first.refreshToken)
  expect(await statusOf(house, next.accessToken)).toBe(200)
})

test('a spent token seen after the grace ends the whole session', async () => {
  const { refreshToken } = await house.pair('Robbed phone')
  const newest = await refreshed(house, refreshToken)
  later(10_500)
  expect((await refresh(house, refreshToken)).status).toBe(401)
  await expectRefused(house, newest.accessToken, 'newest access token')
  expect((await refresh(house, newest.refreshToken)).status).toBe(401)
})

test('a spent token seen when its successor was used ends the session at once', async () => {
  const { refreshToken } = await house.pair('Phone with a twin')
  const second = await refreshed(house, refreshToken)
  const third = await refreshed(house, second.refreshToken)
  expect((await refresh(house, refreshToken)).status).toBe(401)
  await expectRefused(house, third.accessToken, 'newest access token')
  expect((await refresh(house, third.refreshToken)).status).toBe(401)
  expect((await refresh(house, second.refreshToken)).status).toBe(401)
})

test('fifty refreshes at once leave one family', async () => {
  const { refreshToken } = await house.pair('Hasty phone')
  const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(house, refreshToken)))
  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
  const pairs = (await Promise.all(answers.map((answer) => answer.json()))) as { accessToken: string; refreshToken: string }[]
  expect(new Set(pairs.map((pair) => pair.refreshToken)).size).toBe(1)
  const next = await refreshed(house, pairs[0]?.refreshToken ?? '')
  expect(await statusOf(house, next.accessToken)).toBe(200)
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
  const used = await refreshed(house, refreshToken)
  later(89 * DAY_MS)
  const again = await refreshed(house, used.refreshToken)
  later(91 * DAY_MS)
  expect((await refresh(house, again.refreshToken)).status).toBe(401)
})

test('a revoked device is out at once', async () => {
  const lost = await house.pair('Lost phone')
  expect(await statusOf(house, lost.accessToken)).toBe(200)
  const owner = await house.owner()
  await owner.api.pairedDevices.revoke({ params: { id: lost.id } })
  await expectRefused(house, lost.accessToken, 'access token')
  expect((await refresh(house, lost.refreshToken)).status).toBe(401)
})

test('a changed scope makes older tokens invalid, and the new ones carry it', async () => {
  const child = await house.pair('Child’s tablet', 'admin', 'tablet')
  const owner = await house.owner()
  expect((await child.fetch('/api/paired-devices')).status).toBe(200)
  await owner.api.pairedDevices.update({ params: { id: child.id }, body: { scope: 'guest' } })
  await expectRefused(house, child.accessToken, 'token of the wider scope')
  const { accessToken } = await refreshed(house, child.refreshToken)
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
  expect(await statusOf(house, revoked.key)).toBe(200)
  await owner.api.keys.revoke({ params: { id: revoked.id } })
  await expectRefused(house, revoked.key, 'revoked key')
  await expectRefused(house, timed.key.slice(0, -1), 'a key cut short')
  await expectRefused(house, timed.key.replace('hk_', ''), 'a key without its prefix')
  later(3_599_000)
  expect(await statusOf(house, timed.key)).toBe(200)
  later(2_000)
  await expectRefused(house, timed.key, 'a key that is over')
})

test('version 1 is gone, and says where to', async () => {
  const owner = await house.owner()
  const start = await owner.fetch('/api/paired-devices/pair', { method: 'POST' })
  const verify = await house
    .stranger()
    .fetch('/api/paired-devices/verify', json({ code: 'ABCDEFGH', deviceId: randomUUID(), deviceName: 'Old', deviceType: 'tv' }))
  const junk = await house.stranger().fetch('/api/paired-devices/verify', json({ code: 'x', deviceId: 'an-old-id', surprise: true }))
  const empty = await house.stranger().fetch('/api/paired-devices/verify', { method: 'POST' })
  for (const answer of [start, verify, junk, empty]) {
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
  const second = await refreshed(house, robbed.refreshToken)
  const third = await refreshed(house, second.refreshToken)
  await refresh(house, robbed.refreshToken)
  await owner.api.pairedDevices.revoke({ params: { id: lost.id } })
  await owner.api.keys.revoke({ params: { id } })
  const live = await owner.api.keys.create({ body: { label: 'kept', scope: 'guest' } })
  const afterGrace = await refreshed(house, kept.refreshToken)

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
  for (const token of [lost.accessToken, third.accessToken, key]) await expectRefused(house, token, 'after the restart')
  for (const token of [lost.refreshToken, third.refreshToken, second.refreshToken]) expect((await refresh(house, token)).status).toBe(401)
  expect(await statusOf(house, kept.accessToken)).toBe(200)
  expect(await statusOf(house, live.key)).toBe(200)
  expect((await refresh(house, kept.refreshToken)).status).toBe(200)
  expect(occurrences(house.dataPath, secrets)).toEqual([])
})

test('a guest’s key reads its own conversations alone; a member’s acts for the owner', async () => {
  const owner = await house.owner()
  await owner.api.chat.send({ body: { message: 'remember that the safe opens with 9876' } })
  const keyOf = async (scope: 'guest' | 'member') => house.bearer((await owner.api.keys.create({ body: { label: scope, scope } })).key)
  const guest = await keyOf('guest')
  const [first] = await owner.api.chat.list({ query: {} })
  expect(await guest.api.chat.list({ query: {} })).toEqual([])
  await expect(guest.api.chat.get({ params: { id: first?.id ?? '' } })).rejects.toMatchObject({ status: 404 })
  expect(await guest.api.chat.search({ query: { q: 'safe' } })).toEqual([])
  await guest.api.chat.send({ body: { message: 'What is 6 times 7?' } })
  expect(await guest.api.chat.list({ query: {} })).toHaveLength(1)
  expect((await (await keyOf('member')).api.chat.list({ query: {} })).map(({ id }) => id)).toContain(first?.id)
})
