import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import { randomCode, sha256 } from '../../kit/crypto.ts'
import { AppError, conflict, detailsOf, invalid, unauthorized } from '../../kit/errors.ts'
import type { DeviceSessions } from './device-sessions.ts'
import { VersionOneProof } from './paired-devices.contract.ts'
import type { PairedDevicesService } from './paired-devices.service.ts'
import { PairedDeviceTable } from './paired-devices.table.ts'

const LIFETIME_MS = 10 * 60_000
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const MAX_OPEN = 50

export interface Version1Deps {
  db: Database
  devices: PairedDevicesService
  sessions: DeviceSessions
  /** SERVICE_AUTH_V2=0. */
  enabled: boolean
}

export type Version1 = ReturnType<typeof createVersion1>

/** The pairing of version 1, for one release window: a code alone buys a token of a year. */
export function createVersion1({ db, devices, sessions, enabled }: Version1Deps) {
  const open = new Map<string, number>()

  const checkEnabled = () => {
    if (enabled) return
    throw new AppError(410, 'deprecated', 'This was replaced by pairing version 2.', {
      headers: { deprecation: 'true', link: '</api/auth/pair/start>; rel="successor-version"' },
    })
  }

  return {
    /** Throws 410 while version 1 is off. */
    start(): { code: string; expiresAt: string } {
      checkEnabled()
      const now = Date.now()
      for (const [hash, until] of open) if (until < now || open.size >= MAX_OPEN) open.delete(hash)
      const code = randomCode(8, ALPHABET)
      open.set(sha256(code), now + LIFETIME_MS)
      return { code, expiresAt: new Date(now + LIFETIME_MS).toISOString() }
    },

    /** Throws 410 while version 1 is off, 400 for what is no proof, 401 for a code that is not open, 409 for a device id that is taken. */
    async verify(body: unknown) {
      checkEnabled()
      const proof = VersionOneProof.safeParse(body)
      if (!proof.success) throw invalid(detailsOf('body', proof.error))
      const { code, deviceName, deviceType } = proof.data
      const deviceId = z.uuid().safeParse(proof.data.deviceId).data ?? randomUUID()
      const until = open.get(sha256(code.toUpperCase()))
      if (until === undefined || until < Date.now()) throw unauthorized()
      open.delete(sha256(code.toUpperCase()))
      const accessId = await db.write((tx) => {
        if (db.get(PairedDeviceTable, deviceId)) throw conflict('conflict', 'This device is paired already.')
        devices.add(tx, { name: deviceName, type: deviceType }, { id: deviceId, scope: 'member', personId: null })
        return sessions.open(tx, deviceId, 'v1').accessId
      })
      return { token: await sessions.v1Token(accessId) }
    },
  }
}
