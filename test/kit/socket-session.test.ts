import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Caller } from '../../server/kit/caller.ts'
import { createFactsReader } from '../../server/kit/request-facts.ts'
import { createSocketServer } from '../../server/kit/socket.ts'
import { createSocketRegistry } from '../../server/kit/socket-registry.ts'

const caller: Caller = {
  kind: 'key',
  scope: 'member',
  deviceId: '7c1f0a52-1d0e-4d6e-9c84-8a3c5f1b2d3e',
  userId: '0f8b6a3c-2b1d-4c5e-8f7a-9b0c1d2e3f4a',
  personId: null,
  sessionId: 'key',
  via: 'bearer',
}

test('a socket ends with its session, also when that ends by time', async () => {
  let open = true
  const sockets = createSocketServer({
    authenticate: () => null,
    bearerCaller: () => caller,
    readFacts: createFactsReader([]),
    ownHosts: { has: () => true },
    isSetUp: () => true,
    limit: { take: () => undefined, giveBack: () => undefined },
    registry: createSocketRegistry(),
    topics: [],
    handlers: [],
    greeting: { seq: () => 0, welcomed: () => undefined },
    onFault: () => undefined,
    isOpen: ({ sessionId }) => sessionId === 'key' && open,
    pingMs: 20,
    onClosed: () => undefined,
  })
  const server = createServer().on('upgrade', (...args) => void sockets.upgrade(...args))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws?token=any`)
  await once(client, 'open')
  for (let pings = 0; pings < 3; pings++) await once(client, 'ping')
  open = false
  const [code] = (await once(client, 'close')) as [number]
  expect(code).toBe(4401)
  server.close()
})
