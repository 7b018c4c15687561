import { z } from 'zod'
import { event } from '../../server/kit/events.ts'
import { createFactsReader } from '../../server/kit/request-facts.ts'
import { createSocketServer } from '../../server/kit/socket.ts'
import { createSocketRegistry } from '../../server/kit/socket-registry.ts'
import { topic } from '../../server/kit/topic.ts'
import { serveBroadcasts } from './broadcast-control.ts'

const registry = createSocketRegistry()
const payload = z.looseObject({})
const sockets = createSocketServer({
  authenticate: () => null,
  bearerCaller: (deviceId) => ({ kind: 'device', scope: 'guest', deviceId, userId: 'u', personId: null, sessionId: 's', via: 'bearer' }),
  readFacts: createFactsReader([]),
  ownHosts: { has: () => true },
  isSetUp: () => true,
  limit: { take: () => undefined, giveBack: () => undefined },
  registry,
  topics: [
    topic({ event: event('news', payload), access: 'guest', summary: '' }),
    topic({ event: event('wide', payload), access: 'guest', summary: '' }),
  ],
  handlers: [],
  greeting: { seq: () => 0, welcomed: () => undefined },
  onFault(error) {
    throw error
  },
  isOpen: () => true,
  onClosed: () => undefined,
  pingMs: 600_000, // the clients of the bench answer no pings
})
serveBroadcasts((name, data) => registry.publish(name, data)).on('upgrade', (...args) => void sockets.upgrade(...args))
