import type { SocketMessages } from './kit/socket-docs.ts'
import { notificationAck, notificationAction, notificationPush } from './modules/notifications/notifications.contract.ts'
import { pushRegister } from './modules/push/push.contract.ts'
import { topics } from './topics.ts'

/** Everything that goes over `/ws`, both ways, as modules declared it. */
export const socketMessages: SocketMessages = {
  client: [notificationAck, notificationAction, pushRegister],
  server: [notificationPush],
  topics,
}
