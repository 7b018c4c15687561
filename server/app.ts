import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Koa from 'koa'
import { api } from './api.ts'
import type { Config } from './config.ts'
import { openDatabase } from './db/database.ts'
import { translateFailure } from './db/failures.ts'
import { migrations } from './db/migrations/all.ts'
import { tables } from './tables.ts'
import { createActionRegistry } from './kit/actions.ts'
import { createEventBus } from './kit/events.ts'
import { createHttp } from './kit/http.ts'
import { createListener } from './kit/listener.ts'
import type { Lock } from './kit/lock-file.ts'
import type { Logger } from './kit/log.ts'
import type { Module } from './kit/module.ts'
import { createOwnHosts } from './kit/own-hosts.ts'
import { createRateLimit, perMinute } from './kit/rate-limit.ts'
import { createFactsReader } from './kit/request-facts.ts'
import { createSocketServer } from './kit/socket.ts'
import { createSocketRegistry } from './kit/socket-registry.ts'
import { createAuth } from './modules/auth/auth.module.ts'
import { createAuthenticate, createBearerCaller } from './modules/auth/authenticate.ts'
import { createDesktopTickets } from './modules/auth/desktop-tickets.ts'
import { createOidcService } from './modules/auth/oidc.service.ts'
import { createOwnerService } from './modules/auth/owner.service.ts'
import { createOwnerSessions } from './modules/auth/owner-sessions.ts'
import { createChat } from './modules/chat/chat.module.ts'
import { createConversationsService } from './modules/chat/conversations.service.ts'
import { createSoul } from './modules/chat/prompt.ts'
import { createRepliesService } from './modules/chat/replies.service.ts'
import { createHousehold } from './modules/household/household.module.ts'
import { createHouseholdService } from './modules/household/household.service.ts'
import { createKeys } from './modules/keys/keys.module.ts'
import { createKeysService } from './modules/keys/keys.service.ts'
import { createModels } from './modules/models/models.module.ts'
import { createAccessTokens } from './modules/paired-devices/access-tokens.ts'
import { createDeviceSessions } from './modules/paired-devices/device-sessions.ts'
import { createPairedDevices } from './modules/paired-devices/paired-devices.module.ts'
import { createPairedDevicesService } from './modules/paired-devices/paired-devices.service.ts'
import { createVersion1 } from './modules/paired-devices/version-1.ts'
import { createPairRequestsService } from './modules/pairing/pair-requests.service.ts'
import { createPairing } from './modules/pairing/pairing.module.ts'
import { createPairingService } from './modules/pairing/pairing.service.ts'
import { type Listening, serverAddresses } from './modules/pairing/server-addresses.ts'
import { createSettings } from './modules/settings/settings.module.ts'
import { createSettingsService } from './modules/settings/settings.service.ts'
import { createSetup } from './modules/setup/setup.module.ts'
import { createSetupService } from './modules/setup/setup.service.ts'
import { createSetupPin } from './modules/setup/setup-pin.ts'
import { createStatus } from './modules/status/status.module.ts'
import { createPages } from './pages.ts'
import type { Secrets } from './secrets.ts'

export interface AppOptions {
  config: Config
  secrets: Secrets
  lock: Lock
  log: Logger
  /** The built window, and what Hearth comes with (default soul, icons). */
  windowPath: string
  resourcesPath: string
  version: string
  tls: { cert: string; key: string } | null
  /** Prints each new set-up PIN. */
  announcePin(pin: string): void
  /** Set up just now. */
  onSetUp(): void
  /** The disk cannot be trusted any more; the process has to end. */
  onDiskFailure(error: unknown): void
}

export type App = Awaited<ReturnType<typeof createApp>>

const CLOSE_GRACE_MS = 2_000

/** Builds the house. The order of the constants is the order of dependency. */
export async function createApp(options: AppOptions) {
  const { config, secrets, log } = options
  const { env } = config
  const path = (...parts: string[]) => join(config.dataPath, ...parts)
  mkdirSync(config.dataPath, { recursive: true, mode: 0o700 })
  mkdirSync(path('models'), { recursive: true })
  const db = await openDatabase({
    path: path('hearth.sqlite'),
    backupsPath: path('backups'),
    tables,
    migrations,
    wasUnclean: options.lock.wasStale,
    log,
    onDiskFailure: options.onDiskFailure,
  })
  const onWriteFailed = (err: unknown) => log.error({ err }, 'a background write failed')
  const listening: Listening = { host: '127.0.0.1', port: env.SERVICE_PORT, secure: options.tls !== null }

  const events = createEventBus((err, event) => log.error({ err, event }, 'an event listener failed'))
  const actions = createActionRegistry()
  const sockets = createSocketRegistry()
  const household = createHouseholdService({ db })
  const settings = createSettingsService({ config, secrets, path: path('config', 'settings.json'), addresses })
  const owner = createOwnerService({ db, household, environmentPassword: env.SERVICE_OWNER_PASSWORD })
  const sessions = createOwnerSessions({ db, household, sockets, secret: () => secrets.get('AUTH_SECRET'), onWriteFailed })
  const oidc = createOidcService({ provider, base: () => settings.publicUrl() ?? `http://localhost:${listening.port}` })
  const tickets = createDesktopTickets()
  const accessTokens = createAccessTokens(() => secrets.get('SERVICE_JWT_SECRET'))
  const deviceSessions = createDeviceSessions({
    db,
    household,
    accessTokens,
    sockets,
    accessTtlSeconds: env.SERVICE_ACCESS_TOKEN_TTL_SECONDS,
    refreshTtlDays: env.SERVICE_REFRESH_TOKEN_TTL_DAYS,
    onWriteFailed,
  })
  const devices = createPairedDevicesService({ db, household, sockets, sessions: deviceSessions })
  const version1 = createVersion1({ db, devices, sessions: deviceSessions, enabled: !env.SERVICE_AUTH_V2 })
  const pairing = createPairingService({ db, household, devices, sessions: deviceSessions, addresses })
  const requests = createPairRequestsService({ db, devices, sessions: deviceSessions })
  const keys = createKeysService({ db, household, sockets, onWriteFailed })
  const setup = createSetupService({ db, household, owner, secrets })
  const pin = createSetupPin(options.announcePin)
  const runtime = { gpu: env.SERVICE_LLM_GPU === 'off' ? (false as const) : ('auto' as const), ...(env.SERVICE_LLM_THREADS && { threads: env.SERVICE_LLM_THREADS }) }
  const models = createModels({ modelsPath: path('models'), runtime, log })
  const conversations = createConversationsService({ db })
  const soul = createSoul([path('soul.md'), join(options.resourcesPath, 'soul.md')])
  const replies = createRepliesService({ db, conversations, household, llm: models.llm, soul, events })

  const modules: Module[] = [
    createSetup({ setup, pin, owner, sessions, onDone: openToNetwork }),
    createHousehold({ household }),
    createAuth({ owner, sessions, oidc, tickets, devices, deviceSessions, allowedEmails: env.SERVICE_ALLOWED_EMAILS }),
    createPairing({ pairing, requests, sessions: deviceSessions }),
    createPairedDevices({ devices, sessions: deviceSessions, version1, onWriteFailed }),
    createKeys({ keys }),
    createSettings({ settings }),
    models,
    createChat({ conversations, replies }),
    createStatus({ sockets, faults: () => (db.damage ? [db.damage] : []), contracts: api, version: options.version }),
  ]
  for (const action of modules.flatMap((module) => module.actions ?? [])) actions.add(action)

  const readFacts = createFactsReader(env.SERVICE_TRUSTED_PROXIES)
  const ownHosts = createOwnHosts(() => ({ publicUrl: settings.publicUrl(), allowedHosts: settings.allowedHosts() }))
  const authenticate = createAuthenticate({ sessions, deviceSessions, keys })
  const unlimited = { take: () => undefined, giveBack: () => undefined }
  const general = env.SERVICE_RATE_LIMIT === 0 ? unlimited : createRateLimit(env.SERVICE_RATE_LIMIT, 50)
  const http = createHttp({
    routes: modules.flatMap((module) => module.routes ?? []),
    authenticate,
    readFacts,
    ownHosts,
    isSetUp: setup.isDone,
    publicUrl: settings.publicUrl,
    limits: { general, 'sign-in': perMinute(20), pairing: perMinute(20), 'pair-request': perMinute(5), refresh: perMinute(20), webhook: perMinute(60) },
    translate: translateFailure,
    uploadsPath: path('tmp'),
    log,
  })
  const pages = createPages({ root: options.windowPath, isSetUp: setup.isDone, readFacts, signIn })
  const socketServer = createSocketServer({
    authenticate,
    bearerCaller: createBearerCaller({ deviceSessions, keys }),
    readFacts,
    ownHosts,
    isSetUp: setup.isDone,
    limit: general,
    registry: sockets,
    onClosed: (caller) => void (caller.kind === 'device' && devices.seen(caller.deviceId).catch(onWriteFailed)),
  })

  const koa = new Koa()
  koa.on('error', (err) => log.error({ err }, 'a page failed'))
  koa.use(http)
  koa.use(pages)
  const handle = koa.callback()
  const listener = createListener({ handle: (req, res) => void handle(req, res), upgrade: (...args) => void socketServer.upgrade(...args), tls: options.tls })

  function addresses(): string[] {
    return serverAddresses(listening, settings.publicUrl())
  }

  function provider() {
    const clientId = secrets.get('AUTH_IDP_ID')
    const clientSecret = secrets.get('AUTH_IDP_SECRET')
    const issuer = secrets.get('AUTH_IDP_ISSUER')
    return clientId && clientSecret && issuer ? { issuer, clientId, clientSecret } : null
  }

  function signIn(facts: Parameters<typeof oidc.fits>[0]) {
    const offer = oidc.isConfigured() ? (oidc.fits(facts) ? 'password provider' : 'password provider-elsewhere') : 'password'
    return { content: offer, at: oidc.base() }
  }

  const chosenModel = () => {
    const { SERVICE_LLM_MODEL, SERVICE_LLM_BASE_URL } = settings.values()
    return { model: SERVICE_LLM_MODEL, baseUrl: SERVICE_LLM_BASE_URL, apiKey: secrets.get('SERVICE_LLM_API_KEY') ?? null }
  }
  settings.onChange(() => void models.llm.choose(chosenModel()).catch((err: unknown) => log.error({ err }, 'the model could not be changed')))

  async function listenOn(host: string): Promise<void> {
    listening.port = await listener.listen(listening.port, host)
    listening.host = host
  }

  /** After set-up: the same port, now on the address that was configured. */
  function openToNetwork(): void {
    options.onSetUp()
    if (env.SERVICE_HOST === listening.host) return
    listenOn(env.SERVICE_HOST).catch((err: unknown) => {
      log.fatal({ err }, 'the port could not be opened to the network')
      process.exitCode = 69
      process.kill(process.pid, 'SIGTERM')
    })
  }

  return {
    actions,
    events,
    tickets,
    owner,
    sessions,
    url: () => `http://${listening.host.includes(':') ? `[${listening.host}]` : listening.host}:${listening.port}`,
    setupPin: () => (setup.isDone() ? null : pin.current()),
    async start(): Promise<void> {
      await models.llm.choose(chosenModel())
      for (const module of modules) await module.start?.()
      await listenOn(setup.isDone() ? env.SERVICE_HOST : '127.0.0.1')
    },
    /** Resolves when nothing is being written. */
    idle: () => db.idle(),
    async stop(): Promise<void> {
      socketServer.close()
      const closed = listener.close(CLOSE_GRACE_MS)
      for (const module of modules.toReversed()) await module.stop?.()
      socketServer.terminate()
      await closed
      await db.close()
    },
  }
}
