import { id, integer, table, text, textOrNull } from '../../db/table.ts'
import type { Notification } from './notifications.contract.ts'

export interface NotificationRow extends Omit<Notification, 'id'> {
  id: string
  /** Order of making, for replay. */
  seq: number
  dedupeKey: string | null
  /** Comes in quiet hours too. */
  urgent: boolean
  /** When the outbox looks at it next, in milliseconds since 1970; null while only its device can move it on. */
  attemptAt: number | null
  /** How often no gateway took it. */
  pushTries: number
  pushedAt: string | null
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
    urgent: { type: 'boolean' },
    attemptAt: { type: 'integer', nullable: true },
    pushTries: integer,
    pushedAt: textOrNull,
  },
  [
    { name: 'notification_seq', columns: ['seq'], unique: true },
    { name: 'notification_device', columns: ['deviceId', 'seq'] },
    { name: 'notification_device_status', columns: ['deviceId', 'status', 'seq'] },
    { name: 'notification_status', columns: ['status', 'seq'] },
    { name: 'notification_dedupe', columns: ['deviceId', 'dedupeKey'], unique: true },
    { name: 'notification_age', columns: ['createdAt'] },
    { name: 'notification_attempt', columns: ['deviceId', 'attemptAt'], where: '"attemptAt" IS NOT NULL' },
  ],
)

/** Nothing is left to be done about it. */
export const isAcknowledged = ({ status }: NotificationRow): boolean => status === 'delivered' || status === 'read'
