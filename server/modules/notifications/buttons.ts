import { type Caller, mayCall } from '../../kit/caller.ts'
import { AppError, conflict, forbidden, invalid } from '../../kit/errors.ts'
import type { EventBus } from '../../kit/events.ts'
import { buttons, type Notification, notificationActed } from './notifications.contract.ts'
import type { NotificationsService } from './notifications.service.ts'

const SNOOZE_MINUTES = 15

export interface ButtonsDeps {
  notifications: Pick<NotificationsService, 'getOwn' | 'arrived'>
  todos: {
    get(id: string): { completedAt?: string | undefined; remindAt?: string | undefined }
    complete(id: string): Promise<unknown>
    snooze(id: string, minutes: number): Promise<unknown>
  }
  events: EventBus
}

/** Presses a button of one of the caller's own notifications. Throws 404 for another's, 400 for a button that it does not have, 409 where nothing is left to be done. */
export type PressButton = (caller: Caller, id: string, action: string) => Promise<void>

/** What the buttons of notifications do. Whoever pressed one has read it. */
export function createButtons({ notifications, todos, events }: ButtonsDeps): PressButton {
  const isOn = ({ category }: Notification, action: string) =>
    action === 'Dismiss' || (category !== null && buttons[category].includes(action))

  /** Throws 403 for guests, who see no to-dos, and 404 where it is gone. */
  async function remindered(caller: Caller, { data, status }: Notification, action: string): Promise<void> {
    if (!mayCall('member', caller)) throw forbidden('Guests do not change to-dos.')
    const todoId = data.todoId ?? ''
    const { completedAt, remindAt } = todos.get(todoId)
    if (completedAt !== undefined) throw conflict('already_done', 'This is done already.')
    if (action === 'Mark Done') await todos.complete(todoId)
    else if (status === 'read' && (remindAt ?? '') > new Date().toISOString())
      throw conflict('already_snoozed', 'This was put off already.')
    else await todos.snooze(todoId, SNOOZE_MINUTES)
  }

  return async (caller, id, action) => {
    const notification = notifications.getOwn(caller, id)
    if (!isOn(notification, action)) throw invalid([{ path: 'body.action', message: 'is no button of this notification' }])
    const isReminder = notification.category === 'REMINDER' && action !== 'Dismiss'
    try {
      if (isReminder) await remindered(caller, notification, action)
    } catch (error) {
      // A to-do that is gone, done or put off is reminded of here no more.
      if (error instanceof AppError && [404, 409].includes(error.status)) await notifications.arrived(caller, id, 'read')
      throw error
    }
    await notifications.arrived(caller, id, 'read')
    if (!isReminder) events.publish(notificationActed, { id, deviceId: notification.deviceId, action })
  }
}
