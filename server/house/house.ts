import { join } from 'node:path'
import { api } from '../api.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { ActionRegistry } from '../kit/actions.ts'
import type { EventBus } from '../kit/events.ts'
import { createGuardedFetch } from '../kit/guarded-fetch.ts'
import type { TlsIdentity } from '../kit/listener.ts'
import type { Logger } from '../kit/log.ts'
import type { Module } from '../kit/module.ts'
import { isHomeAddress } from '../kit/public-address.ts'
import type { Listening } from '../kit/server-addresses.ts'
import type { SocketRegistry } from '../kit/socket-registry.ts'
import { createDiscovery } from '../modules/discovery/discovery.module.ts'
import { createHousehold } from '../modules/household/household.module.ts'
import { createHouseholdService } from '../modules/household/household.service.ts'
import { createSettings } from '../modules/settings/settings.module.ts'
import { createSettingsService } from '../modules/settings/settings.service.ts'
import { createStatus } from '../modules/status/status.module.ts'
import { createAuthority } from '../modules/trust/authority.service.ts'
import { createAuthorityFiles } from '../modules/trust/authority-files.ts'
import { certifiedAddresses, certifiedNames } from '../modules/trust/certified-names.ts'
import { createTrust } from '../modules/trust/trust.module.ts'
import type { Secrets } from '../secrets.ts'
import { createAccess } from './access.ts'
import { createDailyLife } from './daily-life.ts'
import { createMind } from './mind.ts'

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
  const onWriteFailed = (err: unknown) => log.error({ err }, 'a background write failed')
  const addresses = () => deps.addresses(settings.publicUrl())

  const fetching = {
    allowLocal: env.SERVICE_FETCH_ALLOW_LOCAL,
    isOwnHost: (host: string) => host === URL.parse(settings.publicUrl() ?? '')?.hostname,
  }
  const guardedFetch = createGuardedFetch(fetching)
  const homeFetch = createGuardedFetch({ ...fetching, isNear: isHomeAddress })
  const household = createHouseholdService({ db })
  const settings = createSettingsService({ config, secrets, path: join(config.dataPath, 'config', 'settings.json'), addresses })
  const {
    modules: ofAccess,
    devices,
    ...access
  } = createAccess({
    env,
    secrets,
    db,
    events,
    sockets,
    household,
    settings,
    listening: deps.listening,
    addresses,
    announcePin: deps.announcePin,
    onSetUp: deps.onSetUp,
    sayHello: (deviceId, name) =>
      notifications.notify({ title: 'Hello from Hearth', body: `${name} hears me.`, target: { deviceId }, urgent: true }),
    onWriteFailed,
  })
  const authority = createAuthority({
    files: createAuthorityFiles(join(config.dataPath, 'config', 'tls')),
    fixed: deps.hasTls,
    names: () => certifiedNames(settings),
    addresses: () => certifiedAddresses(settings),
    onIdentity: deps.setTls,
    log,
  })
  settings.onChange(() => void authority.refresh())
  const life = createDailyLife({
    env,
    secrets,
    db,
    events,
    sockets,
    household,
    settings,
    devices,
    addresses,
    guardedFetch,
    homeFetch,
    log,
    onWriteFailed,
  })
  const { notifications, todos, timers } = life
  const mind = createMind({
    config,
    secrets,
    db,
    events,
    actions,
    household,
    settings,
    todos,
    timers,
    guardedFetch,
    resourcesPath: deps.resourcesPath,
    version: deps.version,
    log,
    onWriteFailed,
  })

  const modules: Module[] = [
    ...ofAccess,
    createHousehold({ household, events }),
    ...life.modules,
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
    ...mind.modules,
    createStatus({ sockets, faults: () => (db.damage ? [db.damage] : []), contracts: api, version: deps.version }),
  ]

  return {
    ...access,
    modules,
    settings,
    authority,
    greeting: life.greeting,
    async start(): Promise<void> {
      for (const module of modules) await module.start?.()
    },
    async stop(): Promise<void> {
      for (const module of modules.toReversed()) await module.stop?.()
    },
  }
}
