import { notFound } from '../../kit/errors.ts'
import type { EventBus, Unsubscribe } from '../../kit/events.ts'
import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { onMessage } from '../../kit/socket-message.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { pairingChanged } from '../paired-devices/paired-devices.contract.ts'
import type { PressButton } from './buttons.ts'
import type { Delivery } from './delivery.ts'
import { createNotificationActions } from './notifications.actions.ts'
import { notificationAck, notificationAction, notificationsContract } from './notifications.contract.ts'
import type { NotificationsService } from './notifications.service.ts'

const PRUNE_EVERY_MS = 6 * 3_600_000

export interface NotificationsModuleDeps {
  notifications: NotificationsService
  delivery: Delivery
  press: PressButton
  household: HouseholdService
  events: EventBus
  prune(): Promise<void>
  onWriteFailed(error: unknown): void
}

export function createNotifications({ notifications, delivery, press, household, events, ...deps }: NotificationsModuleDeps): Module {
  const { prune, onWriteFailed } = deps
  let timer: NodeJS.Timeout | undefined
  let unsubscribe: Unsubscribe | undefined
  return {
    name: 'notifications',
    actions: createNotificationActions({ notifications, household }),
    messages: [
      onMessage(notificationAck, ({ id, status }, caller) => notifications.arrived(caller, id, status)),
      onMessage(notificationAction, ({ id, action }, caller) => press(caller, id, action)),
    ],
    routes: [
      routes(notificationsContract, {
        list: ({ query }, { caller }) => notifications.list(caller, query),
        get: ({ params }, { caller }) => notifications.get(caller, params.id),
        async send({ body: { deviceId, ...message } }) {
          if (deviceId === undefined) return { items: await notifications.notify({ ...message, target: 'all' }) }
          if (!notifications.hasDevice(deviceId)) throw notFound('This device')
          const [one] = await notifications.notify({ ...message, target: { deviceId } })
          if (!one) throw new Error('A notification for one device made no record')
          return one
        },
        ack: ({ params, body }, { caller }) => notifications.acknowledge(caller, params.id, body.status),
        async action({ params, body }, { caller }) {
          await press(caller, params.id, body.action)
          return notifications.get(caller, params.id)
        },
        readAll: (_input, { caller }) => notifications.readAll(caller),
      }),
    ],
    async start() {
      delivery.start()
      unsubscribe = events.on(pairingChanged, ({ deviceId, state }) => {
        if (state === 'paired' || state === 'changed') void notifications.handOver(deviceId).catch(onWriteFailed)
      })
      await notifications.handOver().catch(onWriteFailed)
      await prune().catch(onWriteFailed)
      timer = setInterval(() => prune().catch(onWriteFailed), PRUNE_EVERY_MS)
      timer.unref()
    },
    async stop() {
      clearInterval(timer)
      unsubscribe?.()
      await delivery.stop()
    },
  }
}
