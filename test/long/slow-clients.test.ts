import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type House, startHouse } from '../support/house.ts'
import { openRaw } from '../support/raw-http.ts'

const CLIENTS = 300

let house: House
let host: string
beforeAll(async () => {
  house = await startHouse()
  host = new URL(house.url).host
})
afterAll(() => house[Symbol.asyncDispose]())

/** Resolves with the milliseconds until the server let go of the last of these sockets, each of which sends a byte a second. */
async function heldFor(openings: string): Promise<number> {
  const sockets: Socket[] = await Promise.all(Array.from({ length: CLIENTS }, () => openRaw(house.url)))
  const startedAt = performance.now()
  const ended = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve).resume())))
  for (const socket of sockets) socket.write(openings)
  const drip = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('a')
  }, 1_000)
  const slowest: number[] = []
  const watch = setInterval(async () => {
    const askedAt = performance.now()
    await house.stranger().fetch('/api/status')
    slowest.push(performance.now() - askedAt)
  }, 1_000)
  await ended
  clearInterval(drip)
  clearInterval(watch)
  expect(Math.max(...slowest)).toBeLessThan(1_000)
  return performance.now() - startedAt
}

test('headers that drip are given up within 25 seconds', async () => {
  expect(await heldFor(`GET /api/status HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `)).toBeLessThan(25_000)
})

test('an upgrade that drips is given up as well', async () => {
  expect(await heldFor(`GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Slow: `)).toBeLessThan(25_000)
})

test('a JSON body that drips is given up within 35 seconds', async () => {
  const lines = ['POST /api/auth/desktop HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json', 'Content-Length: 900000']
  const json = '{"ticket":"'
  // Beyond the first twenty the sign-in limit answers at once, and nobody reads the body.
  expect(await heldFor(`${lines.join('\r\n')}\r\n\r\n${json}`)).toBeLessThan(35_000)
})
