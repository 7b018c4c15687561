import { statSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { json, readLink } from '../support/credentials.ts'
import { type Device, type House, startHouse } from '../support/house.ts'
import { type Endpoint, listen } from '../support/listener.ts'
import { connectSocket, type SocketClient, talking } from '../support/socket-client.ts'
import { answer, bodyOf } from './push-setup.ts'

let house: House
let server: Endpoint
let asked: { path: string; body: Record<string, unknown> }[]
let status: number

beforeAll(async () => {
  server = await listen(async (req, res) => {
    asked.push({ path: req.url ?? '', body: JSON.parse(String(await bodyOf(req))) })
    answer(res, status)
  })
  house = await startHouse({ env: { SERVICE_FETCH_ALLOW_LOCAL: '1' } })
})
beforeEach(() => {
  asked = []
  status = 201
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

/** What the house has written down of a device. */
function pushOf({ id }: Device, { dataPath }: House = house): unknown {
  const db = new BetterSqlite3(join(dataPath, 'hearth.sqlite'), { readonly: true })
  try {
    return JSON.parse(String(db.prepare('SELECT push FROM paired_device WHERE id = ?').pluck().get(id)))
  } finally {
    db.close()
  }
}

const open = ({ accessToken }: Device, { url }: House = house): Promise<SocketClient> =>
  talking(connectSocket(`${url}/ws?token=${accessToken}`))

async function register(device: Device, provider: string, token: unknown, at: House = house) {
  const client = await open(device, at)
  client.send({ type: 'push.register', id: 'r', payload: { provider, token } })
  const said = await Promise.race([client.next('result'), client.next('error')])
  client.socket.terminate()
  await client.closed
  return said.payload
}

const keys = { p256dh: `B${'A'.repeat(86)}`, auth: 'A'.repeat(22) }
const subscription = (endpoint: string, more: object = {}) => JSON.stringify({ endpoint, expirationTime: null, keys, ...more })

test('a device of any scope says how it is reached; the newest counts, and a restart keeps it', async () => {
  const guest = await house.pair('Guest', 'guest')
  for (const [provider, token] of [
    ['expo', 'ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]'],
    ['fcm', 'any text: to us it is opaque'],
    ['unifiedpush', 'http://192.168.1.9:8080/upAbc?up=1'],
    ['unifiedpush', JSON.stringify({ endpoint: 'https://ntfy.example/upAbc', keys })],
    ['webpush', subscription('https://push.example/send/abc')],
  ] as const) {
    expect(await register(guest, provider, token)).toEqual({ id: 'r', ok: true })
    expect(pushOf(guest)).toEqual({ provider, token })
  }
  await house.restart()
  expect(pushOf(guest)).toEqual({ provider: 'webpush', token: subscription('https://push.example/send/abc') })
})

const bad: [string, unknown][] = [
  ['expo', 'a token'],
  ['expo', 'ExponentPushToken[]'],
  ['expo', 7],
  ['fcm', ''],
  ['fcm', 'x'.repeat(4097)],
  ['webpush', 'https://push.example/send/abc'],
  ['webpush', '{'],
  ['webpush', subscription('http://push.example/send/abc')],
  ['webpush', subscription('javascript:alert(1)')],
  ['webpush', subscription('https://ada:secret@push.example/')],
  ['webpush', subscription(`https://push.example/${'x'.repeat(2048)}`)],
  ['webpush', subscription('https://push.example/', { keys: undefined })],
  ['webpush', subscription('https://push.example/', { keys: { ...keys, auth: 'short' } })],
  ['webpush', subscription('https://push.example/', { keys: { ...keys, p256dh: 'A'.repeat(87) } })],
  ['unifiedpush', 'file:///etc/passwd'],
  ['unifiedpush', 'ntfy.lan/upAbc'],
  ['unifiedpush', '{"endpoint":"ftp://ntfy.lan/"}'],
  ['pigeon', 'coop 7'],
]
test('what is no token is refused over the socket and at pairing, and leaves what was there', async () => {
  const phone = await house.pair('Phone')
  await register(phone, 'fcm', 'the one that works')
  const owner = await house.residentOwner()
  for (const [provider, token] of bad) {
    const about = `${provider} ${String(token).slice(0, 60)}`
    expect(await register(phone, provider, token), about).toMatchObject({ code: 'validation_failed' })
    const { code, secret } = readLink((await owner.api.pairing.start({ body: {} })).qr)
    const deviceInfo = { name: 'Phone', type: 'phone', push: { provider, token } }
    const refused = await house.stranger().fetch('/api/auth/pair/complete', json({ code, secret, deviceInfo }))
    expect(refused.status, about).toBe(400)
  }
  expect(pushOf(phone)).toEqual({ provider: 'fcm', token: 'the one that works' })
})

test('a token that comes with the pairing is kept', async () => {
  const owner = await house.residentOwner()
  const { code, secret } = readLink((await owner.api.pairing.start({ body: {} })).qr)
  const push = { provider: 'expo' as const, token: 'ExpoPushToken[abc]' }
  const { device, accessToken, refreshToken } = await house
    .stranger()
    .api.pairing.complete({ body: { code, secret, deviceInfo: { name: 'Phone', type: 'phone', push } } })
  expect(pushOf({ id: device.id, accessToken, refreshToken, ...house.bearer(accessToken) })).toEqual(push)
})

test('a browser that paired anew is reached as the new device alone', async () => {
  const [before, after] = [await house.pair('Browser'), await house.pair('Browser, again')]
  const token = subscription('https://push.example/send/same')
  await register(before, 'webpush', token)
  await register(after, 'webpush', token)
  expect(pushOf(before)).toBeNull()
  expect(pushOf(after)).toEqual({ provider: 'webpush', token })
})

test('the owner’s console is no device to push to', async () => {
  const owner = await house.owner()
  const { key } = await owner.api.keys.create({ body: { label: 'k', scope: 'admin' } })
  const client = await talking(connectSocket(`${house.url}/ws?token=${key}`))
  client.send({ type: 'push.register', id: 'r', payload: { provider: 'fcm', token: 'mine' } })
  expect((await client.next('result')).payload).toMatchObject({ ok: false, error: 'Only a paired device is reached by push.' })
  client.socket.terminate()
})

test('the key of Web Push is one for good, and only its public half is told', async () => {
  const guest = await house.pair('Guest', 'guest')
  const { publicKey } = await guest.api.push.vapid()
  const point = Buffer.from(publicKey, 'base64url')
  expect([point.length, point[0]]).toEqual([65, 4])
  expect((await guest.api.push.vapid()).publicKey).toBe(publicKey)
  await house.restart()
  expect((await guest.api.push.vapid()).publicKey).toBe(publicKey)
  expect(statSync(join(house.dataPath, 'config', 'secrets.env')).mode & 0o777).toBe(0o600)
})

test('a device that is not connected is pushed to, and forgotten where its token reaches nobody', async () => {
  const phone = await house.pair('Phone')
  const owner = await house.residentOwner()
  const send = async (title: string) => {
    const sent = await owner.api.notifications.send({ body: { title, body: 'is ready', deviceId: phone.id, category: 'CAMERA_ALERT' } })
    return 'items' in sent ? Promise.reject(new Error('one was asked for')) : sent
  }
  await register(phone, 'unifiedpush', `${server.url}/upPhone?up=1`)
  const tea = await send('Tea')
  await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 15_000 })
  expect(asked[0]).toMatchObject({
    path: '/upPhone?up=1',
    body: { id: tea.id, title: 'Tea', category: 'CAMERA_ALERT', actions: ['View', 'Dismiss'] },
  })
  await vi.waitFor(async () => expect((await phone.api.notifications.get({ params: { id: tea.id } })).status).toBe('sent'))

  status = 410
  const cake = await send('Cake')
  await vi.waitFor(() => expect(pushOf(phone)).toBeNull(), { timeout: 15_000 })
  expect((await phone.api.notifications.get({ params: { id: cake.id } })).status).toBe('pending')
})

test('a push server on this machine is not reached unless that is allowed', async () => {
  await using strict = await startHouse()
  const phone = await strict.pair('Phone')
  const port = new URL(server.url).port
  expect(await register(phone, 'unifiedpush', `http://localhost:${port}/up`, strict)).toMatchObject({ ok: true })
  const owner = await strict.residentOwner()
  await owner.api.notifications.send({ body: { title: 'Tea', body: '', deviceId: phone.id } })
  const tries = () => {
    const db = new BetterSqlite3(join(strict.dataPath, 'hearth.sqlite'), { readonly: true })
    try {
      return db.prepare('SELECT pushTries FROM notification').pluck().get()
    } finally {
      db.close()
    }
  }
  await vi.waitFor(() => expect(tries()).toBe(1), { timeout: 15_000 })
  expect(asked).toEqual([])
})
