import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Caller, CallerScope } from '../../server/kit/caller.ts'
import { notFound } from '../../server/kit/errors.ts'
import { event } from '../../server/kit/events.ts'
import { createFactsReader } from '../../server/kit/request-facts.ts'
import { createSocketServer } from '../../server/kit/socket.ts'
import { clientMessage, onMessage, serverMessage } from '../../server/kit/socket-message.ts'
import { createSocketRegistry } from '../../server/kit/socket-registry.ts'
import { topic } from '../../server/kit/topic.ts'
import { openSocket, type SocketClient } from '../support/socket-client.ts'

const rain = event('rain.fell', z.object({ mm: z.number() }))
const safe = event('safe.opened', z.object({}))
const dim = clientMessage({ type: 'lamp.dim', payload: z.object({ level: z.number() }), access: 'member', summary: '' })
const lit = serverMessage({ type: 'lamp.lit', payload: z.object({ since: z.number() }), summary: '' })
const dimmed: string[] = []
const faults: unknown[] = []
const registry = createSocketRegistry()
const callerOf = (scope: CallerScope): Caller => ({
  kind: 'device',
  scope,
  deviceId: scope,
  userId: 'u',
  personId: null,
  sessionId: 's',
  via: 'bearer',
})
const sockets = createSocketServer({
  authenticate: () => null,
  bearerCaller: (token) => callerOf(token as CallerScope),
  readFacts: createFactsReader([]),
  ownHosts: { has: () => true },
  isSetUp: () => true,
  limit: { take: () => undefined, giveBack: () => undefined },
  registry,
  topics: [topic({ event: rain, access: 'guest', summary: '' }), topic({ event: safe, access: 'admin', summary: '' })],
  handlers: [
    onMessage(dim, ({ level }, { scope }) => {
      if (level === 404) throw notFound('This lamp')
      if (level === 500) throw new Error('the wire broke')
      dimmed.push(`${scope} ${level}`)
    }),
  ],
  greeting: { seq: () => 41, welcomed: (_caller, lastSeq, send) => (lastSeq === null ? undefined : send(lit, { since: lastSeq })) },
  onFault: (error) => void faults.push(error),
  isOpen: () => true,
  onClosed: () => undefined,
})
const server = createServer().on('upgrade', (...args) => void sockets.upgrade(...args))
let url: string
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  sockets.terminate()
  server.close()
})

async function open(scope: CallerScope): Promise<SocketClient> {
  const client = await openSocket(`${url}/ws?token=${scope}`)
  if ('status' in client) throw new Error(`refused with ${client.status}`)
  return client
}
const ask = async (client: SocketClient, type: string, topics: unknown, id = 'a') => {
  client.messages.length = 0
  client.send({ type, id, payload: { topics } })
  return Promise.race([client.next('result'), client.next('error')])
}
/** Everything sent before this has arrived. */
const settled = async (client: SocketClient) => {
  client.send({ type: 'ping' })
  await client.next('pong')
}

test('who subscribed is told, who did not or no longer does is not', async () => {
  const [listening, other] = await Promise.all([open('guest'), open('guest')])
  expect(await ask(listening, 'subscribe', ['rain.fell'])).toMatchObject({ type: 'result', payload: { id: 'a', ok: true } })
  registry.publish('rain.fell', { mm: 3 })
  expect(await listening.next('rain.fell')).toEqual({ type: 'rain.fell', payload: { mm: 3 } })
  await settled(other)
  expect(other.messages.map(({ type }) => type)).not.toContain('rain.fell')
  await ask(listening, 'unsubscribe', ['rain.fell'])
  registry.publish('rain.fell', { mm: 4 })
  await settled(listening)
  expect(listening.messages.map(({ type }) => type)).not.toContain('rain.fell')
})

test('an unknown topic and one beyond one’s scope are errors, and then none is subscribed to', async () => {
  const guest = await open('guest')
  expect(await ask(guest, 'subscribe', ['rain.fell', 'moon.rose'])).toMatchObject({ payload: { code: 'unknown_topic' } })
  expect(await ask(guest, 'subscribe', ['rain.fell', 'safe.opened'])).toMatchObject({ payload: { code: 'forbidden' } })
  for (const bad of ['rain.fell', [], [7], Array(65).fill('rain.fell'), undefined, ['__proto__']])
    expect((await ask(guest, 'subscribe', bad)).type).toBe('error')
  guest.messages.length = 0
  registry.publish('rain.fell', { mm: 1 })
  registry.publish('safe.opened', {})
  await settled(guest)
  expect(guest.messages.map(({ type }) => type)).toEqual([])
})

test('a message can be kept from those it does not concern, and a closed socket is forgotten', async () => {
  const [guest, admin] = await Promise.all([open('guest'), open('admin')])
  await Promise.all([ask(guest, 'subscribe', ['rain.fell']), ask(admin, 'subscribe', ['rain.fell'])])
  registry.publish('rain.fell', { mm: 9 }, ({ scope }) => scope === 'admin')
  expect(await admin.next('rain.fell')).toMatchObject({ payload: { mm: 9 } })
  await settled(guest)
  expect(guest.messages.map(({ type }) => type)).not.toContain('rain.fell')
  guest.socket.terminate()
  await guest.closed
  registry.publish('rain.fell', { mm: 10 })
  await settled(admin)
})

test('a module’s message is handled with its caller and answered by result, whatever happens in it', async () => {
  const client = await open('member')
  client.send({ type: 'lamp.dim', id: '1', payload: { level: 7 } })
  expect(await client.next('result')).toEqual({ type: 'result', payload: { id: '1', ok: true } })
  expect(dimmed).toEqual(['member 7'])
  client.send({ type: 'lamp.dim', id: '2', payload: { level: 'low' } })
  expect(await client.next('error')).toMatchObject({ payload: { code: 'validation_failed' } })
  client.send({ type: 'lamp.dim', id: '3', payload: { level: 404 } })
  expect(await client.next('result')).toEqual({ type: 'result', payload: { id: '3', ok: false, error: 'This lamp does not exist.' } })
  client.send({ type: 'lamp.dim', id: '4', payload: { level: 500 } })
  expect(await client.next('result')).toEqual({ type: 'result', payload: { id: '4', ok: false, error: 'Something went wrong.' } })
  expect(faults).toEqual([new Error('the wire broke')])
  const guest = await open('guest')
  guest.send({ type: 'lamp.dim', payload: { level: 1 } })
  expect(await guest.next('result')).toMatchObject({ payload: { ok: false } })
  expect(dimmed).toHaveLength(1)
})

test('whoever says hello is welcomed with where they left off, and what was missed comes once', async () => {
  const client = await open('admin')
  client.send({ type: 'hello', payload: { lastSeq: 3 } })
  expect(await client.next('welcome')).toMatchObject({ payload: { seq: 41, scope: 'admin' } })
  expect(await client.next('lamp.lit')).toEqual({ type: 'lamp.lit', payload: { since: 3 } })
  client.send({ type: 'hello', payload: { lastSeq: 3 } })
  expect(await client.next('welcome')).toMatchObject({ payload: { seq: 41 } })
  await settled(client)
  expect(client.messages).toEqual([])
})
