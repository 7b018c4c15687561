import type { z } from 'zod'
import type { notificationPush } from '../../../server/modules/notifications/notifications.contract.ts'
import { buttonLabel, buttonsFor } from './notification-words.ts'

const NAME = 'hearth.notifications'

/** Whether the system of this device may show notifications of this window: the browser was allowed to, and it was not switched off here. */
export const mayShowOutside = (): boolean =>
  'Notification' in window && Notification.permission === 'granted' && localStorage.getItem(NAME) !== 'off'

/** Keeps the choice on this device. */
export const chooseOutside = (on: boolean): void => localStorage.setItem(NAME, on ? 'on' : 'off')

/**
 * Has the system show a notification while this window is open but out of sight; false where it is not. The worker
 * answers its buttons, as it does for what is pushed.
 */
export async function showOutside(pushed: z.output<typeof notificationPush.payload>, isMember: boolean): Promise<boolean> {
  if (document.visibilityState === 'visible' || !mayShowOutside()) return false
  const { id, title, body, level, category } = pushed
  const actions = buttonsFor({ category, status: 'delivered' }, isMember)
  const plain = { body, tag: id, icon: '/icon-192.png', requireInteraction: level === 'critical' }
  try {
    const registration = await navigator.serviceWorker?.getRegistration()
    const options = { ...plain, data: { ...pushed, actions }, actions: actions.map((action) => ({ action, title: buttonLabel(action) })) }
    if (registration?.active) await registration.showNotification(title, options)
    else new Notification(title, plain).onclick = () => window.focus()
    return true
  } catch {
    return false // phones show them through a worker alone
  }
}
