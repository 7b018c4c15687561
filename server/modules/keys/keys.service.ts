import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { Caller } from '../../kit/caller.ts'
import { randomToken, sha256 } from '../../kit/crypto.ts'
import { notFound } from '../../kit/errors.ts'
import type { SocketRegistry } from '../../kit/socket-registry.ts'
import type { HouseholdService } from '../household/household.service.ts'
import type { ApiKey } from './keys.contract.ts'
import { type ApiKeyRow, ApiKeyTable } from './keys.table.ts'

const BY_HASH = `SELECT * FROM "api_key" WHERE "keyHash" = ${BOUND_TEXT}`
/** A key's last use is written down this often at most. */
const TOUCH_MS = 60_000

export interface KeysDeps {
  db: Database
  household: HouseholdService
  sockets: SocketRegistry
  onWriteFailed(error: unknown): void
}

export type KeysService = ReturnType<typeof createKeysService>

const toKey = ({ keyHash: _, ...key }: ApiKeyRow): ApiKey => key

const isOver = ({ expiresAt }: ApiKeyRow) => expiresAt !== null && Date.parse(expiresAt) <= Date.now()

/** API keys, which act for the owner within their scope; a guest’s acts for nobody. Only a hash of each is kept. */
export function createKeysService({ db, household, sockets, onWriteFailed }: KeysDeps) {
  function touch({ id, lastUsedAt }: ApiKeyRow): void {
    if (lastUsedAt !== null && Date.now() - Date.parse(lastUsedAt) < TOUCH_MS) return
    db.write((tx) => tx.update(ApiKeyTable, id, { lastUsedAt: new Date().toISOString() })).catch(onWriteFailed)
  }

  return {
    list: (): ApiKey[] => db.find(ApiKeyTable, {}, { order: 'createdAt desc' }).map(toKey),

    async create({ label, scope, expiresAt }: Pick<ApiKey, 'label' | 'scope'> & { expiresAt?: string | null | undefined }) {
      const key = `hk_${randomToken()}`
      const row: ApiKeyRow = {
        id: randomUUID(),
        label,
        scope,
        keyHash: sha256(key),
        createdAt: new Date().toISOString(),
        expiresAt: expiresAt ? new Date(expiresAt).toISOString() : null,
        lastUsedAt: null,
      }
      await db.write((tx) => tx.insert(ApiKeyTable, row))
      return { ...toKey(row), key }
    },

    /** Throws 404. */
    async revoke(id: string): Promise<void> {
      const removed = await db.write((tx) => tx.remove(ApiKeyTable, { id }))
      if (removed === 0) throw notFound('This key')
      sockets.close(({ sessionId }) => sessionId === id, 4401)
    },

    isOpen(id: string): boolean {
      const row = db.get(ApiKeyTable, id)
      return row !== undefined && !isOver(row)
    },

    callerOf(key: string): Caller | null {
      const row = db.select<ApiKeyRow>(BY_HASH, [sha256(key)])[0]
      const house = household.house()
      if (!row || !house || isOver(row)) return null
      touch(row)
      const { consoleDeviceId, householdId, ownerPersonId } = house
      // A guest must not read along with the owner: their key is a guest's device of its own.
      const acts =
        row.scope === 'guest'
          ? { deviceId: row.id, userId: householdId, personId: null }
          : { deviceId: consoleDeviceId, userId: ownerPersonId, personId: ownerPersonId }
      return { kind: 'key', scope: row.scope, ...acts, sessionId: row.id, via: 'bearer' }
    },
  }
}
