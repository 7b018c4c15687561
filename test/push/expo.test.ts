import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { NotificationMessage, PushTarget } from '../../server/modules/notifications/pushers.ts'
import type { PushersDeps } from '../../server/modules/push/pushers.ts'
import { type Endpoint, listen } from '../support/listener.ts'
import { answer, bodyOf, device, message, pushersWith } from './push-setup.ts'

interface Sent {
  to: string
  title: string
  body: string
  data: { id: string; data: Record<string, string> }
  categoryId?: string
  priority: string
}

let expo: Endpoint
let asked: { path: string; headers: IncomingMessage['headers']; body: unknown }[]
/** What Expo does about what it is sent. */
let onSend: (messages: Sent[], res: ServerResponse) => void
let receipts: Record<string, unknown>
let stops: (() => Promise<void>)[] = []

const tickets = (messages: Sent[], res: ServerResponse) =>
  answer(res, 200, { data: messages.map(({ to }) => ({ status: 'ok', id: `ticket of ${to}` })) })

beforeAll(async () => {
  expo = await listen(async (req, res) => {
    const body: unknown = JSON.parse(String(await bodyOf(req)))
    asked.push({ path: req.url ?? '', headers: req.headers, body })
    if (req.url?.endsWith('/push/send')) return onSend(body as Sent[], res)
    answer(res, 200, { data: receipts })
  })
})
beforeEach(() => {
  asked = []
  receipts = {}
  onSend = tickets
})
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()))
  stops = []
})
afterAll(() => expo[Symbol.asyncDispose]())

function start(deps: Partial<PushersDeps> = {}) {
  const pushers = pushersWith({ env: { PUSH_ACCESS_TOKEN: 'of the owner', EXPO_BASE_URL: expo.url }, ...deps })
  stops.push(pushers.stop)
  return pushers
}
const phone = (name: string): PushTarget => device('expo', `ExponentPushToken[${name}]`)
const sends = () => asked.filter(({ path }) => path.endsWith('/push/send'))

test('notifications of one moment go together, each with its category, its data and its urgency', async () => {
  const pushers = start()
  const outcomes = await Promise.all([
    pushers.push(phone('a'), message({ title: 'Bins', category: 'BACKUP_COMPLETE', data: { todoId: '7' } })),
    pushers.push(phone('b'), message({ title: 'Smoke', level: 'critical' })),
  ])
  expect(outcomes).toEqual(['sent', 'sent'])
  expect(sends()).toHaveLength(1)
  expect(asked[0]).toMatchObject({ path: '/--/api/v2/push/send', headers: { authorization: 'Bearer of the owner' } })
  expect(asked[0]?.body).toMatchObject([
    {
      to: 'ExponentPushToken[a]',
      title: 'Bins',
      categoryId: 'BACKUP_COMPLETE',
      priority: 'default',
      data: { category: 'BACKUP_COMPLETE', data: { todoId: '7' } },
    },
    { to: 'ExponentPushToken[b]', title: 'Smoke', priority: 'high' },
  ])
})

test('an address with a path is kept', async () => {
  const pushers = start({ env: { PUSH_ACCESS_TOKEN: 'x', EXPO_BASE_URL: `${expo.url}/behind/proxy/` } })
  expect(await pushers.push(phone('a'), message())).toBe('sent')
  expect(asked[0]?.path).toBe('/behind/proxy/--/api/v2/push/send')
})

test('many go in batches of at most a hundred', async () => {
  const pushers = start()
  const outcomes = await Promise.all(Array.from({ length: 250 }, (_, at) => pushers.push(phone(`n${at}`), message())))
  expect(new Set(outcomes)).toEqual(new Set(['sent']))
  const sizes = sends().map(({ body }) => (body as Sent[]).length)
  expect(sizes.reduce((sum, size) => sum + size)).toBe(250)
  expect(Math.max(...sizes)).toBe(100)
})

test('each of a batch has the outcome of its own ticket', async () => {
  const ticketOf: Record<string, unknown> = {
    well: { status: 'ok', id: '1' },
    gone: { status: 'error', message: 'gone', details: { error: 'DeviceNotRegistered' } },
    hasty: { status: 'error', message: 'slow down', details: { error: 'MessageRateExceeded' } },
    odd: { status: 'fine?' },
    none: null,
  }
  onSend = (messages, res) => answer(res, 200, { data: messages.map(({ to }) => ticketOf[/\[(.*)\]/.exec(to)?.[1] ?? '']) })
  const pushers = start()
  const outcomes = await Promise.all(Object.keys(ticketOf).map((name) => pushers.push(phone(name), message())))
  expect(outcomes).toEqual(['sent', 'dead-token', 'retry', 'retry', 'retry'])
})

test('one that makes Expo refuse the whole batch holds up no other', async () => {
  onSend = (messages, res) => {
    if (!messages.some(({ title }) => title === 'bad')) return tickets(messages, res)
    answer(res, 400, { errors: [{ code: 'VALIDATION_ERROR', message: 'one of these is bad' }] })
  }
  const pushers = start()
  const titles = ['a', 'b', 'bad', 'c', 'd', 'e', 'f']
  const outcomes = await Promise.all(titles.map((title) => pushers.push(phone(title), message({ title }))))
  expect(outcomes).toEqual(titles.map((title) => (title === 'bad' ? 'retry' : 'sent')))
})

const faults: Record<string, (messages: Sent[], res: ServerResponse) => void> = {
  'a 500': (_messages, res) => answer(res, 500, 'Internal Server Error'),
  'a 502 in HTML': (_messages, res) => answer(res, 502, '<html>', { 'content-type': 'text/html' }),
  'a 401': (_messages, res) => answer(res, 401, { errors: [{ code: 'UNAUTHORIZED', message: 'no' }] }),
  garbage: (_messages, res) => answer(res, 200, '\0\0not json'),
  'null for an answer': (_messages, res) => answer(res, 200, 'null'),
  'tickets for others': (_messages, res) => answer(res, 200, { data: [{ status: 'ok' }, { status: 'ok' }, { status: 'ok' }] }),
  'no tickets': (_messages, res) => answer(res, 200, {}),
  'more than anybody asked for': (_messages, res) => answer(res, 200, 'x'.repeat(3_000_000)),
  'a cut line': (_messages, res) => void res.socket?.destroy(),
}
test.each(Object.keys(faults))('%s means another try', async (name) => {
  onSend = faults[name] ?? tickets
  const pushers = start()
  expect(await Promise.all([pushers.push(phone('a'), message()), pushers.push(phone('b'), message())])).toEqual(['retry', 'retry'])
  onSend = tickets
  expect(await pushers.push(phone('a'), message())).toBe('sent')
})

test('a gateway that says nothing is given up in time, and its connection closed', async () => {
  let closed = 0
  onSend = (_messages, res) => {
    res.once('close', () => {
      closed += 1
    })
  }
  const pushers = start({ waitMs: 300 })
  expect(await pushers.push(phone('a'), message())).toBe('retry')
  await vi.waitFor(() => expect(closed).toBe(1))
})

test('a gateway that drips its answer is given up as well', async () => {
  let timer: NodeJS.Timeout | undefined
  onSend = (_messages, res) => {
    res.writeHead(200)
    timer = setInterval(() => res.write(' '), 20)
    res.once('close', () => clearInterval(timer))
  }
  expect(await start({ waitMs: 300 }).push(phone('a'), message())).toBe('retry')
})

test('a stop answers what is under way', async () => {
  onSend = () => undefined
  const pushers = start()
  const pushed = pushers.push(phone('a'), message())
  await vi.waitFor(() => expect(sends()).toHaveLength(1))
  await pushers.stop()
  expect(await pushed).toBe('retry')
  expect(await pushers.push(phone('a'), message())).toBe('retry')
})

test('who asks to wait is left alone for that long', async () => {
  onSend = (_messages, res) => answer(res, 429, { errors: [{ code: 'TOO_MANY_REQUESTS', message: 'wait' }] }, { 'retry-after': '2' })
  const pushers = start()
  expect(await pushers.push(phone('a'), message())).toBe('retry')
  onSend = tickets
  expect(await pushers.push(phone('b'), message())).toBe('retry')
  expect(sends()).toHaveLength(1)
  await vi.waitFor(async () => expect(await pushers.push(phone('b'), message())).toBe('sent'), { timeout: 10_000, interval: 100 })
})

test('without an access token nothing goes out', async () => {
  const pushers = start({ env: { EXPO_BASE_URL: expo.url } })
  expect(await pushers.push(phone('a'), message())).toBe('retry')
  expect(asked).toEqual([])
})

test('a long text is cut to what phones take, the whole of it escaped or not', async () => {
  const long: Partial<NotificationMessage>[] = [
    { body: 'long '.repeat(800), data: { todoId: '7' } },
    { body: '🫖"\n\u0001'.repeat(1000), data: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 'v'.repeat(1000)])) },
  ]
  const pushers = start()
  for (const one of long) expect(await pushers.push(phone('a'), message(one))).toBe('sent')
  const [plain, escaped] = asked.map(({ body }) => (body as Sent[])[0])
  for (const sent of [plain, escaped]) {
    expect(Buffer.byteLength(JSON.stringify(sent))).toBeLessThan(4096)
    expect(Buffer.byteLength(JSON.stringify(sent))).toBeGreaterThan(3000)
    expect(sent?.body.endsWith('…')).toBe(true)
    expect(sent?.body.isWellFormed()).toBe(true)
  }
  expect(plain?.data.data).toEqual({ todoId: '7' })
  expect(escaped?.data.data).toEqual({})
})

test('what a receipt says of a phone that is gone is heard later; what has no receipt yet is asked again', async () => {
  const dead: PushTarget[] = []
  const pushers = start({ receiptsAfterMs: 50, onDeadToken: (gone) => void dead.push(gone) })
  const [gone, late, well] = [phone('gone'), phone('late'), phone('well')]
  const error = { status: 'error', message: 'gone', details: { error: 'DeviceNotRegistered' } }
  receipts = { [`ticket of ${gone.push.token}`]: error, [`ticket of ${well.push.token}`]: { status: 'ok' }, unheard: error }
  for (const one of [gone, late, well]) expect(await pushers.push(one, message())).toBe('sent')
  await vi.waitFor(() => expect(dead).toEqual([gone]))
  receipts[`ticket of ${late.push.token}`] = error
  await vi.waitFor(() => expect(dead).toEqual([gone, late]))
  const last = asked.filter(({ path }) => path.endsWith('/getReceipts')).at(-1)
  expect(JSON.stringify(last?.body)).not.toContain(gone.push.token)
})

test('receipts that are garbage do no harm', async () => {
  const dead: PushTarget[] = []
  const pushers = start({ receiptsAfterMs: 30, onDeadToken: (gone) => void dead.push(gone) })
  const one = phone('a')
  for (const garbage of [{ [`ticket of ${one.push.token}`]: 'gone!' }, [1, 2], null]) {
    receipts = garbage as Record<string, unknown>
    const before = asked.filter(({ path }) => path.endsWith('/getReceipts')).length
    expect(await pushers.push(one, message())).toBe('sent')
    await vi.waitFor(() => expect(asked.filter(({ path }) => path.endsWith('/getReceipts')).length).toBeGreaterThan(before))
  }
  expect(dead).toEqual([])
})
