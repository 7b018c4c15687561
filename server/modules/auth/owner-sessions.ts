import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import type { Caller } from '../../kit/caller.ts'
import { randomToken, sameSecret, sha256, sign } from '../../kit/crypto.ts'
import { notFound } from '../../kit/errors.ts'
import type { RequestFacts } from '../../kit/request-facts.ts'
import type { SocketRegistry } from '../../kit/socket-registry.ts'
import type { HouseholdService } from '../household/household.service.ts'
import type { OwnerSession } from './auth.contract.ts'
import { OwnerSessionTable } from './auth.table.ts'
import { readOwnerCookie } from './cookies.ts'

const ABSOLUTE_MS = 30 * 86_400_000
const IDLE_MS = 7 * 86_400_000
/** A session's last use is written down this often at most. */
const TOUCH_MS = 300_000
const MAX_SESSIONS = 100

export interface OwnerSessionsDeps {
  db: Database
  household: HouseholdService
  sockets: SocketRegistry
  /** AUTH_SECRET; absent until this Hearth is set up. */
  secret(): string | undefined
  onWriteFailed(error: unknown): void
}

export type OwnerSessions = ReturnType<typeof createOwnerSessions>

const iso = (ms: number) => new Date(ms).toISOString()

/**
 * The owner's browser sessions. The cookie is `<instance>.<session>.<random>.<signature>`; the row holds a hash of the
 * random part and is read at every request, so that ending a session needs no cache to be told.
 */
export function createOwnerSessions({ db, household, sockets, secret, onWriteFailed }: OwnerSessionsDeps) {
  function touch(id: string, lastSeenAt: string): void {
    if (Date.now() - Date.parse(lastSeenAt) < TOUCH_MS) return
    db.write((tx) => tx.update(OwnerSessionTable, id, { lastSeenAt: iso(Date.now()) })).catch(onWriteFailed)
  }

  function sessionOf(cookie: string) {
    const house = household.house()
    const key = secret()
    const [instanceId, id, token, signature, ...rest] = cookie.split('.')
    if (!house || !key || !instanceId || !id || !token || !signature || rest.length > 0) return null
    if (instanceId !== house.instanceId || !sameSecret(signature, sign(`${instanceId}.${id}.${token}`, key))) return null
    const row = db.get(OwnerSessionTable, id)
    if (!row || !sameSecret(sha256(token), row.tokenHash)) return null
    const now = Date.now()
    return now < Date.parse(row.expiresAt) && now - Date.parse(row.lastSeenAt) < IDLE_MS ? row : null
  }

  return {
    /** Opens a session and answers its cookie's value. */
    async open({ address, headers }: RequestFacts): Promise<string> {
      const { instanceId } = household.mustHaveHouse()
      const key = secret()
      if (!key) throw new Error('There is no AUTH_SECRET to sign a session with')
      const id = randomUUID()
      const token = randomToken()
      const now = Date.now()
      await db.write((tx) => {
        tx.insert(OwnerSessionTable, {
          id,
          tokenHash: sha256(token),
          createdAt: iso(now),
          lastSeenAt: iso(now),
          expiresAt: iso(now + ABSOLUTE_MS),
          address,
          userAgent: (headers['user-agent'] ?? '').slice(0, 300),
        })
        tx.run(
          'DELETE FROM "owner_session" WHERE "expiresAt" < ? OR "id" NOT IN (SELECT "id" FROM "owner_session" ORDER BY "lastSeenAt" DESC LIMIT ?)',
          [iso(now), MAX_SESSIONS],
        )
      })
      const value = `${instanceId}.${id}.${token}`
      return `${value}.${sign(value, key)}`
    },

    /** The owner behind a request's cookie, or null. */
    callerOf(facts: RequestFacts): Caller | null {
      const cookie = readOwnerCookie(facts)
      const row = cookie ? sessionOf(cookie) : null
      if (!row) return null
      touch(row.id, row.lastSeenAt)
      const { consoleDeviceId, ownerPersonId } = household.mustHaveHouse()
      return {
        kind: 'owner',
        scope: 'admin',
        deviceId: consoleDeviceId,
        userId: ownerPersonId,
        personId: ownerPersonId,
        sessionId: row.id,
        via: 'cookie',
      }
    },

    /** Whether a session goes on; an open socket keeps it from being idle. */
    isOpen(id: string): boolean {
      const row = db.get(OwnerSessionTable, id)
      if (!row || Date.parse(row.expiresAt) <= Date.now()) return false
      touch(row.id, row.lastSeenAt)
      return true
    },

    list(currentId: string): OwnerSession[] {
      const now = Date.now()
      return db
        .find(OwnerSessionTable, {}, { order: 'lastSeenAt desc' })
        .filter(({ expiresAt, lastSeenAt }) => now < Date.parse(expiresAt) && now - Date.parse(lastSeenAt) < IDLE_MS)
        .map(({ tokenHash: _, ...session }) => ({ ...session, current: session.id === currentId }))
    },

    /** Ends one session and its sockets. Throws 404. */
    async end(id: string): Promise<void> {
      const removed = await db.write((tx) => tx.remove(OwnerSessionTable, { id }))
      if (removed === 0) throw notFound('This sign-in')
      sockets.close(({ sessionId }) => sessionId === id, 4401)
    },

    /** Ends every session but one. */
    async endOthers(keptId: string | null): Promise<void> {
      await db.write((tx) => tx.run('DELETE FROM "owner_session" WHERE "id" IS NOT ?', [keptId]))
      sockets.close(({ kind, sessionId }) => kind === 'owner' && sessionId !== keptId, 4401)
    },
  }
}
