import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { later } from '../support/clock.ts'
import { askWithCookie, json } from '../support/credentials.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'
import { occurrences } from '../support/on-disk.ts'
import { askIn, deviceInfo, inBrowser, poll, seen, start } from '../support/pairing-calls.ts'

let house: House
let owner: Browser
beforeAll(async () => {
  house = await startHouse()
  owner = await house.owner()
})
afterAll(() => house[Symbol.asyncDispose]())
afterEach(() => void vi.useRealTimers())

test('a browser pairs into a cookie that no script reads, and never gets a token', async () => {
  const answer = await inBrowser(house, await start(owner, { scope: 'member' }))
  expect(answer.status).toBe(200)
  expect(Object.keys((await answer.json()) as object)).toEqual(['device'])
  const [line = '', ...others] = answer.headers.getSetCookie()
  expect(others).toEqual([])
  expect(line).toMatch(/^hearth_device=[\w-]{43};/)
  for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Path=/', 'Max-Age=7776000']) expect(line).toContain(attribute)
  expect(line).not.toMatch(/domain=/i)
  const cookie = line.split(';')[0] ?? ''
  const value = cookie.split('=')[1] ?? ''
  expect((await askWithCookie(house, cookie)('/api/household')).status).toBe(200)
  expect((await house.bearer(value).fetch('/api/household')).status).toBe(401)
  expect((await house.bearer(value).fetch('/api/auth/refresh', { method: 'POST' })).status).toBe(401)
  expect((await askWithCookie(house, `hearth_session=${value}`)('/api/household')).status).toBe(401)
})

test('a device cookie obeys the cross-site and host rules, slides, and ends', async () => {
  const answer = await inBrowser(house, await start(owner))
  const { device } = (await answer.json()) as { device: { id: string } }
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const say = (headers: Record<string, string>) =>
    house
      .stranger()
      .fetch('/api/chat', { ...json({ message: 'Hello' }), headers: { 'content-type': 'application/json', cookie, ...headers } })
  expect((await say({ origin: house.url })).status).toBe(200)
  for (const headers of [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const refused = await say(headers)
    expect(refused.status, JSON.stringify(headers)).toBe(403)
    expect(await refused.json()).toMatchObject({ code: 'cross_site' })
  }
  const elsewhere = await house.stranger().fetch('/api/household', { headers: { cookie, host: 'evil.example' } })
  expect(await elsewhere.json()).toMatchObject({ code: 'unknown_host' })

  const ask = askWithCookie(house, cookie)
  later(80 * 86_400_000)
  expect((await ask('/api/auth/session')).headers.getSetCookie()[0]).toContain(cookie)
  later(80 * 86_400_000)
  expect((await ask('/api/household')).status).toBe(200)
  later(91 * 86_400_000)
  expect((await ask('/api/household')).status).toBe(401)
  vi.useRealTimers()
  expect((await ask('/api/household')).status).toBe(200)
  await owner.api.pairedDevices.revoke({ params: { id: device.id } })
  expect((await ask('/api/household')).status).toBe(401)
  expect(await (await ask('/api/auth/session')).json()).toEqual({ user: null })
})

test('a browser that logs out is out for good', async () => {
  const answer = await inBrowser(house, await start(owner))
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const ask = askWithCookie(house, cookie)
  const bye = await ask('/api/auth/logout', { method: 'POST' })
  expect(bye.status).toBe(204)
  expect(bye.headers.getSetCookie().join()).toMatch(/hearth_device=;.*Max-Age=0/)
  expect((await ask('/api/household')).status).toBe(401)
})

test('a TV waits, is let in by the owner alone, and gets its tokens once', async () => {
  const tv = await askIn(house)
  expect(tv.userCode).toMatch(/^[A-HJ-NP-Z2-9]{3}-[A-HJ-NP-Z2-9]{3}$/)
  expect((await poll(house, tv)).status).toBe(202)
  const admin = await house.pair('Admin phone', 'admin')
  expect((await admin.fetch('/api/auth/pair/approve', json({ userCode: tv.userCode }))).status).toBe(403)
  expect((await house.stranger().fetch('/api/auth/pair/approve', json({ userCode: tv.userCode }))).status).toBe(401)
  expect((await owner.fetch('/api/auth/pair/approve', json({ userCode: 'ZZZ-ZZZ' }))).status).toBe(404)
  const approved = await owner.api.pairing.approve({ body: { userCode: tv.userCode.toLowerCase().replace('-', ' '), scope: 'guest' } })
  expect(approved).toMatchObject({ name: 'TV', scope: 'guest' })
  expect((await owner.fetch('/api/auth/pair/approve', json({ userCode: tv.userCode, scope: 'admin' }))).status).toBe(404)

  for (const wrong of [
    { id: tv.id, pollSecret: 'wrong' },
    { id: tv.id, pollSecret: tv.userCode },
    { id: randomUUID(), pollSecret: tv.pollSecret },
  ]) {
    const refused = await poll(house, wrong)
    expect(await seen(refused)).toMatchObject({ status: 401, body: '{"error":"Unauthorized"}' })
  }
  const answers = await Promise.all(Array.from({ length: 10 }, () => poll(house, tv)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(401)])
  const granted = answers.find(({ status }) => status === 200) as Response
  const { accessToken, device } = (await granted.json()) as { accessToken: string; device: { scope: string } }
  expect(device.scope).toBe('guest')
  expect((await house.bearer(accessToken).fetch('/api/household')).status).toBe(403)
})

test('a TV’s request ends after ten minutes, and is for devices at home', async () => {
  const tv = await askIn(house)
  later(10 * 60_000 + 1_000)
  expect((await poll(house, tv)).status).toBe(401)
  expect((await owner.fetch('/api/auth/pair/approve', json({ userCode: tv.userCode }))).status).toBe(404)
  vi.useRealTimers()
  for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host', 'x-forwarded-proto']) {
    const headers = { 'content-type': 'application/json', [header]: '127.0.0.1' }
    for (const path of ['/api/auth/pair/request', `/api/auth/pair/request/${tv.id}`]) {
      expect((await house.stranger().fetch(path, { ...json({ deviceInfo }), headers })).status, header).toBe(403)
    }
  }
})

test('asking to be let in is limited to five a minute', async () => {
  const ask = () => house.stranger().fetch('/api/auth/pair/request', json({ deviceInfo }), { from: '127.77.3.1' })
  const statuses: number[] = []
  for (let at = 0; at < 6; at += 1) statuses.push((await ask()).status)
  expect(statuses).toEqual([201, 201, 201, 201, 201, 429])
})

test('the public address is not home', async () => {
  await owner.api.settings.update({ body: { SERVICE_PUBLIC_URL: 'https://home.example' } })
  const link = await start(owner)
  expect(link.servers[0]).toBe('https://home.example')
  expect(link.webQr.startsWith('https://home.example/pair#d=')).toBe(true)
  const outside = await house
    .stranger()
    .fetch('/api/auth/pair/request', { ...json({ deviceInfo }), headers: { 'content-type': 'application/json', host: 'home.example' } })
  expect(outside.status).toBe(403)
  await owner.api.settings.update({ body: { SERVICE_PUBLIC_URL: null } })
})

test('no code, secret or cookie of a pairing lies on the disk in clear', async () => {
  const link = await start(owner)
  const tv = await askIn(house)
  const browser = await inBrowser(house, await start(owner))
  await house.app.idle()
  const cookie = browser.headers.getSetCookie()[0]?.split(';')[0]?.split('=')[1] ?? 'none'
  const secrets = {
    code: link.code,
    secret: link.secret,
    'TV code': tv.userCode,
    'TV code, joined': tv.userCode.replace('-', ''),
    'poll secret': tv.pollSecret,
    cookie,
  }
  expect(occurrences(house.dataPath, secrets)).toEqual([])
})

test('version 1, where it is switched on: one code, one member device, revocable', async () => {
  const old = await startHouse({ env: { SERVICE_AUTH_V2: '0' } })
  try {
    const admin = await old.owner()
    const { code } = await admin.api.pairedDevices.pairV1()
    const deviceId = randomUUID()
    const verify = (given: string, id: string = deviceId) =>
      old.stranger().fetch('/api/paired-devices/verify', json({ code: given, deviceId: id, deviceName: 'Old phone', deviceType: 'phone' }))
    expect((await verify('ZZZZZZZZ')).status).toBe(401)
    const answer = await verify(code)
    expect(answer.status).toBe(200)
    const { token } = (await answer.json()) as { token: string }
    expect((await verify(code, randomUUID())).status).toBe(401)
    const again = await admin.api.pairedDevices.pairV1()
    expect((await verify(again.code)).status).toBe(409)
    expect((await verify('', deviceId)).status).toBe(401)
    expect((await old.stranger().fetch('/api/paired-devices/verify', json({ code }))).status).toBe(400)
    const third = await admin.api.pairedDevices.pairV1()
    expect((await verify(third.code, 'an id of version 1')).status).toBe(200)
    expect((await old.bearer(token).fetch('/api/household')).status).toBe(200)
    expect((await old.bearer(token).fetch('/api/paired-devices')).status).toBe(403)
    expect((await old.bearer(token).fetch('/api/auth/refresh', { method: 'POST' })).status).toBe(401)
    await admin.api.pairedDevices.revoke({ params: { id: deviceId } })
    expect((await old.bearer(token).fetch('/api/household')).status).toBe(401)
  } finally {
    await old[Symbol.asyncDispose]()
  }
})
