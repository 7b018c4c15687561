import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CallerScope } from '../../server/kit/caller.ts'
import { createFactsReader } from '../../server/kit/request-facts.ts'
import { createSocketServer } from '../../server/kit/socket.ts'
import type { MessageHandler } from '../../server/kit/socket-message.ts'
import { createSocketRegistry, type SocketRegistry } from '../../server/kit/socket-registry.ts'
import type { Topic } from '../../server/kit/topic.ts'

export interface SocketServerOptions {
  topics?: readonly Topic[]
  handlers?: readonly MessageHandler[]
  pingMs?: number
  /** Where the server listens; loopback unless told otherwise. */
  host?: string
}

/** `/ws` with no house behind it: whoever brings `<scope>.<device>` as token is that device. */
export async function startSocketServer({ topics = [], handlers = [], pingMs, host = '127.0.0.1' }: SocketServerOptions): Promise<{
  url: string
  registry: SocketRegistry
  stop(): void
}> {
  const registry = createSocketRegistry()
  const sockets = createSocketServer({
    authenticate: () => null,
    bearerCaller(token) {
      const [scope, deviceId = ''] = token.split('.')
      return { kind: 'device', scope: scope as CallerScope, deviceId, userId: 'u', personId: null, sessionId: 's', via: 'bearer' }
    },
    readFacts: createFactsReader([]),
    ownHosts: { has: () => true },
    isSetUp: () => true,
    limit: { take: () => undefined, giveBack: () => undefined },
    registry,
    topics,
    handlers,
    greeting: { seq: () => 0, welcomed: () => undefined },
    onFault(error) {
      throw error
    },
    isOpen: () => true,
    onClosed: () => undefined,
    ...(pingMs !== undefined && { pingMs }),
  })
  const server = createServer().on('upgrade', (...args) => void sockets.upgrade(...args))
  await once(server.listen(0, host), 'listening')
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    registry,
    stop() {
      sockets.terminate()
      server.close()
    },
  }
}
