import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { connectSocket, expectTalking } from '../support/socket-client.ts'
import { frame, rawSocket } from '../support/socket-frames.ts'
import { startSocketServer } from '../support/socket-server.ts'

const PING_MS = 800
const PING = 0x89
const PONG = 0x8a

/** Why no network of one’s own can be had here; null where it can. */
function reason(): string | null {
  try {
    execFileSync('unshare', ['-rn', 'sh', '-c', 'ip link set lo up && ip link set lo down'], { stdio: 'pipe' })
    return null
  } catch (error) {
    return `a network namespace cannot be made here: ${(error as Error).message.split('\n')[0]}`
  }
}

test('a peer that upgrades and never answers a ping is let go after two, one that answers is kept', async () => {
  const server = await startSocketServer({ pingMs: PING_MS })
  const dark = await rawSocket(server.url, 'guest.dark')
  let pings = 0
  dark.socket.on('data', (bytes: Buffer) => {
    if (bytes[0] === PING) pings += 1
  })
  const gone = once(dark.socket, 'close')
  const good = await connectSocket(`${server.url}/ws?token=guest.good`)
  expect(server.registry.connectedDevices()).toBe(2)
  await gone
  expect(pings).toBe(2)
  await vi.waitFor(() => expect(server.registry.isConnected('dark')).toBe(false))
  expect([server.registry.isConnected('good'), server.registry.connectedDevices()]).toEqual([true, 1])
  await expectTalking(good, 'after the dark one is gone')
  server.stop()
}, 20_000)

test('a peer that misses every other ping stays', async () => {
  const server = await startSocketServer({ pingMs: 300 })
  const { socket } = await rawSocket(server.url, 'guest.tired')
  let pings = 0
  const fifth = new Promise<void>((resolve) => {
    socket.on('data', (bytes: Buffer) => {
      if (bytes[0] !== PING) return
      pings += 1
      if (pings % 2 === 0) socket.write(frame(PONG))
      if (pings === 5) resolve()
    })
  })
  await fifth
  expect(server.registry.isConnected('tired')).toBe(true)
  socket.destroy()
  server.stop()
}, 20_000)

test('a peer whose network swallows everything is let go, though nobody hung up', async ({ skip }) => {
  const why = reason()
  skip(why !== null, why ?? '')
  const file = join(import.meta.dirname, 'in-dark-network.ts')
  const script = 'ip link set lo up && exec "$0" "$1"'
  const { stdout } = await promisify(execFile)('unshare', ['-rn', 'sh', '-c', script, process.execPath, file], { timeout: 25_000 })
  expect(JSON.parse(stdout)).toEqual({
    before: { isConnected: true, connectedDevices: 1 },
    after: { isConnected: false, connectedDevices: 0, sockets: 0 },
    clientSawIt: false,
    pingsMeanwhile: 0,
  })
}, 30_000)
