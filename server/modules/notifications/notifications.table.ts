import { id, integer, table, text, textOrNull } from '../../db/table.ts'
import type { Notification } from './notifications.contract.ts'

export interface NotificationRow extends Omit<Notification, 'id'> {
  id: string
  /** Order of making, for replay. */
  seq: number
  dedupeKey: string | null
}
export const NotificationTable = table<NotificationRow>(
  'notification',
  {
    id,
    seq: integer,
    title: text,
    body: text,
    deviceId: text,
    level: text,
    category: textOrNull,
    status: text,
    data: { type: 'simple-json' },
    dedupeKey: textOrNull,
    createdAt: text,
    sentAt: textOrNull,
    deliveredAt: textOrNull,
    readAt: textOrNull,
  },
  [
    { name: 'notification_seq', columns: ['seq'], unique: true },
    { name: 'notification_device', columns: ['deviceId', 'seq'] },
    { name: 'notification_device_status', columns: ['deviceId', 'status', 'seq'] },
    { name: 'notification_status', columns: ['status', 'seq'] },
    { name: 'notification_dedupe', columns: ['deviceId', 'dedupeKey'], unique: true },
    { name: 'notification_age', columns: ['createdAt'] },
  ],
)
