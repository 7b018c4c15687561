import { randomUUID } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { askWithCookie, json, type Link, readLink } from '../support/credentials.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'
import { occurrences } from '../support/on-disk.ts'

const deviceInfo = { name: 'Phone', type: 'phone' }

let house: House
let owner: Browser
beforeAll(async () => {
  house = await startHouse()
  owner = await house.owner()
})
afterAll(() => house[Symbol.asyncDispose]())
afterEach(() => void vi.useRealTimers())

function later(ms: number): void {
  const to = Date.now() + ms
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(to)
}

async function start(
  body: Parameters<Browser['api']['pairing']['start']>[0]['body'] = {},
): Promise<Link & { id: string; qr: string; webQr: string }> {
  const { qr, webQr, pairing } = await owner.api.pairing.start({ body })
  return { ...readLink(qr), id: pairing.id, qr, webQr }
}

const complete = ({ code, secret }: Pick<Link, 'code' | 'secret'>, info: object = deviceInfo, from?: string) =>
  house.stranger().fetch('/api/auth/pair/complete', json({ code, secret, deviceInfo: info }), from ? { from } : {})
const inBrowser = ({ code, secret }: Pick<Link, 'code' | 'secret'>) =>
  house.stranger().fetch('/api/auth/pair/browser', json({ code, secret, deviceInfo }))

/** All that a caller can see of an answer. */
const seen = async (answer: Response) => ({
  status: answer.status,
  body: await answer.text(),
  headers: [...answer.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date'),
})

test('a link holds the code, the secret, where to go and the home’s name, and nothing else', async () => {
  const { qr, webQr, id, ...link } = await start()
  expect(Object.keys(link).toSorted()).toEqual(['code', 'name', 'secret', 'servers', 'v'])
  expect(link.v).toBe(2)
  expect(link.code).toMatch(/^[A-HJ-NP-Z2-9]{8}$/)
  expect(Buffer.from(link.secret, 'base64url')).toHaveLength(32)
  expect(qr).toBe(`hearth://pair?d=${qr.split('d=')[1]}`)
  expect(webQr).toBe(`${link.servers[0]}/pair#d=${qr.split('d=')[1]}`)
  expect(await owner.api.pairing.state({ params: { id } })).toEqual({ status: 'pending' })
})

test('codes and secrets do not repeat', async () => {
  const links = await Promise.all(Array.from({ length: 20 }, () => start()))
  expect(new Set(links.map(({ code }) => code)).size).toBe(20)
  expect(new Set(links.map(({ secret }) => secret)).size).toBe(20)
})

test('a wrong secret looks exactly like an unknown code, and the fifth burns the pairing', async () => {
  const link = await start()
  const unknown = await seen(await complete({ code: 'ZZZZZZZZ', secret: link.secret }))
  expect(unknown).toMatchObject({ status: 401, body: '{"error":"Unauthorized"}' })
  for (let at = 0; at < 4; at += 1) expect(await seen(await complete({ code: link.code, secret: `wrong${at}` }))).toEqual(unknown)
  const last = await start()
  for (let at = 0; at < 4; at += 1) await complete({ code: last.code, secret: 'wrong' })
  expect((await complete(last)).status).toBe(200)

  expect(await seen(await inBrowser({ code: link.code, secret: 'wrong' }))).toEqual(unknown)
  expect(await seen(await complete(link))).toEqual(unknown)
  expect(await seen(await inBrowser(link))).toEqual(unknown)
  expect(await owner.api.pairing.state({ params: { id: link.id } })).toEqual({ status: 'expired' })
})

test('wrong secrets at once burn it too', async () => {
  const link = await start()
  const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => complete({ code: link.code, secret: `wrong${at}` })))
  expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(401))
  expect((await complete(link)).status).toBe(401)
})

test('guessing is limited per address, whatever a proxy header says', async () => {
  const from = '127.77.2.1'
  const ask = (at: number) =>
    house.stranger().fetch(
      at % 2 ? '/api/auth/pair/complete' : '/api/auth/pair/browser',
      {
        ...json({ code: `ABCDEF${10 + at}`, secret: 'x', deviceInfo }),
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.1.1.${at}`, 'x-real-ip': `10.1.1.${at}` },
      },
      { from },
    )
  const statuses: number[] = []
  for (let at = 0; at < 22; at += 1) statuses.push((await ask(at)).status)
  expect(statuses).toEqual([...Array(20).fill(401), 429, 429])
  const limited = await ask(23)
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(await limited.json()).toMatchObject({ code: 'rate_limited' })
})

test('a link works once: afterwards, and twenty times at once', async () => {
  const once = await start()
  expect((await complete(once)).status).toBe(200)
  expect((await complete(once)).status).toBe(401)
  expect((await inBrowser(once)).status).toBe(401)

  const link = await start()
  const before = (await owner.api.pairedDevices.list()).length
  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 ? complete(link) : inBrowser(link))))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(401)])
  expect(await owner.api.pairedDevices.list()).toHaveLength(before + 1)
})

test('a link ends after ten minutes, and when it is cancelled', async () => {
  const cancelled = await start()
  await owner.api.pairing.cancel({ params: { id: cancelled.id } })
  expect((await complete(cancelled)).status).toBe(401)
  expect(await owner.api.pairing.state({ params: { id: cancelled.id } })).toEqual({ status: 'cancelled' })

  const [early, late] = [await start(), await start()]
  later(10 * 60_000 - 2_000)
  expect((await complete(early)).status).toBe(200)
  later(3_000)
  expect((await complete(late)).status).toBe(401)
  expect(await owner.api.pairing.state({ params: { id: late.id } })).toEqual({ status: 'expired' })
  expect((await owner.api.pairing.state({ params: { id: early.id } })).device).toMatchObject({ name: 'Phone' })
})

test('scope and person come from the owner, never from the device', async () => {
  const link = await start({ scope: 'guest' })
  for (const extra of [
    { scope: 'admin' },
    { userId: randomUUID() },
    { id: randomUUID() },
    { isConnected: true },
    { personId: randomUUID() },
  ]) {
    expect((await complete(link, { ...deviceInfo, ...extra })).status, JSON.stringify(extra)).toBe(400)
    const outside = await house
      .stranger()
      .fetch('/api/auth/pair/complete', json({ code: link.code, secret: link.secret, deviceInfo, ...extra }))
    expect(outside.status, JSON.stringify(extra)).toBe(400)
  }
  const answer = await complete(link)
  expect(answer.status).toBe(200)
  const { device } = (await answer.json()) as { device: { scope: string; userId: string } }
  const { household } = await owner.api.household.get()
  expect(device).toMatchObject({ scope: 'guest', userId: household.id })
})

test('a pairing for somebody who does not live here is 400', async () => {
  expect((await owner.fetch('/api/auth/pair/start', json({ personId: randomUUID() }))).status).toBe(400)
  expect((await owner.fetch('/api/auth/pair/start', json({ scope: 'owner' }))).status).toBe(400)
})

test('where a device shall go is never taken from the request', async () => {
  const own = new Set([
    '127.0.0.1',
    '[::1]',
    ...Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)),
  ])
  for (const headers of [
    { 'x-forwarded-host': 'evil.example' },
    { forwarded: 'host=evil.example' },
    { 'x-forwarded-proto': 'https' },
    { 'x-original-host': 'evil.example' },
  ]) {
    const answer = await owner.fetch('/api/auth/pair/start', { ...json({}), headers: { 'content-type': 'application/json', ...headers } })
    expect(answer.status).toBe(201)
    const { servers } = readLink(((await answer.json()) as { qr: string }).qr)
    for (const server of servers) expect(own).toContain(new URL(server).hostname)
  }
  for (const host of ['evil.example', 'evil.example:80', '127.0.0.1.nip.io', 'hearth.local.evil.example']) {
    const answer = await owner.fetch('/api/auth/pair/start', {
      ...json({}),
      headers: { 'content-type': 'application/json', host, origin: `http://${host}` },
    })
    expect(answer.status, host).toBe(403)
    expect(await answer.json()).toMatchObject({ code: 'unknown_host' })
  }
})

test('a browser pairs into a cookie that no script reads, and never gets a token', async () => {
  const answer = await inBrowser(await start({ scope: 'member' }))
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
  const answer = await inBrowser(await start())
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
  const answer = await inBrowser(await start())
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const ask = askWithCookie(house, cookie)
  const bye = await ask('/api/auth/logout', { method: 'POST' })
  expect(bye.status).toBe(204)
  expect(bye.headers.getSetCookie().join()).toMatch(/hearth_device=;.*Max-Age=0/)
  expect((await ask('/api/household')).status).toBe(401)
})

interface Waiting {
  id: string
  userCode: string
  pollSecret: string
}
const askIn = async (): Promise<Waiting> =>
  (await house.stranger().fetch('/api/auth/pair/request', json({ deviceInfo: { name: 'TV', type: 'tv' } }))).json() as Promise<Waiting>
const poll = ({ id, pollSecret }: Pick<Waiting, 'id' | 'pollSecret'>, more: object = {}) =>
  house.stranger().fetch(`/api/auth/pair/request/${id}`, json({ pollSecret, ...more }))

test('a TV waits, is let in by the owner alone, and gets its tokens once', async () => {
  const tv = await askIn()
  expect(tv.userCode).toMatch(/^[A-HJ-NP-Z2-9]{3}-[A-HJ-NP-Z2-9]{3}$/)
  expect((await poll(tv)).status).toBe(202)
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
    const refused = await poll(wrong)
    expect(await seen(refused)).toMatchObject({ status: 401, body: '{"error":"Unauthorized"}' })
  }
  const answers = await Promise.all(Array.from({ length: 10 }, () => poll(tv)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(401)])
  const granted = answers.find(({ status }) => status === 200) as Response
  const { accessToken, device } = (await granted.json()) as { accessToken: string; device: { scope: string } }
  expect(device.scope).toBe('guest')
  expect((await house.bearer(accessToken).fetch('/api/household')).status).toBe(403)
})

test('a TV’s request ends after ten minutes, and is for devices at home', async () => {
  const tv = await askIn()
  later(10 * 60_000 + 1_000)
  expect((await poll(tv)).status).toBe(401)
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
  const link = await start()
  expect(link.servers[0]).toBe('https://home.example')
  expect(link.webQr.startsWith('https://home.example/pair#d=')).toBe(true)
  const outside = await house
    .stranger()
    .fetch('/api/auth/pair/request', { ...json({ deviceInfo }), headers: { 'content-type': 'application/json', host: 'home.example' } })
  expect(outside.status).toBe(403)
  await owner.api.settings.update({ body: { SERVICE_PUBLIC_URL: null } })
})

test('no code, secret or cookie of a pairing lies on the disk in clear', async () => {
  const link = await start()
  const tv = await askIn()
  const browser = await inBrowser(await start())
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
    const verify = (given: string, id = deviceId) =>
      old.stranger().fetch('/api/paired-devices/verify', json({ code: given, deviceId: id, deviceName: 'Old phone', deviceType: 'phone' }))
    expect((await verify('ZZZZZZZZ')).status).toBe(401)
    const answer = await verify(code)
    expect(answer.status).toBe(200)
    const { token } = (await answer.json()) as { token: string }
    expect((await verify(code, randomUUID())).status).toBe(401)
    const again = await admin.api.pairedDevices.pairV1()
    expect((await verify(again.code)).status).toBe(409)
    expect((await old.bearer(token).fetch('/api/household')).status).toBe(200)
    expect((await old.bearer(token).fetch('/api/paired-devices')).status).toBe(403)
    expect((await old.bearer(token).fetch('/api/auth/refresh', { method: 'POST' })).status).toBe(401)
    await admin.api.pairedDevices.revoke({ params: { id: deviceId } })
    expect((await old.bearer(token).fetch('/api/household')).status).toBe(401)
  } finally {
    await old[Symbol.asyncDispose]()
  }
})
