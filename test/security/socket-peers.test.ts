import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { event } from '../../server/kit/events.ts'
import { clientMessage, onMessage, serverMessage } from '../../server/kit/socket-message.ts'
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

test('what is kept for a reader that stalls is a mebibyte and the one message that passed it, and is given back soon', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const letter = serverMessage({ type: 'letter', payload: z.object({ text: z.string() }), summary: '' })
  const server = await startSocketServer({})
  const stalled = await Promise.all(Array.from({ length: STALLED }, (_, at) => rawSocket(server.url, `guest.stalled-${at}`)))
  for (const { socket } of stalled) socket.pause()
  await vi.waitFor(() => expect(server.registry.connectedDevices()).toBe(STALLED))
  const before = held()
  const text = 'x'.repeat(50_000)
  for (let n = 0; n < 300; n += 1) {
    for (let at = 0; at < STALLED; at += 1) server.registry.send(`stalled-${at}`, letter, { text })
    if (n % 10 === 0) await turn()
  }
  const each = (held() - before) / STALLED
  process.stdout.write(`${(each / 1024).toFixed(0)} KB are kept for a reader that stalls\n`)
  expect(each).toBeGreaterThan(512 * 1024) // they did stall
  expect(each).toBeLessThan(1.5 * 1024 * 1024)
  await vi.waitFor(() => expect(server.registry.connectedDevices()).toBe(0), { timeout: 15_000 })
  await vi.waitFor(() => expect((held() - before) / STALLED).toBeLessThan(256 * 1024), { timeout: 5_000 })
  for (const { socket } of stalled) socket.destroy()
  server.stop()
}, 30_000)

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
