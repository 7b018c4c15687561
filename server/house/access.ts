import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Caller } from '../kit/caller.ts'
import type { EventBus } from '../kit/events.ts'
import type { Module } from '../kit/module.ts'
import type { Listening } from '../kit/server-addresses.ts'
import type { SocketRegistry } from '../kit/socket-registry.ts'
import { createAuth } from '../modules/auth/auth.module.ts'
import { createAuthenticate, createBearerCaller } from '../modules/auth/authenticate.ts'
import { createDesktopTickets } from '../modules/auth/desktop-tickets.ts'
import { createOidcService } from '../modules/auth/oidc.service.ts'
import { createOwnerService } from '../modules/auth/owner.service.ts'
import { createOwnerSessions } from '../modules/auth/owner-sessions.ts'
import type { HouseholdService } from '../modules/household/household.service.ts'
import { createKeys } from '../modules/keys/keys.module.ts'
import { createKeysService } from '../modules/keys/keys.service.ts'
import { createAccessTokens } from '../modules/paired-devices/access-tokens.ts'
import { createDeviceSessions } from '../modules/paired-devices/device-sessions.ts'
import { createPairedDevices } from '../modules/paired-devices/paired-devices.module.ts'
import { createPairedDevicesService } from '../modules/paired-devices/paired-devices.service.ts'
import { createVersion1 } from '../modules/paired-devices/version-1.ts'
import { createPairRequestsService } from '../modules/pairing/pair-requests.service.ts'
import { createPairing } from '../modules/pairing/pairing.module.ts'
import { createPairingService } from '../modules/pairing/pairing.service.ts'
import type { SettingsService } from '../modules/settings/settings.service.ts'
import { createSetup } from '../modules/setup/setup.module.ts'
import { createSetupService } from '../modules/setup/setup.service.ts'
import { createSetupPin } from '../modules/setup/setup-pin.ts'
import type { Secrets } from '../secrets.ts'

interface AccessDeps {
  env: Config['env']
  secrets: Secrets
  db: Database
  events: EventBus
  sockets: SocketRegistry
  household: HouseholdService
  settings: SettingsService
  /** Where this Hearth listens now. */
  listening(): Listening
  /** Where devices reach it, best first. */
  addresses(): string[]
  announcePin(pin: string): void
  /** Set up just now: the server opens to the network. */
  onSetUp(): Promise<void>
  /** Sends a device a notification that shows whether it hears. */
  sayHello(deviceId: string, name: string): Promise<unknown>
  onWriteFailed(error: unknown): void
}

/** Who may come in: the owner, paired devices, API keys, and how each of them is let in. */
export function createAccess({ env, secrets, db, events, sockets, household, settings, addresses, onWriteFailed, ...deps }: AccessDeps) {
  const owner = createOwnerService({ db, household, environmentPassword: env.SERVICE_OWNER_PASSWORD, onWriteFailed })
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
  const setup = createSetupService({ db, household, owner, secrets })
  const pin = createSetupPin(deps.announcePin)

  const modules: Module[] = [
    createSetup({ setup, pin, owner, sessions, onDone: deps.onSetUp }),
    createAuth({ owner, sessions, oidc, tickets, devices, deviceSessions, allowedEmails: env.SERVICE_ALLOWED_EMAILS }),
    createPairing({ pairing, requests, sessions: deviceSessions }),
    createPairedDevices({ devices, sayHello: deps.sayHello, sessions: deviceSessions, version1, onWriteFailed }),
    createKeys({ keys }),
  ]

  return {
    modules,
    owner,
    sessions,
    oidc,
    tickets,
    devices,
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
    /** Writes down that a device was here until now. */
    deviceSeen: (deviceId: string) => void devices.seen(deviceId).catch(onWriteFailed),
  }
}

function providerOf(secrets: Secrets) {
  const clientId = secrets.get('AUTH_IDP_ID')
  const clientSecret = secrets.get('AUTH_IDP_SECRET')
  const issuer = secrets.get('AUTH_IDP_ISSUER')
  return clientId && clientSecret && issuer ? { issuer, clientId, clientSecret } : null
}
