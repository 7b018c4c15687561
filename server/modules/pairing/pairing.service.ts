import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../db/database.ts'
import { randomCode, randomToken, sameSecret, sha256 } from '../../kit/crypto.ts'
import { notFound, unauthorized } from '../../kit/errors.ts'
import type { HouseholdService } from '../household/household.service.ts'
import type { DeviceSessions, Tokens } from '../paired-devices/device-sessions.ts'
import type { DeviceInfo, PairedDevice, Scope } from '../paired-devices/paired-devices.contract.ts'
import type { PairedDevicesService } from '../paired-devices/paired-devices.service.ts'
import { type PairingRow, PairingTable } from './pairing.table.ts'

/** Without 0, O, 1 and I, which look alike. */
export const CODE_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const CODE_LENGTH = 8
export const PAIRING_LIFETIME_MS = 10 * 60_000
const WRONG_TRIES = 5
/** How long an ended pairing can still be asked about. */
const REMEMBERED_MS = 86_400_000

export interface PairingDeps {
  db: Database
  household: HouseholdService
  devices: PairedDevicesService
  sessions: DeviceSessions
  /** Where devices reach this server, best first. */
  addresses(): string[]
}

export interface Proof {
  code: string
  secret: string
  deviceInfo: DeviceInfo
}

export type PairingService = ReturnType<typeof createPairingService>

const payloadOf = (link: object) => Buffer.from(JSON.stringify(link)).toString('base64url')
const isOpen = ({ state, expiresAt }: PairingRow) => state === 'pending' && Date.parse(expiresAt) > Date.now()

/** Pairing by a link: the owner makes it, one device redeems it, once. */
export function createPairingService({ db, household, devices, sessions, addresses }: PairingDeps) {
  function mustGet(id: string): PairingRow {
    const row = db.get(PairingTable, id)
    if (!row) throw notFound('This pairing')
    return row
  }

  /** Redeems a proof inside a write: the device and its session, or null for anything that is not right. */
  function redeem(tx: Transaction, { code, secret, deviceInfo }: Proof, kind: 'tokens' | 'browser') {
    const row = db.find(PairingTable, { codeHash: sha256(code.toUpperCase()), state: 'pending' }).find(isOpen)
    if (!row) return null
    if (!sameSecret(sha256(secret), row.secretHash)) {
      const wrongTries = row.wrongTries + 1
      tx.update(PairingTable, row.id, { wrongTries, state: wrongTries >= WRONG_TRIES ? 'burned' : 'pending' })
      return null
    }
    const deviceId = devices.add(tx, deviceInfo, { scope: row.scope, personId: row.personId, name: row.name })
    tx.update(PairingTable, row.id, { state: 'completed', deviceId })
    return { deviceId, ...sessions.open(tx, deviceId, kind) }
  }

  async function mustRedeem(proof: Proof, kind: 'tokens' | 'browser') {
    const redeemed = await db.write((tx) => redeem(tx, proof, kind))
    if (!redeemed) throw unauthorized()
    return redeemed
  }

  return {
    /** Throws 400 for an unknown person. The code and the secret are shown this once; hashes of them are kept. */
    async start({ scope, personId, name }: { scope: Scope; personId?: string | undefined; name?: string | undefined }) {
      devices.checkPerson(personId)
      const code = randomCode(CODE_LENGTH, CODE_ALPHABET)
      const secret = randomToken()
      const now = Date.now()
      const row: PairingRow = {
        id: randomUUID(),
        codeHash: sha256(code),
        secretHash: sha256(secret),
        scope,
        personId: personId ?? null,
        name: name ?? null,
        state: 'pending',
        wrongTries: 0,
        deviceId: null,
        createdAt: new Date(now).toISOString(),
        expiresAt: new Date(now + PAIRING_LIFETIME_MS).toISOString(),
      }
      await db.write((tx) => {
        tx.run('DELETE FROM "pairing" WHERE "expiresAt" < ?', [new Date(now - REMEMBERED_MS).toISOString()])
        tx.insert(PairingTable, row)
      })
      const servers = addresses()
      const payload = payloadOf({ v: 2, code, secret, servers, name: household.get().household.displayName })
      return {
        qr: `hearth://pair?d=${payload}`,
        webQr: `${servers[0]}/pair#d=${payload}`,
        pairing: { id: row.id, code, scope, expiresAt: row.expiresAt },
      }
    },

    /** Throws 404. */
    state(id: string): { status: 'pending' | 'completed' | 'expired' | 'cancelled'; device?: PairedDevice } {
      const row = mustGet(id)
      if (row.state === 'completed') {
        const device = devices.list().find(({ id: deviceId }) => deviceId === row.deviceId)
        return { status: 'completed', ...(device && { device }) }
      }
      if (row.state === 'cancelled') return { status: 'cancelled' }
      return { status: isOpen(row) ? 'pending' : 'expired' }
    },

    /** Throws 404; cancelling what ended already changes nothing. */
    async cancel(id: string): Promise<void> {
      await db.write((tx) => {
        if (mustGet(id).state === 'pending') tx.update(PairingTable, id, { state: 'cancelled' })
      })
    },

    /** Throws one and the same 401 for whatever is not right. */
    async complete(proof: Proof): Promise<Tokens & { device: PairedDevice }> {
      const { deviceId, accessId, token } = await mustRedeem(proof, 'tokens')
      return { ...(await sessions.firstTokens(accessId, token)), device: devices.get(deviceId) }
    },

    /** As {@link complete}, for a browser: `cookie` is the value of its device cookie. */
    async completeInBrowser(proof: Proof): Promise<{ cookie: string; device: PairedDevice }> {
      const { deviceId, token } = await mustRedeem(proof, 'browser')
      return { cookie: token, device: devices.get(deviceId) }
    },
  }
}
