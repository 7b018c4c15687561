import type { z } from 'zod'
import type { PairedDeviceRow } from '../paired-devices/paired-devices.table.ts'
import type { notificationPush } from './notifications.contract.ts'

/** A device that said how it is reached while it is not connected. */
export interface PushTarget {
  id: string
  push: NonNullable<PairedDeviceRow['push']>
}

/** A notification as it travels, over a socket or through a gateway. */
export type NotificationMessage = z.input<typeof notificationPush.payload>

/** `sent`: a gateway took it; `dead-token`: the device is reached by that token no more; `retry`: later perhaps. */
export type PushOutcome = 'sent' | 'dead-token' | 'retry'

/** The gateways of push providers. A throw counts as `retry`. */
export interface Pushers {
  push(device: PushTarget, notification: NotificationMessage): Promise<PushOutcome>
}
