import { join } from 'node:path'
import Koa from 'koa'
import type { Config } from './config.ts'
import { translateFailure } from './db/failures.ts'
import type { House } from './house/house.ts'
import { createHttp } from './kit/http.ts'
import { createListener, type TlsIdentity } from './kit/listener.ts'
import type { Logger } from './kit/log.ts'
import { createOwnHosts } from './kit/own-hosts.ts'
import { createRateLimit, perMinute, type RateLimit } from './kit/rate-limit.ts'
import { createFactsReader, type RequestFacts } from './kit/request-facts.ts'
import { createSocketServer } from './kit/socket.ts'
import type { SocketRegistry } from './kit/socket-registry.ts'
import { createTrustFiles } from './modules/trust/trust-files.ts'
import { createPages } from './pages.ts'
import { topics } from './topics.ts'

export interface DoorsDeps {
  config: Config
  house: House
  sockets: SocketRegistry
  log: Logger
  /** The built window. */
  windowPath: string
  tls: TlsIdentity | null
}

export type Doors = ReturnType<typeof createDoors>

const CLOSE_GRACE_MS = 2_000
const GENERAL_REFILL_PER_SECOND = 50
/** What a connection fails with that its client broke off, which anybody may do. */
const LEFT = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'])
const unlimited: RateLimit = { take: () => undefined, giveBack: () => undefined }

/** Everything by which the house is entered: the API, the sockets and the pages, on one port. */
export function createDoors({ config, house, sockets, log, windowPath, tls }: DoorsDeps) {
  const { env } = config
  const { settings, isSetUp, authenticate, bearerCaller, oidc } = house
  const readFacts = createFactsReader(env.SERVICE_TRUSTED_PROXIES)
  const ownHosts = createOwnHosts(() => ({ publicUrl: settings.publicUrl(), allowedHosts: settings.allowedHosts() }))
  const general = env.SERVICE_RATE_LIMIT === 0 ? unlimited : createRateLimit(env.SERVICE_RATE_LIMIT, GENERAL_REFILL_PER_SECOND)

  const http = createHttp({
    routes: house.modules.flatMap((module) => module.routes ?? []),
    authenticate,
    readFacts,
    ownHosts,
    isSetUp,
    publicUrl: settings.publicUrl,
    limits: {
      general,
      'sign-in': perMinute(20),
      pairing: perMinute(20),
      'pair-request': perMinute(5),
      refresh: perMinute(20),
      webhook: perMinute(60),
    },
    translate: translateFailure,
    uploadsPath: join(config.dataPath, 'tmp'),
    log,
  })
  const socketServer = createSocketServer({
    authenticate,
    bearerCaller,
    readFacts,
    ownHosts,
    isSetUp,
    limit: general,
    registry: sockets,
    topics,
    handlers: house.modules.flatMap((module) => module.messages ?? []),
    greeting: house.greeting,
    onFault: (err) => log.error({ err }, 'a message over a socket failed'),
    isOpen: house.isOpen,
    onClosed: (caller) => caller.kind === 'device' && house.deviceSeen(caller.deviceId),
  })
  const signIn = (facts: RequestFacts) => {
    const offer = oidc.isConfigured() ? (oidc.fits(facts) ? 'password provider' : 'password provider-elsewhere') : 'password'
    return { content: offer, at: oidc.base() }
  }
  const pages = createPages({ root: windowPath, isSetUp, readFacts, signIn })

  const koa = new Koa()
  koa.on('error', (err: NodeJS.ErrnoException) => {
    if (LEFT.has(err.code ?? '')) log.debug({ err }, 'a client broke off')
    else log.error({ err }, 'a page failed')
  })
  koa.use(http)
  koa.use(createTrustFiles(house.authority))
  koa.use(pages)
  const handle = koa.callback()
  const listener = createListener({
    handle: (req, res) => void handle(req, res),
    upgrade: (...args) => void socketServer.upgrade(...args),
    tls,
  })

  return {
    listen: listener.listen,
    setTls: listener.setTls,
    /** Tells every client, stops accepting, and resolves when the last answer is out. `meanwhile` ends what still answers. */
    async close(meanwhile: () => Promise<void>): Promise<void> {
      socketServer.close()
      const closed = listener.close(CLOSE_GRACE_MS)
      await meanwhile()
      socketServer.terminate()
      await closed
    },
  }
}
