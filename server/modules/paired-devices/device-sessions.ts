import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { Caller } from '../../kit/caller.ts'
import { randomToken, sealWith, sha256, unsealWith } from '../../kit/crypto.ts'
import { unauthorized } from '../../kit/errors.ts'
import type { SocketRegistry } from '../../kit/socket-registry.ts'
import type { HouseholdService } from '../household/household.service.ts'
import type { AccessClaims, AccessTokens } from './access-tokens.ts'
import type { DeviceType, Scope } from './paired-devices.contract.ts'
import { type DeviceSessionRow, DeviceSessionTable, PairedDeviceTable, SpentRefreshTokenTable } from './paired-devices.table.ts'

const DAY_MS = 86_400_000
const V1_LIFETIME_SECONDS = 365 * 86_400
/** A client whose answer got lost may present a spent token again for this long. */
const GRACE_MS = 10_000
/** A device's last use is written down this often at most. */
const TOUCH_MS = 60_000

export interface DeviceSessionsDeps {
  db: Database
  household: HouseholdService
  accessTokens: AccessTokens
  sockets: SocketRegistry
  accessTtlSeconds: number
  refreshTtlDays: number
  onWriteFailed(error: unknown): void
}

export interface Tokens {
  accessToken: string
  refreshToken: string
  /** Seconds until the access token ends. */
  expiresIn: number
}

/** What a request needs of a session and its device, read by one indexed query. */
interface Held {
  id: string
  kind: DeviceSessionRow['kind']
  accessId: string
  expiresAt: string
  deviceId: string
  type: DeviceType
  scope: Scope
  personId: string | null
  lastSeenAt: string
}

const HELD = `SELECT s."id", s."kind", s."accessId", s."expiresAt", d."id" AS "deviceId", d."type", d."scope", d."personId", d."lastSeenAt"
  FROM "device_session" s JOIN "paired_device" d ON d."id" = s."deviceId" WHERE`
const BY_ACCESS = `${HELD} s."accessId" = ${BOUND_TEXT}`
const BY_TOKEN = `${HELD} s."tokenHash" = ${BOUND_TEXT}`

const iso = (ms: number) => new Date(ms).toISOString()

export type DeviceSessions = ReturnType<typeof createDeviceSessions>

/**
 * How paired devices stay signed in. Access tokens name the session's `accessId`, refresh tokens and browser cookies are
 * random and kept as hashes; the session's row is read at every request, so that a revocation holds at once and for good.
 */
export function createDeviceSessions({
  db,
  household,
  accessTokens,
  sockets,
  accessTtlSeconds,
  refreshTtlDays,
  onWriteFailed,
}: DeviceSessionsDeps) {
  const userIdOf = (personId: string | null) => personId ?? household.mustHaveHouse().householdId
  const held = (sql: string, value: string): Held | null => {
    const row = db.select<Held>(sql, [value])[0]
    return row && Date.parse(row.expiresAt) > Date.now() ? row : null
  }

  function touch({ deviceId, lastSeenAt }: Held): void {
    if (Date.now() - Date.parse(lastSeenAt) < TOUCH_MS) return
    db.write((tx) => tx.update(PairedDeviceTable, deviceId, { lastSeenAt: iso(Date.now()) })).catch(onWriteFailed)
  }

  function callerOf(row: Held, via: Caller['via']): Caller {
    touch(row)
    return {
      kind: 'device',
      scope: row.scope,
      deviceId: row.deviceId,
      userId: userIdOf(row.personId),
      personId: row.personId,
      sessionId: row.id,
      via,
    }
  }

  function callerOfClaims(claims: AccessClaims | null): Caller | null {
    const row = claims ? held(BY_ACCESS, claims.sessionId) : null
    if (!row || !claims || claims.deviceId !== row.deviceId || claims.scope !== row.scope) return null
    return claims.userId === userIdOf(row.personId) && claims.deviceType === row.type ? callerOf(row, 'bearer') : null
  }

  function claimsOf({
    deviceId,
    personId,
    type,
    accessId,
    scope,
  }: Pick<Held, 'deviceId' | 'personId' | 'type' | 'accessId' | 'scope'>): AccessClaims {
    return { deviceId, userId: userIdOf(personId), deviceType: type, sessionId: accessId, scope }
  }

  const withRefresh = async (row: Held, refreshToken: string): Promise<Tokens> => ({
    accessToken: await accessTokens.sign(claimsOf(row), accessTtlSeconds),
    refreshToken,
    expiresIn: accessTtlSeconds,
  })

  /** Exchanges `presented` for a new token, or finds out that it was exchanged before. */
  function rotate(tx: Transaction, presented: string): { row: Held; token: string } | 'stolen' | null {
    const hash = sha256(presented)
    const now = Date.now()
    const current = held(BY_TOKEN, hash)
    if (current?.kind === 'tokens') {
      const token = randomToken()
      const successorHash = sha256(token)
      tx.update(DeviceSessionTable, current.id, {
        tokenHash: successorHash,
        lastUsedAt: iso(now),
        expiresAt: iso(now + refreshTtlDays * DAY_MS),
      })
      tx.insert(SpentRefreshTokenTable, {
        id: hash,
        sessionId: current.id,
        spentAt: iso(now),
        successorHash,
        sealedSuccessor: sealWith(presented, token),
      })
      tx.run('UPDATE "spent_refresh_token" SET "sealedSuccessor" = NULL WHERE "sessionId" = ? AND "id" <> ?', [current.id, hash])
      return { row: current, token }
    }
    const spent = db.get(SpentRefreshTokenTable, hash)
    if (!spent) return null
    const successor = held(BY_TOKEN, spent.successorHash)
    if (successor && spent.sealedSuccessor && now - Date.parse(spent.spentAt) <= GRACE_MS) {
      return { row: successor, token: unsealWith(presented, spent.sealedSuccessor) }
    }
    tx.remove(DeviceSessionTable, { id: spent.sessionId })
    tx.afterCommit(() => sockets.close(({ sessionId }) => sessionId === spent.sessionId, 4401))
    return 'stolen'
  }

  return {
    lifetimeDays: refreshTtlDays,

    /** Opens a session of a device inside a write; `token` is its refresh token or cookie, shown this once. */
    open(tx: Transaction, deviceId: string, kind: DeviceSessionRow['kind']): { token: string; accessId: string } {
      const token = randomToken()
      const accessId = randomUUID()
      const now = Date.now()
      const lifetimeMs = kind === 'v1' ? V1_LIFETIME_SECONDS * 1000 : refreshTtlDays * DAY_MS
      tx.insert(DeviceSessionTable, {
        id: randomUUID(),
        deviceId,
        kind,
        accessId,
        tokenHash: sha256(token),
        createdAt: iso(now),
        lastUsedAt: iso(now),
        expiresAt: iso(now + lifetimeMs),
      })
      return { token, accessId }
    },

    /** The first pair of a session just opened. */
    async firstTokens(accessId: string, refreshToken: string): Promise<Tokens> {
      const row = held(BY_ACCESS, accessId)
      if (!row) throw unauthorized()
      return withRefresh(row, refreshToken)
    },

    /** Trades a refresh token for a new pair. Throws 401; a token used before ends its whole session. */
    async refresh(presented: string): Promise<Tokens> {
      const outcome = await db.write((tx) => rotate(tx, presented))
      if (outcome === null || outcome === 'stolen') throw unauthorized()
      return withRefresh(outcome.row, outcome.token)
    },

    callerOfAccessToken(token: string): Caller | null | Promise<Caller | null> {
      const claims = accessTokens.read(token)
      return claims instanceof Promise ? claims.then(callerOfClaims) : callerOfClaims(claims)
    },

    callerOfBrowser(cookie: string): Caller | null {
      const row = held(BY_TOKEN, sha256(cookie))
      return row?.kind === 'browser' ? callerOf(row, 'cookie') : null
    },

    /** The session behind a browser's cookie, its end moved out again; null for any other cookie. */
    async keepBrowser(cookie: string): Promise<{ deviceId: string } | null> {
      const row = held(BY_TOKEN, sha256(cookie))
      if (row?.kind !== 'browser') return null
      const expiresAt = Date.now() + refreshTtlDays * DAY_MS
      if (expiresAt - Date.parse(row.expiresAt) > DAY_MS)
        await db.write((tx) => tx.update(DeviceSessionTable, row.id, { expiresAt: iso(expiresAt) }))
      return { deviceId: row.deviceId }
    },

    isOpen(id: string): boolean {
      const row = db.get(DeviceSessionTable, id)
      return row !== undefined && Date.parse(row.expiresAt) > Date.now()
    },

    /** Ends the session behind a browser's cookie. */
    async endBrowser(cookie: string): Promise<void> {
      const row = held(BY_TOKEN, sha256(cookie))
      if (row?.kind !== 'browser') return
      await db.write((tx) => tx.remove(DeviceSessionTable, { id: row.id }))
      sockets.close(({ sessionId }) => sessionId === row.id, 4401)
    },

    /** An access token of a device's newest session, for development; null where it has none. */
    async tokenFor(deviceId: string): Promise<{ token: string; expiresIn: number } | null> {
      const session = db.first(DeviceSessionTable, { deviceId }, { order: 'createdAt desc' })
      const row = session ? held(BY_ACCESS, session.accessId) : null
      return row && { token: await accessTokens.sign(claimsOf(row), accessTtlSeconds), expiresIn: accessTtlSeconds }
    },

    /** A version 1 token: good for 365 days, until its device is revoked. */
    async v1Token(accessId: string): Promise<string> {
      const row = held(BY_ACCESS, accessId)
      if (!row) throw unauthorized()
      return accessTokens.sign(claimsOf(row), V1_LIFETIME_SECONDS)
    },

    /** Makes every access token of a device invalid, inside a write; its refresh token goes on. */
    renewAccess(tx: Transaction, deviceId: string): void {
      for (const { id } of db.find(DeviceSessionTable, { deviceId })) tx.update(DeviceSessionTable, id, { accessId: randomUUID() })
    },

    /** Forgets sessions that ended by themselves and spent tokens that none could still present. */
    async prune(): Promise<void> {
      const now = Date.now()
      await db.write((tx) => {
        tx.run('DELETE FROM "device_session" WHERE "expiresAt" < ?', [iso(now)])
        tx.run('DELETE FROM "spent_refresh_token" WHERE "spentAt" < ?', [iso(now - refreshTtlDays * DAY_MS)])
      })
    },
  }
}
