import type { Database } from '../../db/database.ts'
import type { EventBus } from '../../kit/events.ts'
import type { SocketRegistry } from '../../kit/socket-registry.ts'
import { notificationChanged, notificationPush } from './notifications.contract.ts'
import type { NotificationRow } from './notifications.table.ts'

/** Brings notifications that are on the disk to their devices; resolves once it is written down which were sent. */
export type Delivery = (rows: readonly NotificationRow[]) => Promise<void>

/** Sends to devices with an open socket. What reaches nobody stays pending. */
export function createDelivery({ db, sockets, events }: { db: Database; sockets: SocketRegistry; events: EventBus }): Delivery {
  const isSent = ({ id, deviceId, title, body, level, category, status, seq, data }: NotificationRow) =>
    status === 'pending' && sockets.send(deviceId, notificationPush, { id, title, body, level, category, seq, data }) > 0

  return async (rows) => {
    const sent = rows.filter(isSent)
    if (sent.length === 0) return
    const at = new Date().toISOString()
    await db.write((tx) => {
      for (const { id, deviceId } of sent) {
        // The device may have answered before this is written.
        const changed = tx.run(`UPDATE "notification" SET "status" = 'sent', "sentAt" = ? WHERE "id" = ? AND "status" = 'pending'`, [
          at,
          id,
        ])
        if (changed > 0) tx.afterCommit(() => events.publish(notificationChanged, { id, deviceId, status: 'sent' }))
      }
    })
  }
}
