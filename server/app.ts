import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { openDatabase } from './db/database.ts'
import { translateFailure } from './db/failures.ts'
import { migrations } from './db/migrations/all.ts'
import { createDoors } from './doors.ts'
import { createHouse } from './house/house.ts'
import { createActionRegistry } from './kit/actions.ts'
import { createEventBus } from './kit/events.ts'
import type { Lock } from './kit/lock-file.ts'
import type { Logger } from './kit/log.ts'
import { type Listening, serverAddresses } from './kit/server-addresses.ts'
import { createSocketRegistry } from './kit/socket-registry.ts'
import { createActionAudit } from './modules/actions/action-audit.ts'
import type { Secrets } from './secrets.ts'
import { tables } from './tables.ts'
import { topics } from './topics.ts'

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
  /** It cannot go on: the disk cannot be trusted any more, or the port could not be opened to the network. */
  onFatal(error: unknown): void
}

export type App = Awaited<ReturnType<typeof createApp>>

/** Puts the database, the house and its doors together. Nothing listens before `start`. */
export async function createApp(options: AppOptions) {
  const { config, secrets, log } = options
  const { env, dataPath } = config
  mkdirSync(dataPath, { recursive: true, mode: 0o700 })
  mkdirSync(join(dataPath, 'models'), { recursive: true })
  const db = await openDatabase({
    path: join(dataPath, 'hearth.sqlite'),
    backupsPath: join(dataPath, 'backups'),
    tables,
    migrations,
    wasUnclean: options.lock.wasStale,
    log,
    onDiskFailure: options.onFatal,
  })
  const listening: Listening = { host: '127.0.0.1', port: env.SERVICE_PORT, secure: options.tls !== null }
  const events = createEventBus((err, event) => log.error({ err, event }, 'an event listener failed'))
  const onPruneFailed = (err: unknown) => log.error({ err }, 'old runs of actions could not be removed')
  const actions = createActionRegistry({ audit: createActionAudit({ db, events, onFailed: onPruneFailed }), translate: translateFailure })
  const sockets = createSocketRegistry()
  for (const { event, concerns } of topics) {
    events.on(event, (payload) => sockets.publish(event.name, payload, concerns && ((caller) => concerns(payload, caller))))
  }
  const house = createHouse({
    config,
    secrets,
    db,
    events,
    actions,
    sockets,
    log,
    resourcesPath: options.resourcesPath,
    version: options.version,
    announcePin: options.announcePin,
    onSetUp: openToNetwork,
    listening: () => listening,
    hasTls: options.tls !== null,
    setTls(tls) {
      doors.setTls(tls)
      listening.secure = tls !== null
    },
    addresses: (publicUrl) => serverAddresses(listening, publicUrl),
  })
  for (const action of house.modules.flatMap((module) => module.actions ?? [])) actions.add(action)
  const doors = createDoors({ config, house, sockets, log, windowPath: options.windowPath, tls: options.tls })

  async function listenOn(host: string): Promise<void> {
    listening.port = await doors.listen(listening.port, host)
    listening.host = host
  }

  /** After set-up: the same port, now on the address that was configured. */
  async function openToNetwork(): Promise<void> {
    options.onSetUp()
    if (env.SERVICE_HOST !== listening.host) await listenOn(env.SERVICE_HOST).catch(options.onFatal)
  }

  return {
    actions,
    events,
    tickets: house.tickets,
    owner: house.owner,
    sessions: house.sessions,
    setupPin: house.setupPin,
    url: () => `http://${listening.host.includes(':') ? `[${listening.host}]` : listening.host}:${listening.port}`,
    async start(): Promise<void> {
      await house.start()
      await listenOn(house.isSetUp() ? env.SERVICE_HOST : '127.0.0.1')
    },
    /** Resolves when nothing is being written. */
    idle: () => db.idle(),
    async stop(): Promise<void> {
      await doors.close(house.stop)
      await db.close()
    },
  }
}
