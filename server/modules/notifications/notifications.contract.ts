import { z } from 'zod'
import { ById, endpoint, nothing } from '../../kit/endpoint.ts'
import { event } from '../../kit/events.ts'
import { clientMessage, serverMessage } from '../../kit/socket-message.ts'

export const Level = z.enum(['info', 'warning', 'critical'])
export type Level = z.output<typeof Level>

/** What the buttons of a notification are drawn from. */
export const Category = z.enum(['CAMERA_ALERT', 'BACKUP_COMPLETE', 'REMINDER', 'TIMER'])
export type Category = z.output<typeof Category>

/** What can be pressed on a notification besides `Dismiss`, which every one can be. */
export const buttons: Record<Category, readonly string[]> = {
  CAMERA_ALERT: ['View', 'Dismiss'],
  BACKUP_COMPLETE: ['View Files'],
  REMINDER: ['Mark Done', 'Snooze 15min'],
  TIMER: [],
}

export const NotificationStatus = z.enum(['pending', 'sent', 'delivered', 'read'])

export const Notification = z
  .object({
    id: z.uuid(),
    title: z.string(),
    body: z.string(),
    deviceId: z.uuid().describe('Of a reminder for somebody without a device the person’s id, until they have one.'),
    level: Level,
    category: Category.nullable(),
    status: NotificationStatus,
    data: z.record(z.string(), z.string()).describe('What it is about, such as `todoId` or `timerId`.'),
    createdAt: z.string(),
    sentAt: z.string().nullable(),
    deliveredAt: z.string().nullable(),
    readAt: z.string().nullable(),
  })
  .meta({ id: 'Notification' })
export type Notification = z.output<typeof Notification>

const text = (max: number) =>
  z
    .string()
    .max(max)
    .transform((value) => value.toWellFormed().replaceAll('\0', ''))

export const notificationsContract = {
  list: endpoint({
    method: 'GET',
    path: '/api/notifications',
    access: 'guest',
    summary: 'Notifications, newest first: one’s own, or for admins everybody’s',
    query: z.strictObject({
      deviceId: z.uuid().optional(),
      status: NotificationStatus.optional(),
      limit: z.coerce.number().int().min(1).max(500).default(100),
      after: z.uuid().optional().describe('The last one of the page before.'),
    }),
    returns: z.array(Notification),
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/notifications/{id}',
    access: 'guest',
    summary: 'One notification',
    params: ById,
    returns: Notification,
  }),
  send: endpoint({
    method: 'POST',
    path: '/api/notifications/send',
    access: 'admin',
    summary: 'Notify a device, or without deviceId all of the household’s',
    description: 'With deviceId answers the record; without, `{items}` with one record for each device.',
    body: z.strictObject({
      title: text(200).refine((value) => value.trim() !== '', 'is empty'),
      body: text(4000),
      deviceId: z.uuid().optional(),
      level: Level.default('info'),
      category: Category.nullable().optional(),
      data: z.record(z.string().max(64), z.string().max(1000)).optional(),
      dedupeKey: z.string().min(1).max(200).optional().describe('A second one of the same key to the same device is not made.'),
    }),
    returns: z.union([Notification, z.object({ items: z.array(Notification) })]),
    status: 201,
  }),
  ack: endpoint({
    method: 'POST',
    path: '/api/notifications/{id}/ack',
    access: 'guest',
    summary: 'Say that a notification arrived or was read',
    params: ById,
    body: z.strictObject({ status: z.enum(['delivered', 'read']) }),
    returns: Notification,
  }),
  action: endpoint({
    method: 'POST',
    path: '/api/notifications/{id}/action',
    access: 'guest',
    summary: 'Press a button of a notification',
    description:
      '`Mark Done` completes the to-do of a REMINDER, `Snooze 15min` reminds of it again; the others, and `Dismiss`, mark it as read and publish `notification.action`.',
    params: ById,
    body: z.strictObject({ action: z.string().max(64) }),
    returns: Notification,
  }),
  readAll: endpoint({
    method: 'POST',
    path: '/api/notifications/read-all',
    access: 'guest',
    summary: 'Mark all of one’s own as read',
    returns: nothing,
  }),
}

/** Of what reminds of a to-do at a time: made once for each device. */
export const reminderKey = (todoId: string, remindAt: string): string => `todo:${todoId}:${remindAt}`

/** A notification was made or its status changed. */
export const notificationChanged = event('notification.changed', z.object({ id: z.uuid(), deviceId: z.uuid(), status: NotificationStatus }))

/** A notification on its way to the device it is for. */
export const notificationPush = serverMessage({
  type: 'notification.push',
  payload: z.object({
    id: z.uuid(),
    title: z.string(),
    body: z.string(),
    level: Level,
    category: Category.nullable(),
    /** Order of making; what the device says in its next `hello`. */
    seq: z.number().int().optional(),
    data: z.record(z.string(), z.string()).optional(),
  }),
  summary: 'Delivers a notification to a device that is online.',
})

/** A button was pressed that does nothing in the house itself. */
export const notificationActed = event('notification.action', z.object({ id: z.uuid(), deviceId: z.uuid(), action: z.string() }))

/** What a device says about a notification that it was sent. */
export const notificationAck = clientMessage({
  type: 'notification.ack',
  payload: z.object({ id: z.uuid(), status: z.enum(['delivered', 'read']) }),
  access: 'guest',
  summary: 'Says that one of the device’s own notifications arrived or was read. What was acknowledged is not sent again.',
})

/** A button that was pressed at a device. */
export const notificationAction = clientMessage({
  type: 'notification.action',
  payload: z.object({ id: z.uuid(), action: z.string().max(64) }),
  access: 'guest',
  summary: 'Presses a button of one of the device’s own notifications: REMINDER has `Mark Done` and `Snooze 15min`.',
})
