import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import { randomCode, randomToken, sameSecret, sha256 } from '../../kit/crypto.ts'
import { AppError, notFound, unauthorized } from '../../kit/errors.ts'
import type { DeviceSessions, Tokens } from '../paired-devices/device-sessions.ts'
import type { DeviceInfo, PairedDevice, Scope } from '../paired-devices/paired-devices.contract.ts'
import type { PairedDevicesService } from '../paired-devices/paired-devices.service.ts'
import { CODE_ALPHABET, PAIRING_LIFETIME_MS } from './pairing.service.ts'
import { type PairRequestRow, PairRequestTable } from './pairing.table.ts'

const USER_CODE_LENGTH = 6
const MAX_OPEN = 50

export interface PairRequestsDeps {
  db: Database
  devices: PairedDevicesService
  sessions: DeviceSessions
}

export type Granted = (Tokens & { device: PairedDevice }) | { cookie: string; device: PairedDevice }

export type PairRequestsService = ReturnType<typeof createPairRequestsService>

const normal = (code: string) => code.toUpperCase().replace(/[\s-]/g, '')
const isOpen = ({ expiresAt }: PairRequestRow) => Date.parse(expiresAt) > Date.now()

/** Pairing the other way round: a TV shows a code, the owner enters it, the TV asks until it is let in. */
export function createPairRequestsService({ db, devices, sessions }: PairRequestsDeps) {
  return {
    /** Throws 429 while too many wait. */
    async request(deviceInfo: DeviceInfo) {
      const userCode = randomCode(USER_CODE_LENGTH, CODE_ALPHABET)
      const pollSecret = randomToken()
      const now = Date.now()
      const row: PairRequestRow = {
        id: randomUUID(),
        userCodeHash: sha256(userCode),
        pollSecretHash: sha256(pollSecret),
        deviceInfo,
        scope: null,
        personId: null,
        createdAt: new Date(now).toISOString(),
        expiresAt: new Date(now + PAIRING_LIFETIME_MS).toISOString(),
      }
      await db.write((tx) => {
        tx.run('DELETE FROM "pair_request" WHERE "expiresAt" < ?', [new Date(now).toISOString()])
        if (db.find(PairRequestTable, {}, { limit: MAX_OPEN }).length >= MAX_OPEN) {
          throw new AppError(429, 'rate_limited', 'Too many devices are waiting to be let in.', { headers: { 'retry-after': '60' } })
        }
        tx.insert(PairRequestTable, row)
      })
      return { id: row.id, userCode: `${userCode.slice(0, 3)}-${userCode.slice(3)}`, pollSecret, expiresAt: row.expiresAt }
    },

    /** Throws 404 for a code that nobody shows. */
    async approve({ userCode, scope, personId }: { userCode: string; scope: Scope; personId?: string | undefined }) {
      devices.checkPerson(personId)
      return db.write((tx) => {
        const row = db.find(PairRequestTable, { userCodeHash: sha256(normal(userCode)), scope: null }).find(isOpen)
        if (!row) throw notFound('A device that shows this code')
        tx.update(PairRequestTable, row.id, { scope, personId: personId ?? null })
        return { id: row.id, name: row.deviceInfo.name, type: row.deviceInfo.type, scope }
      })
    },

    /** Null until the owner approved, then once the device. Throws 401 for anything that is not right. */
    async poll(id: string, pollSecret: string, browser: boolean): Promise<Granted | null> {
      const granted = await db.write((tx) => {
        const row = db.get(PairRequestTable, id)
        if (!row || !isOpen(row) || !sameSecret(sha256(pollSecret), row.pollSecretHash)) throw unauthorized()
        if (row.scope === null) return null
        const deviceId = devices.add(tx, row.deviceInfo, { scope: row.scope, personId: row.personId })
        tx.remove(PairRequestTable, { id })
        return { deviceId, ...sessions.open(tx, deviceId, browser ? 'browser' : 'tokens') }
      })
      if (!granted) return null
      const device = devices.get(granted.deviceId)
      return browser ? { cookie: granted.token, device } : { ...(await sessions.firstTokens(granted.accessId, granted.token)), device }
    },
  }
}
