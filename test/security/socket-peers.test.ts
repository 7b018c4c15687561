import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { event } from '../../server/kit/events.ts'
import { clientMessage, onMessage } from '../../server/kit/socket-message.ts'
import { topic } from '../../server/kit/topic.ts'
import { connectSocket, expectTalking } from '../support/socket-client.ts'
import { frame, rawSocket } from '../support/socket-frames.ts'
import { startSocketServer } from '../support/socket-server.ts'

const news = topic({ event: event('news', z.object({ n: z.number(), text: z.string() })), access: 'guest', summary: '' })
const subscribe = '{"type":"subscribe","payload":{"topics":["news"]}}'
const STALLED = 10

test('readers that stall are closed with 4408 while one that reads gets everything in order, and memory stays', async () => {
  const server = await startSocketServer({ topics: [news] })
  const stalled = await Promise.all(Array.from({ length: STALLED }, (_, at) => rawSocket(server.url, `guest.stalled-${at}`)))
  const good = await connectSocket(`${server.url}/ws?token=guest.good`)
  for (const { socket } of stalled) socket.write(frame(0x81, subscribe))
  good.send(subscribe)
  await good.next('result')
  for (const { socket } of stalled) socket.pause()
  const text = 'x'.repeat(60_000)
  const before = process.memoryUsage().rss
  for (let n = 0; n < 300; n += 1) {
    server.registry.publish('news', { n, text })
    expect((await good.next('news')).payload.n).toBe(n)
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(96 * 1024 * 1024)
  for (const { socket, code } of stalled) {
    socket.resume()
    expect(await code).toBe(4408)
    socket.destroy()
  }
  await expectTalking(good, 'after the stalled are gone')
  await vi.waitFor(() => expect(server.registry.connectedDevices()).toBe(1))
  server.stop()
})

test('what one turn publishes arrives in order before later answers, though it be more than a slow reader may leave', async () => {
  const server = await startSocketServer({ topics: [news] })
  const client = await connectSocket(`${server.url}/ws?token=guest.a`)
  client.send(subscribe)
  await client.next('result')
  const text = 'x'.repeat(300)
  for (let n = 0; n < 3_500; n += 1) server.registry.publish('news', { n, text })
  await expectTalking(client, 'after a burst')
  expect(client.messages.map(({ payload }) => payload.n)).toEqual(Array.from({ length: 3_500 }, (_, n) => n))
  client.socket.close()
  await client.closed
  await vi.waitFor(() => expect(server.registry.size()).toBe(0))
  server.registry.publish('news', { n: 0, text })
  server.stop()
})

test('whoever is shown out is heard no more, and is gone soon, whether they answer or not', async () => {
  const heard: string[] = []
  const open = clientMessage({ type: 'door.open', payload: z.object({}), access: 'guest', summary: '' })
  const server = await startSocketServer({ handlers: [onMessage(open, (_payload, { deviceId }) => void heard.push(deviceId))] })
  const [thief, friend] = [await rawSocket(server.url, 'guest.thief'), await rawSocket(server.url, 'guest.friend')]
  const gone = once(thief.socket, 'close')
  server.registry.close(({ deviceId }) => deviceId === 'thief', 4401)
  expect(await thief.code).toBe(4401)
  const please = frame(0x81, '{"type":"door.open","payload":{}}')
  thief.socket.write(please)
  friend.socket.write(please)
  await gone
  await vi.waitFor(() => expect(server.registry.connectedDevices()).toBe(1))
  expect(heard).toEqual(['friend'])
  friend.socket.destroy()
  server.stop()
}, 20_000)

test('a flood of pings is one like any other', async () => {
  const server = await startSocketServer({})
  const { socket, code } = await rawSocket(server.url, 'guest.pinger')
  const pings = Buffer.concat(Array.from({ length: 20 }, () => frame(0x89, 'x')))
  const timer = setInterval(() => socket.write(pings), 50)
  expect(await code).toBe(4429)
  clearInterval(timer)
  socket.destroy()
  server.stop()
}, 15_000)

test('what one client sends at once is handled a few at a time, in order, and another is answered in between', async () => {
  const BURST = 5_000
  const begun: number[] = []
  let now = 0
  let most = 0
  const dig = clientMessage({ type: 'hole.dig', payload: z.object({ n: z.number() }), access: 'guest', summary: '' })
  const onDig = onMessage(dig, async ({ n }) => {
    begun.push(n)
    now += 1
    most = Math.max(most, now)
    await wait(1)
    now -= 1
  })
  const server = await startSocketServer({ handlers: [onDig] })
  const digger = await rawSocket(server.url, 'guest.digger')
  const good = await connectSocket(`${server.url}/ws?token=guest.good`)
  digger.socket.write(Buffer.concat(Array.from({ length: BURST }, (_, n) => frame(0x81, `{"type":"hole.dig","payload":{"n":${n}}}`))))
  await vi.waitFor(() => expect(begun.length).toBeGreaterThan(0))
  await expectTalking(good, 'beside the digger')
  expect(begun.length).toBeLessThan(BURST)
  await vi.waitFor(() => expect(begun).toHaveLength(BURST), { timeout: 15_000 })
  expect(begun).toEqual(Array.from({ length: BURST }, (_, n) => n))
  expect(most).toBeLessThanOrEqual(16)
  await vi.waitFor(() => expect(now).toBe(0))
  digger.socket.destroy()
  server.stop()
}, 30_000)
