import { createDecipheriv, createECDH, createHmac, createPublicKey, type ECDH, hkdfSync, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { encryptNotification } from '@block65/webcrypto-web-push'
import { jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createGuardedFetch, type GuardedFetch } from '../../server/kit/guarded-fetch.ts'
import type { NotificationMessage } from '../../server/modules/notifications/pushers.ts'
import type { PushersDeps } from '../../server/modules/push/pushers.ts'
import { type Endpoint, listen } from '../support/listener.ts'
import { answer, bodyOf, device, message, pushersWith, vapidKeys } from './push-setup.ts'

vi.mock('@block65/webcrypto-web-push', { spy: true })

/** What a browser keeps of a subscription. */
interface Browser {
  pair: ECDH
  auth: Buffer
  token: string
}

let service: Endpoint
let asked: { path: string; headers: IncomingMessage['headers']; body: Buffer }[]
let onPush: (path: string, res: ServerResponse) => void
let stops: (() => Promise<void>)[] = []
const created = (_path: string, res: ServerResponse) => answer(res, 201)

beforeAll(async () => {
  service = await listen(async (req, res) => {
    asked.push({ path: req.url ?? '', headers: req.headers, body: await bodyOf(req) })
    onPush(req.url ?? '', res)
  })
})
beforeEach(() => {
  asked = []
  onPush = created
})
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()))
  stops = []
})
afterAll(() => service[Symbol.asyncDispose]())

/** Leads all of the internet to the server of this test. */
const toTest: GuardedFetch = async (url, request) => {
  const { origin } = new URL(url)
  const loopback = createGuardedFetch({ allowLocal: true })
  const got = await loopback(url.replace(origin, service.url), request)
  return { ...got, url: got.url.replace(service.url, origin) }
}

function start(deps: Partial<PushersDeps> = {}) {
  const pushers = pushersWith({ fetch: toTest, homeFetch: toTest, ...deps })
  stops.push(pushers.stop)
  return pushers
}

function browser(endpoint = 'https://push.example/send/abc'): Browser {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  const auth = randomBytes(16)
  const keys = { p256dh: pair.getPublicKey('base64url'), auth: auth.toString('base64url') }
  return { pair, auth, token: JSON.stringify({ endpoint, expirationTime: null, keys }) }
}

const hmac = (key: Buffer, data: Buffer) => createHmac('sha256', key).update(data).digest()

/** What the browser makes of a message: RFC 8291, written down from the standard. */
function opened({ pair, auth }: Browser, body: Buffer): unknown {
  const [salt, size, keyLength] = [body.subarray(0, 16), body.readUInt32BE(16), body[20] ?? 0]
  const serverKey = body.subarray(21, 21 + keyLength)
  const sealed = body.subarray(21 + keyLength)
  expect(sealed.length).toBeLessThanOrEqual(size)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), serverKey, Buffer.from([1])])
  const secret = hmac(hmac(auth, pair.computeSecret(serverKey)), info)
  const derive = (name: string, length: number) => Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${name}\0`, length))
  const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12))
  decipher.setAuthTag(sealed.subarray(-16))
  const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
  return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString())
}

test('only the browser can read it, with its buttons; the push service can tell who sent it', async () => {
  const vapid = vapidKeys('https://hearth.example')
  const pushers = start({ vapid })
  const phone = browser()
  const bins = message({ title: 'Bins 🗑', category: 'REMINDER', level: 'critical', data: { todoId: '7' } })
  expect(await pushers.push(device('webpush', phone.token), bins)).toBe('sent')

  const [sent] = asked
  expect(sent?.path).toBe('/send/abc')
  expect(sent?.headers).toMatchObject({
    ttl: '604800',
    urgency: 'high',
    topic: bins.id.replaceAll('-', ''),
    'content-encoding': 'aes128gcm',
  })
  expect(sent?.body.includes('Bins')).toBe(false)
  expect(opened(phone, sent?.body ?? Buffer.of())).toEqual({ ...bins, actions: ['Mark Done', 'Snooze 15min'] })

  const [, token = '', key = ''] = /^vapid t=([^,]+), k=(.+)$/.exec(sent?.headers.authorization ?? '') ?? []
  expect(key).toBe(vapid.publicKey())
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' } })
  const { payload } = await jwtVerify(token, publicKey, { audience: 'https://push.example', algorithms: ['ES256'] })
  expect(payload.sub).toBe('https://hearth.example')
})

test('an address of the home network is not told to push services', async () => {
  await start({ vapid: vapidKeys('http://192.168.1.5:7420') }).push(device('webpush', browser().token), message())
  const claims = Buffer.from(asked[0]?.headers.authorization?.split('.')[1] ?? '', 'base64url').toString()
  expect(JSON.parse(claims)).toMatchObject({ sub: expect.stringMatching(/^mailto:/) })
})

test('a long text is cut to what a push service takes', async () => {
  const phone = browser()
  const long = message({ body: '"🫖\n'.repeat(1500), data: { todoId: '7', long: 'x'.repeat(5_000) } })
  expect(await start().push(device('webpush', phone.token), long)).toBe('sent')
  expect(asked[0]?.body.length).toBeLessThanOrEqual(4096)
  expect(opened(phone, asked[0]?.body ?? Buffer.of())).toMatchObject({ id: long.id, body: expect.stringMatching(/…$/) })
})

const statuses: [number, 'sent' | 'dead-token' | 'retry'][] = [
  [200, 'sent'],
  [201, 'sent'],
  [202, 'sent'],
  [204, 'sent'],
  [404, 'dead-token'],
  [410, 'dead-token'],
  [400, 'retry'],
  [403, 'retry'],
  [413, 'retry'],
  [429, 'retry'],
  [500, 'retry'],
  [503, 'retry'],
]
test.each(statuses)('%i means %s', async (status, outcome) => {
  onPush = (_path, res) => answer(res, status, status === 204 ? '' : '\0garbage')
  expect(await start().push(device('webpush', browser().token), message())).toBe(outcome)
})

test('a cut line, a book for an answer and silence mean another try', async () => {
  const pushers = start({ waitMs: 300 })
  const phone = device('webpush', browser().token)
  const faults: (typeof onPush)[] = [
    (_path, res) => void res.socket?.destroy(),
    (_path, res) => answer(res, 201, 'x'.repeat(1_000_000)),
    () => undefined,
  ]
  for (const fault of faults) {
    onPush = fault
    expect(await pushers.push(phone, message())).toBe('retry')
  }
  onPush = created
  expect(await pushers.push(phone, message())).toBe('sent')
})

test('who is sent elsewhere may not have been heard', async () => {
  onPush = (path, res) => (path === '/send/abc' ? answer(res, 301, '', { location: '/elsewhere' }) : created(path, res))
  expect(await start().push(device('webpush', browser().token), message())).toBe('retry')
})

test('a subscription whose endpoint asks to wait is left alone for that long, its neighbour is not', async () => {
  onPush = (_path, res) => answer(res, 429, '', { 'retry-after': '2' })
  const pushers = start()
  const [hasty, calm] = [device('webpush', browser().token), device('webpush', browser('https://push.example/send/other').token)]
  expect(await pushers.push(hasty, message())).toBe('retry')
  onPush = created
  expect(await pushers.push(hasty, message())).toBe('retry')
  expect(asked).toHaveLength(1)
  expect(await pushers.push(calm, message())).toBe('sent')
  await vi.waitFor(async () => expect(await pushers.push(hasty, message())).toBe('sent'), { timeout: 10_000, interval: 100 })
})

test('a push service that hangs holds up no other, nor do its pushes pile up', async () => {
  let open = 0
  let most = 0
  onPush = (path, res) => {
    if (!path.startsWith('/slow')) return created(path, res)
    open += 1
    most = Math.max(most, open)
    res.once('close', () => {
      open -= 1
    })
  }
  const pushers = start({ waitMs: 2_000 })
  const slow = Array.from({ length: 100 }, (_, at) =>
    pushers.push(device('webpush', browser(`https://slow.example/slow/${at}`).token), message()),
  )
  await vi.waitFor(() => expect(open).toBeGreaterThan(0))
  let slowDone = false
  void Promise.all(slow).then(() => {
    slowDone = true
  })
  const quick = await Promise.all(
    Array.from({ length: 20 }, (_, at) => pushers.push(device('webpush', browser(`https://quick.example/${at}`).token), message())),
  )
  expect(new Set(quick)).toEqual(new Set(['sent']))
  expect(slowDone).toBe(false)
  expect(new Set(await Promise.all(slow))).toEqual(new Set(['retry']))
  expect(most).toBeLessThanOrEqual(8)
  await vi.waitFor(() => expect(open).toBe(0))
})

test('keys that are no point of the curve reach nobody', async () => {
  const keys = {
    p256dh: Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString('base64url'),
    auth: randomBytes(16).toString('base64url'),
  }
  const token = JSON.stringify({ endpoint: 'https://push.example/x', keys })
  expect(await start().push(device('webpush', token), message())).toBe('dead-token')
  expect(await start().push(device('webpush', 'half a subscr'), message())).toBe('dead-token')
  expect(asked).toEqual([])
})

test('a message that could not be sealed just now is tried again, and its device is kept', async () => {
  vi.mocked(encryptNotification).mockRejectedValueOnce(new DOMException('not now', 'OperationError'))
  const phone = browser()
  const pushers = start()
  expect(await pushers.push(device('webpush', phone.token), message())).toBe('retry')
  expect(await pushers.push(device('webpush', phone.token), message())).toBe('sent')
})

test('UnifiedPush: as it is to an endpoint alone, encrypted where there are keys', async () => {
  const pushers = start()
  const bins = message({ title: 'Bins' })
  expect(await pushers.push(device('unifiedpush', 'http://ntfy.lan/upAbc?up=1'), bins)).toBe('sent')
  const plain = JSON.parse(String(asked[0]?.body)) as NotificationMessage
  expect(asked[0]).toMatchObject({ path: '/upAbc?up=1', headers: { 'content-type': 'application/json', ttl: '604800' } })
  expect(asked[0]?.headers.authorization).toBeUndefined()
  expect(plain).toMatchObject({ id: bins.id, title: 'Bins', actions: [] })

  const phone = browser('https://ntfy.example/upDef?up=1')
  expect(await pushers.push(device('unifiedpush', phone.token), bins)).toBe('sent')
  expect(opened(phone, asked[1]?.body ?? Buffer.of())).toMatchObject({ title: 'Bins' })
  expect(asked[1]?.headers.authorization).toMatch(/^vapid /)
})
