import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { connectionLimits } from '../../server/kit/listener.ts'
import { connectDevice } from '../notifications/device-client.ts'
import { type Browser, type Device, type House, startHouse } from '../support/house.ts'
import { openRaw } from '../support/raw-http.ts'
import { connectSocket, expectTalking, type SocketClient, talking } from '../support/socket-client.ts'
import { rawSocket } from '../support/socket-frames.ts'

/** Slower than this is hanging, whatever else the machine does. */
const HANG_MS = 3_000
const PER_SECOND = 1_000
const RECONNECTS = 300

let house: House
let owner: Browser
let phone: Device
let other: Device
beforeAll(async () => {
  house = await startHouse()
  owner = await house.residentOwner()
  phone = await house.pair('Phone', 'member')
  other = await house.pair('Other', 'member')
})
afterAll(() => house[Symbol.asyncDispose]())

const open = ({ accessToken }: Device) => talking(connectSocket(`${house.url}/ws?token=${accessToken}`))

/** How many files and sockets a process may hold open here. */
const openFiles = () => Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).replace('unlimited', '1000000'))

/** Asks for a pong again and again until `goesOn` says no; resolves to how long each answer took, in milliseconds. */
async function roundTrips(client: SocketClient, goesOn: () => boolean): Promise<number[]> {
  const took: number[] = []
  while (goesOn()) {
    const askedAt = performance.now()
    await expectTalking(client, 'beside the others')
    took.push(performance.now() - askedAt)
    await wait(30)
  }
  return took
}

function say(about: string, took: number[]): void {
  const sorted = took.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(0)
  process.stdout.write(`round trips beside ${about}: half ${at(0.5)} ms, 99 of 100 ${at(0.99)} ms, of ${took.length}\n`)
}

test.each([
  ['acknowledgements of nothing', () => ({ type: 'notification.ack', id: 'a', payload: { id: randomUUID(), status: 'read' } })],
  [
    'subscriptions',
    () => ({ type: 'subscribe', id: 'a', payload: { topics: ['notification.changed', 'todo.changed', 'calendar.changed'] } }),
  ],
  ['nonsense', () => '{"type":'],
])(
  'a thousand %s a second are closed as a flood, and others are answered meanwhile',
  async (about, message) => {
    const [flooder, good] = [await open(phone), await open(other)]
    let isOpen = true
    let sent = 0
    const startedAt = performance.now()
    const timer = setInterval(() => {
      const due = ((performance.now() - startedAt) / 1_000) * PER_SECOND
      for (; sent < due && flooder.socket.readyState === flooder.socket.OPEN; sent += 1) flooder.send(message())
    }, 10)
    const watched = roundTrips(good, () => isOpen)
    expect(await flooder.closed).toBe(4429)
    isOpen = false
    clearInterval(timer)
    const took = await watched
    say(`a thousand ${about} a second`, took)
    expect(sent).toBeGreaterThan(3 * PER_SECOND)
    expect(Math.max(...took)).toBeLessThan(HANG_MS)
    good.socket.close()
  },
  30_000,
)

test('a device that reconnects a hundred times a second leaves nothing behind, and keeps nobody waiting', async () => {
  const good = await open(other)
  const connected = async () => (await house.stranger().api.status.get()).connectedDevices
  await vi.waitFor(async () => expect(await connected()).toBe(1))
  let goesOn = true
  const watched = roundTrips(good, () => goesOn)
  const attempts: Promise<unknown>[] = []
  for (let n = 0; n < RECONNECTS; n += 1) {
    attempts.push(rawSocket(house.url, phone.accessToken).then(({ socket }) => (n % 2 ? socket.destroy() : socket.end())))
    await wait(10)
  }
  await Promise.all(attempts)
  goesOn = false
  const took = await watched
  say('a hundred reconnections a second', took)
  expect(Math.max(...took)).toBeLessThan(HANG_MS)
  await vi.waitFor(async () => expect(await connected()).toBe(1), { timeout: 10_000 })
  expect((await owner.api.pairedDevices.list()).find(({ id }) => id === phone.id)?.isConnected).toBe(false)
  good.socket.close()
}, 30_000)

test('a line that breaks after each arrival, before the answer, again and again, ends with everything delivered once', async () => {
  const tablet = await house.pair('Tablet', 'member', 'tablet')
  const titles = Array.from({ length: 100 }, (_, n) => `n${n}`)
  const ids = new Map<string, string>()
  for (const title of titles) {
    const sent = await owner.api.notifications.send({ body: { title, body: '', deviceId: tablet.id } })
    if ('id' in sent) ids.set(title, sent.id)
  }
  const seen: string[] = []
  for (const title of titles) {
    const breaking = await connectSocket(`${house.url}/ws?token=${tablet.accessToken}`)
    breaking.send({ type: 'hello', payload: {} })
    const first = await breaking.next('notification.push')
    breaking.socket.terminate() // it arrived, and no acknowledgement went out
    await breaking.closed
    expect(first.payload).toMatchObject({ title, id: ids.get(title) })
    const client = await connectDevice(house.url, tablet)
    await expect.poll(() => client.pushed()[0]?.title).toBe(title)
    seen.push(client.pushed()[0]?.id ?? '')
    expect(await client.ask('notification.ack', { id: ids.get(title), status: 'delivered' })).toMatchObject({ ok: true })
    await client.leave()
  }
  expect(seen).toEqual([...ids.values()])
  expect(await tablet.api.notifications.list({ query: { status: 'delivered', limit: 500 } })).toHaveLength(titles.length)
  const last = await connectDevice(house.url, tablet)
  await expectTalking(last, 'at the end')
  expect(last.pushed()).toEqual([])
  await last.leave()
}, 60_000)

test('upgrades that never finish, by the thousand, keep nobody waiting, and are held neither all nor long', async () => {
  const count = openFiles() > 6_000 ? 2_000 : 500
  const startedAt = performance.now()
  let gone = 0
  async function openHalf(): Promise<void> {
    const socket = await openRaw(house.url)
    socket.once('close', () => (gone += 1)).resume()
    socket.write('GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nSec-WebS')
  }
  for (let at = 0; at < count; at += 100) await Promise.all(Array.from({ length: 100 }, openHalf))
  const good = await open(other)
  let left = 20
  const took = await roundTrips(good, () => left-- > 0)
  say(`${count} unfinished upgrades`, took)
  expect(Math.max(...took)).toBeLessThan(HANG_MS)
  expect((await house.stranger().fetch('/api/status')).status).toBe(200)
  if (count > connectionLimits.perAddress) await vi.waitFor(() => expect(gone).toBeGreaterThanOrEqual(count - connectionLimits.perAddress))
  await vi.waitFor(() => expect(gone).toBe(count), { timeout: 40_000 - (performance.now() - startedAt), interval: 100 })
  await expectTalking(good, 'after they are gone')
  good.socket.close()
}, 60_000)
