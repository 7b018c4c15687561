import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Device, type House, startHouse } from '../support/house.ts'
import { connectSocket, type SocketClient, talking } from '../support/socket-client.ts'
import { rawSocket } from '../support/socket-frames.ts'

const IDLE = 1_000
const RECONNECTS_PER_SECOND = 100
const SECONDS = 10

let house: House
let phone: Device
let other: Device
beforeAll(async () => {
  house = await startHouse()
  phone = await house.pair('Phone', 'member')
  other = await house.pair('Other', 'member')
})
afterAll(() => house[Symbol.asyncDispose]())

const connected = async () => (await house.stranger().api.status.get()).connectedDevices

/** Asks for a pong every 100 ms until stopped; tells the slowest. */
function watch(client: SocketClient): { stop(): Promise<number> } {
  let slowest = 0
  let goesOn = true
  const done = (async () => {
    while (goesOn) {
      const askedAt = performance.now()
      client.send({ type: 'ping' })
      await client.next('pong')
      slowest = Math.max(slowest, performance.now() - askedAt)
      await wait(100)
    }
  })()
  return {
    async stop() {
      goesOn = false
      await done
      return slowest
    },
  }
}

test('a thousand idle sockets cost little, serve others as before, and are forgotten when they go', async () => {
  const good = await talking(connectSocket(`${house.url}/ws?token=${other.accessToken}`))
  const watched = watch(good)
  const before = process.memoryUsage().rss
  const idle = []
  for (let at = 0; at < IDLE; at += 50)
    idle.push(...(await Promise.all(Array.from({ length: 50 }, () => rawSocket(house.url, phone.accessToken)))))
  await wait(3_000) // past the hello that nobody says
  // Both ends of each are in this process.
  expect((process.memoryUsage().rss - before) / IDLE).toBeLessThan(120 * 1024)
  expect(await connected()).toBe(2)
  for (const { socket } of idle) socket.destroy()
  await vi.waitFor(async () => expect(await connected()).toBe(1), { timeout: 10_000 })
  expect(await watched.stop()).toBeLessThan(1_000)
  good.socket.close()
}, 60_000)

test('a client that reconnects a hundred times a second leaves nothing behind, and others are served beside it', async () => {
  const good = await talking(connectSocket(`${house.url}/ws?token=${other.accessToken}`))
  const watched = watch(good)
  const attempts: Promise<unknown>[] = []
  for (let n = 0; n < RECONNECTS_PER_SECOND * SECONDS; n += 1) {
    attempts.push(rawSocket(house.url, phone.accessToken).then(({ socket }) => socket.destroy()))
    await wait(1_000 / RECONNECTS_PER_SECOND)
  }
  await Promise.all(attempts)
  await vi.waitFor(async () => expect(await connected()).toBe(1), { timeout: 10_000 })
  expect(await watched.stop()).toBeLessThan(1_000)
  good.socket.close()
}, 60_000)
