import { join } from 'node:path'
import { api } from './api.ts'
import type { Config } from './config.ts'
import type { Database } from './db/database.ts'
import type { ActionRegistry } from './kit/actions.ts'
import type { Caller } from './kit/caller.ts'
import type { EventBus } from './kit/events.ts'
import { createGuardedFetch } from './kit/guarded-fetch.ts'
import type { TlsIdentity } from './kit/listener.ts'
import type { Logger } from './kit/log.ts'
import type { Module } from './kit/module.ts'
import { isHomeAddress } from './kit/public-address.ts'
import type { Listening } from './kit/server-addresses.ts'
import type { Greeting } from './kit/socket-message.ts'
import type { SocketRegistry } from './kit/socket-registry.ts'
import { createActions } from './modules/actions/actions.module.ts'
import { eraseRunsOf } from './modules/actions/erase-runs.ts'
import { httpRequest } from './modules/actions/http-request.ts'
import { createAuth } from './modules/auth/auth.module.ts'
import { createAuthenticate, createBearerCaller } from './modules/auth/authenticate.ts'
import { createDesktopTickets } from './modules/auth/desktop-tickets.ts'
import { createOidcService } from './modules/auth/oidc.service.ts'
import { createOwnerService } from './modules/auth/owner.service.ts'
import { createOwnerSessions } from './modules/auth/owner-sessions.ts'
import { createCalendar } from './modules/calendar/calendar.module.ts'
import { createCalendarService } from './modules/calendar/calendar.service.ts'
import { createFeedService } from './modules/calendar/feed.service.ts'
import { createSubscriptionsService } from './modules/calendar/subscriptions.service.ts'
import { createAnswering } from './modules/chat/answering.ts'
import { createChat } from './modules/chat/chat.module.ts'
import { createConversationsService } from './modules/chat/conversations.service.ts'
import { createDecisions } from './modules/chat/decisions.ts'
import { createEraseConversations } from './modules/chat/erase-conversations.ts'
import { createRepliesService } from './modules/chat/replies.service.ts'
import { createTools } from './modules/chat/tools.ts'
import { createDiscovery } from './modules/discovery/discovery.module.ts'
import { createHousehold } from './modules/household/household.module.ts'
import { createHouseholdService } from './modules/household/household.service.ts'
import { createKeys } from './modules/keys/keys.module.ts'
import { createKeysService } from './modules/keys/keys.service.ts'
import { createLearning } from './modules/learning/learning.module.ts'
import { createLearningService } from './modules/learning/learning.service.ts'
import { learningMemory } from './modules/learning/learning-memory.ts'
import { createMcp } from './modules/mcp/mcp.module.ts'
import { createMemory } from './modules/memory/memory.module.ts'
import { createDefaultEmbedder } from './modules/memory/ranking/default-embedder.ts'
import { createModels } from './modules/models/models.module.ts'
import { createButtons } from './modules/notifications/buttons.ts'
import { createDelivery } from './modules/notifications/delivery.ts'
import { createNotifications } from './modules/notifications/notifications.module.ts'
import { createNotificationsService } from './modules/notifications/notifications.service.ts'
import { createRetention } from './modules/notifications/retention.ts'
import { createOpenAi } from './modules/openai/openai.module.ts'
import { createAccessTokens } from './modules/paired-devices/access-tokens.ts'
import { createDeviceSessions } from './modules/paired-devices/device-sessions.ts'
import { createPairedDevices } from './modules/paired-devices/paired-devices.module.ts'
import { createPairedDevicesService } from './modules/paired-devices/paired-devices.service.ts'
import { createVersion1 } from './modules/paired-devices/version-1.ts'
import { createPairRequestsService } from './modules/pairing/pair-requests.service.ts'
import { createPairing } from './modules/pairing/pairing.module.ts'
import { createPairingService } from './modules/pairing/pairing.service.ts'
import { createPush } from './modules/push/push.module.ts'
import { createPushTokensService } from './modules/push/push-tokens.service.ts'
import { createPushers } from './modules/push/pushers.ts'
import { createVapidKeys } from './modules/push/vapid-keys.ts'
import { createSettings } from './modules/settings/settings.module.ts'
import { createSettingsService } from './modules/settings/settings.service.ts'
import { createSetup } from './modules/setup/setup.module.ts'
import { createSetupService } from './modules/setup/setup.service.ts'
import { createSetupPin } from './modules/setup/setup-pin.ts'
import { createStatus } from './modules/status/status.module.ts'
import { createRinging } from './modules/timers/ringing.ts'
import { createTimers } from './modules/timers/timers.module.ts'
import { createTimersService } from './modules/timers/timers.service.ts'
import { createReminders } from './modules/todos/reminders.ts'
import { createTodos } from './modules/todos/todos.module.ts'
import { createTodosService } from './modules/todos/todos.service.ts'
import { createAuthority } from './modules/trust/authority.service.ts'
import { createAuthorityFiles } from './modules/trust/authority-files.ts'
import { certifiedAddresses, certifiedNames } from './modules/trust/certified-names.ts'
import { createTrust } from './modules/trust/trust.module.ts'
import { createGrammarReplies } from './modules/understanding/grammar-replies.ts'
import { createHouseNames } from './modules/understanding/house-names.ts'
import { languagesIn } from './modules/understanding/language.ts'
import { createUnderstanding } from './modules/understanding/understanding.ts'
import type { Secrets } from './secrets.ts'

export interface HouseDeps {
  config: Config
  secrets: Secrets
  db: Database
  events: EventBus
  /** Everything that can be done; the modules’ own join it once the house stands. */
  actions: ActionRegistry
  sockets: SocketRegistry
  log: Logger
  resourcesPath: string
  version: string
  announcePin(pin: string): void
  /** Set up just now: the server opens to the network. */
  onSetUp(): Promise<void>
  /** Where it listens now. */
  listening(): Listening
  /** The environment names a certificate for TLS. */
  hasTls: boolean
  /** Answers TLS with this certificate from now on, or with none. */
  setTls(tls: TlsIdentity | null): void
  /** Where devices reach this server, best first, given the public address. */
  addresses(publicUrl: string | null): string[]
}

export type House = ReturnType<typeof createHouse>

/** Builds every domain. The order of the constants is the order of dependency. */
export function createHouse({ config, secrets, db, events, actions, sockets, log, ...deps }: HouseDeps) {
  const { env } = config
  const path = (...parts: string[]) => join(config.dataPath, ...parts)
  const onWriteFailed = (err: unknown) => log.error({ err }, 'a background write failed')
  const addresses = () => deps.addresses(settings.publicUrl())

  const fetching = {
    allowLocal: env.SERVICE_FETCH_ALLOW_LOCAL,
    isOwnHost: (host: string) => host === URL.parse(settings.publicUrl() ?? '')?.hostname,
  }
  const guardedFetch = createGuardedFetch(fetching)
  const homeFetch = createGuardedFetch({ ...fetching, isNear: isHomeAddress })
  const household = createHouseholdService({ db })
  const settings = createSettingsService({ config, secrets, path: path('config', 'settings.json'), addresses })
  const owner = createOwnerService({ db, household, environmentPassword: env.SERVICE_OWNER_PASSWORD })
  const sessions = createOwnerSessions({ db, household, sockets, secret: () => secrets.get('AUTH_SECRET'), onWriteFailed })
  const oidc = createOidcService({
    provider: () => providerOf(secrets),
    base: () => settings.publicUrl() ?? `http://localhost:${deps.listening().port}`,
  })
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
  const devices = createPairedDevicesService({ db, household, sockets, sessions: deviceSessions, events })
  household.onPersonRemoved(devices.leaveShared)
  const version1 = createVersion1({ db, devices, sessions: deviceSessions, enabled: !env.SERVICE_AUTH_V2 })
  const pairing = createPairingService({ db, household, devices, sessions: deviceSessions, addresses })
  const requests = createPairRequestsService({ db, devices, sessions: deviceSessions })
  const keys = createKeysService({ db, household, sockets, onWriteFailed })
  const authority = createAuthority({
    files: createAuthorityFiles(path('config', 'tls')),
    fixed: deps.hasTls,
    names: () => certifiedNames(settings),
    addresses: () => certifiedAddresses(settings),
    onIdentity: deps.setTls,
    log,
  })
  settings.onChange(() => void authority.refresh())
  const setup = createSetupService({ db, household, owner, secrets })
  const vapid = createVapidKeys({ secrets, publicUrl: settings.publicUrl })
  const pushTokens = createPushTokensService({ db })
  const pushers = createPushers({
    env,
    vapid,
    fetch: guardedFetch,
    homeFetch,
    onDeadToken: (device) => void pushTokens.forget(device).catch(onWriteFailed),
    log,
  })
  const pin = createSetupPin(deps.announcePin)
  const delivery = createDelivery({ db, household, sockets, events, pushers, onFailed: onWriteFailed })
  devices.onReachChanged((deviceId) => void delivery.lookAgain(deviceId).catch(onWriteFailed))
  const notifications = createNotificationsService({ db, household, events, deliver: delivery.deliver, onWriteFailed })
  const calendar = createCalendarService({ db, household, events })
  const feed = createFeedService({ db, household, addresses })
  const subscriptions = createSubscriptionsService({ db, household, events, fetch: homeFetch, onFailed: onWriteFailed })
  const reminders = createReminders({ db, household, notifications, onFailed: onWriteFailed })
  const todos = createTodosService({ db, household, events, reminders, settle: notifications.settleReminders })
  const press = createButtons({ notifications, todos, events })
  const ringing = createRinging({ db, household, notifications, events, onFailed: onWriteFailed })
  const timers = createTimersService({ db, notifications, events, ringing })
  const gpu = env.SERVICE_LLM_GPU === 'off' ? false : 'auto'
  const defaultEmbedder = createDefaultEmbedder(deps.resourcesPath)
  const models = createModels({
    modelsPath: path('models'),
    cataloguePath: join(deps.resourcesPath, 'model-catalogue.json'),
    runtime: { gpu, ...(env.SERVICE_LLM_THREADS && { threads: env.SERVICE_LLM_THREADS }) },
    settings,
    apiKey: () => secrets.get('SERVICE_LLM_API_KEY') ?? null,
    builtInEmbedder: defaultEmbedder,
    db,
    events,
    log,
  })
  const memory = createMemory({
    db,
    events,
    household,
    dataPath: config.dataPath,
    resourcesPath: deps.resourcesPath,
    defaultEmbedder,
    embedders: models.embedders,
    log,
  })
  const conversations = createConversationsService({ db })
  const grammar = createGrammarReplies({
    understanding: createUnderstanding({ languages: languagesIn(join(deps.resourcesPath, 'understanding')) }),
    actions,
    household,
    names: createHouseNames({
      household,
      lists: () => todos.lists().map(({ name }) => name),
      timers: () => timers.list().flatMap(({ name }) => name ?? []),
    }),
    describeSource: async (chunkId, { caller }) => memory.chunks.get(caller, chunkId),
  })
  const tools = createTools({ actions })
  const decisions = createDecisions({ db, tools })
  const answering = createAnswering({
    llm: models.llm,
    grammar,
    recollection: memory.recollection,
    texts: memory.rawFiles,
    household,
    tools,
    decisions,
    log,
  })
  const learning = createLearningService({
    db,
    llm: models.llm,
    household,
    memory: learningMemory(memory.chunks),
    isBusy: () => replies.isBusy(),
    log,
  })
  const replies = createRepliesService({ db, conversations, answering, learnFrom: learning.learnFrom, events })
  memory.erasure.join((personId) => eraseRunsOf(db, personId))
  memory.erasure.join(createEraseConversations({ db, stopReply: replies.stopReply }))

  const modules: Module[] = [
    createSetup({ setup, pin, owner, sessions, onDone: deps.onSetUp }),
    createHousehold({ household, events }),
    createPush({ pushers, tokens: pushTokens, vapid }),
    createNotifications({ notifications, delivery, press, household, prune: createRetention(db), onWriteFailed }),
    createCalendar({ calendar, feed, subscriptions, household, db, events }),
    createTodos({ todos, household, reminders, reaches: notifications.reaches }),
    createTimers({ timers, household, ringing }),
    createAuth({ owner, sessions, oidc, tickets, devices, deviceSessions, allowedEmails: env.SERVICE_ALLOWED_EMAILS }),
    createPairing({ pairing, requests, sessions: deviceSessions }),
    createPairedDevices({
      devices,
      sayHello: (deviceId, name) =>
        notifications.notify({ title: 'Hello from Hearth', body: `${name} hears me.`, target: { deviceId }, urgent: true }),
      sessions: deviceSessions,
      version1,
      onWriteFailed,
    }),
    createKeys({ keys }),
    createSettings({ settings }),
    createTrust({ authority }),
    createDiscovery({
      enabled: env.SERVICE_DISCOVERY,
      listening: deps.listening,
      identity() {
        const id = household.house()?.instanceId
        return id === undefined ? null : { id, name: household.get().household.displayName }
      },
      onFault: (err) => log.warn({ err }, 'this Hearth could not be announced in the network'),
      version: deps.version,
    }),
    models,
    memory,
    createMcp({ db, actions, events, secretsKey: () => secrets.get('SERVICE_SECRETS_KEY'), version: deps.version, log }),
    createOpenAi({ llm: models.llm, embedders: models.embedders, log }),
    createActions({ db, actions, own: [httpRequest(guardedFetch)], onPruneFailed: onWriteFailed }),
    createChat({ conversations, replies, decisions }),
    createLearning({ learning }),
    createStatus({ sockets, faults: () => (db.damage ? [db.damage] : []), contracts: api, version: deps.version }),
  ]

  return {
    modules,
    settings,
    authority,
    owner,
    sessions,
    oidc,
    tickets,
    isSetUp: setup.isDone,
    /** Null once set up. */
    setupPin: () => (setup.isDone() ? null : pin.current()),
    authenticate: createAuthenticate({ sessions, deviceSessions, keys }),
    bearerCaller: createBearerCaller({ deviceSessions, keys }),
    /** Whether the session behind a caller has not ended meanwhile. */
    isOpen({ kind, sessionId }: Caller): boolean {
      if (kind === 'owner') return sessions.isOpen(sessionId)
      return kind === 'key' ? keys.isOpen(sessionId) : deviceSessions.isOpen(sessionId)
    },
    /** What happens when a client of the socket says hello. */
    greeting: {
      ...delivery.greeting,
      welcomed(caller, ...rest) {
        if (caller.kind === 'device') devices.came(caller.deviceId)
        return delivery.greeting.welcomed(caller, ...rest)
      },
    } satisfies Greeting,
    /** Writes down that a device was here until now. */
    deviceSeen: (deviceId: string) => void devices.seen(deviceId).catch(onWriteFailed),
    async start(): Promise<void> {
      for (const module of modules) await module.start?.()
    },
    async stop(): Promise<void> {
      for (const module of modules.toReversed()) await module.stop?.()
    },
  }
}

function providerOf(secrets: Secrets) {
  const clientId = secrets.get('AUTH_IDP_ID')
  const clientSecret = secrets.get('AUTH_IDP_SECRET')
  const issuer = secrets.get('AUTH_IDP_ISSUER')
  return clientId && clientSecret && issuer ? { issuer, clientId, clientSecret } : null
}
