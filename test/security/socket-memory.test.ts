import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { serverMessage } from '../../server/kit/socket-message.ts'
import { rawSocket } from '../support/socket-frames.ts'
import { startSocketServer } from '../support/socket-server.ts'

const STALLED = 10

// In a file of its own: what other tests leave behind would be counted.
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
