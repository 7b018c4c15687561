import { randomUUID } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { later } from '../support/clock.ts'
import { json, readLink } from '../support/credentials.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'
import { complete, deviceInfo, inBrowser, seen, start } from '../support/pairing-calls.ts'

let house: House
let owner: Browser
beforeAll(async () => {
  house = await startHouse()
  owner = await house.owner()
})
afterAll(() => house[Symbol.asyncDispose]())
afterEach(() => void vi.useRealTimers())

test('a link holds the code, the secret, where to go and the home’s name, and nothing else', async () => {
  const { qr, webQr, id, ...link } = await start(owner)
  expect(Object.keys(link).toSorted()).toEqual(['code', 'name', 'secret', 'servers', 'v'])
  expect(link.v).toBe(2)
  expect(link.code).toMatch(/^[A-HJ-NP-Z2-9]{8}$/)
  expect(Buffer.from(link.secret, 'base64url')).toHaveLength(32)
  expect(qr).toBe(`hearth://pair?d=${qr.split('d=')[1]}`)
  expect(webQr).toBe(`${link.servers[0]}/pair#d=${qr.split('d=')[1]}`)
  expect(await owner.api.pairing.state({ params: { id } })).toEqual({ status: 'pending' })
})

test('codes and secrets do not repeat', async () => {
  const links = await Promise.all(Array.from({ length: 20 }, () => start(owner)))
  expect(new Set(links.map(({ code }) => code)).size).toBe(20)
  expect(new Set(links.map(({ secret }) => secret)).size).toBe(20)
})

test('a wrong secret looks exactly like an unknown code, and the fifth burns the pairing', async () => {
  const link = await start(owner)
  const unknown = await seen(await complete(house, { code: 'ZZZZZZZZ', secret: link.secret }))
  expect(unknown).toMatchObject({ status: 401, body: '{"error":"Unauthorized"}' })
  for (let at = 0; at < 4; at += 1) expect(await seen(await complete(house, { code: link.code, secret: `wrong${at}` }))).toEqual(unknown)
  const last = await start(owner)
  for (let at = 0; at < 4; at += 1) await complete(house, { code: last.code, secret: 'wrong' })
  expect((await complete(house, last)).status).toBe(200)

  expect(await seen(await inBrowser(house, { code: link.code, secret: 'wrong' }))).toEqual(unknown)
  expect(await seen(await complete(house, link))).toEqual(unknown)
  expect(await seen(await inBrowser(house, link))).toEqual(unknown)
  expect(await owner.api.pairing.state({ params: { id: link.id } })).toEqual({ status: 'expired' })
})

test('wrong secrets at once burn it too', async () => {
  const link = await start(owner)
  const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => complete(house, { code: link.code, secret: `wrong${at}` })))
  expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(401))
  expect((await complete(house, link)).status).toBe(401)
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
  const once = await start(owner)
  expect((await complete(house, once)).status).toBe(200)
  expect((await complete(house, once)).status).toBe(401)
  expect((await inBrowser(house, once)).status).toBe(401)

  const link = await start(owner)
  const before = (await owner.api.pairedDevices.list()).length
  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 ? complete(house, link) : inBrowser(house, link))))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(401)])
  expect(await owner.api.pairedDevices.list()).toHaveLength(before + 1)
})

test('a link ends after ten minutes, and when it is cancelled', async () => {
  const cancelled = await start(owner)
  await owner.api.pairing.cancel({ params: { id: cancelled.id } })
  expect((await complete(house, cancelled)).status).toBe(401)
  expect(await owner.api.pairing.state({ params: { id: cancelled.id } })).toEqual({ status: 'cancelled' })

  const [early, late] = [await start(owner), await start(owner)]
  later(10 * 60_000 - 2_000)
  expect((await complete(house, early)).status).toBe(200)
  later(3_000)
  expect((await complete(house, late)).status).toBe(401)
  expect(await owner.api.pairing.state({ params: { id: late.id } })).toEqual({ status: 'expired' })
  expect((await owner.api.pairing.state({ params: { id: early.id } })).device).toMatchObject({ name: 'Phone' })
})

test('scope and person come from the owner, never from the device', async () => {
  const link = await start(owner, { scope: 'guest' })
  for (const extra of [
    { scope: 'admin' },
    { userId: randomUUID() },
    { id: randomUUID() },
    { isConnected: true },
    { personId: randomUUID() },
  ]) {
    expect((await complete(house, link, { ...deviceInfo, ...extra })).status, JSON.stringify(extra)).toBe(400)
    const outside = await house
      .stranger()
      .fetch('/api/auth/pair/complete', json({ code: link.code, secret: link.secret, deviceInfo, ...extra }))
    expect(outside.status, JSON.stringify(extra)).toBe(400)
  }
  const answer = await complete(house, link)
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
