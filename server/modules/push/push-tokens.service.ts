import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { Caller } from '../../kit/caller.ts'
import { conflict, notFound } from '../../kit/errors.ts'
import type { PushTarget } from '../notifications/pushers.ts'
import { PairedDeviceTable } from '../paired-devices/paired-devices.table.ts'
import type { PushRegistration } from '../paired-devices/push-registration.contract.ts'

const OTHERS = `SELECT "id" FROM "paired_device" WHERE "push" = ${BOUND_TEXT} AND "id" <> ${BOUND_TEXT}`

export type PushTokensService = ReturnType<typeof createPushTokensService>

/** How each paired device is reached while it is not connected. */
export function createPushTokensService({ db }: { db: Database }) {
  const isSame = (known: PushRegistration | null | undefined, { provider, token }: PushRegistration) =>
    known?.provider === provider && known.token === token

  return {
    /** Throws 409 for who is no paired device. A browser that paired anew is reached as the new device alone. */
    async register({ kind, deviceId }: Caller, { provider, token }: PushRegistration): Promise<void> {
      if (kind !== 'device') throw conflict('no_device', 'Only a paired device is reached by push.')
      const push = { provider, token }
      if (isSame(db.get(PairedDeviceTable, deviceId)?.push, push)) return
      await db.write((tx) => {
        if (!db.get(PairedDeviceTable, deviceId)) throw notFound('This device')
        const others = db.select<{ id: string }>(OTHERS, [JSON.stringify(push), deviceId])
        for (const { id } of others) tx.update(PairedDeviceTable, id, { push: null })
        tx.update(PairedDeviceTable, deviceId, { push })
      })
    },

    /** Drops a token that reaches nobody any more, unless the device has another by now. */
    async forget({ id, push }: PushTarget): Promise<void> {
      await db.write((tx) => {
        if (isSame(db.get(PairedDeviceTable, id)?.push, push)) tx.update(PairedDeviceTable, id, { push: null })
      })
    },
  }
}
