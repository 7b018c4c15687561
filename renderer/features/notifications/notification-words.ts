import { buttons, type Notification } from '../../../server/modules/notifications/notifications.contract.ts'
import { type PlainKey, t } from '../../messages/messages.ts'

const labels: Record<string, PlainKey> = {
  View: 'notifications.button.View',
  Dismiss: 'notifications.button.Dismiss',
  'View Files': 'notifications.button.View Files',
  'Mark Done': 'notifications.button.Mark Done',
  'Snooze 15min': 'notifications.button.Snooze 15min',
}

/** What stands on a button of a notification; the server knows it by its own name. */
export function buttonLabel(action: string): string {
  const key = labels[action]
  return key ? t(key) : action
}

/** The buttons of a notification for who looks at it; to-dos are not for guests. A read one has done its part. */
export function buttonsFor({ category, status }: Pick<Notification, 'category' | 'status'>, isMember: boolean): readonly string[] {
  if (category === null || status === 'read') return []
  return category === 'REMINDER' && !isMember ? [] : buttons[category]
}

/** The page that a notification is about, where there is one that this browser may open. */
export function placeOf({ data }: { data?: Record<string, string> | undefined }, isMember: boolean): string | null {
  if (!isMember || !data) return null
  if (data.todoId) return '/todos'
  if (data.timerId) return '/timers'
  return data.eventId ? '/calendar' : null
}

/** A count as a badge has room for it. */
export const badge = (count: number): string => (count > 99 ? t('notifications.many') : String(count))

/** As they came, but for what is critical, which nothing later may push out of sight. */
export const urgentFirst = <N extends Pick<Notification, 'level'>>(notifications: readonly N[]): N[] =>
  notifications.toSorted((a, b) => Number(b.level === 'critical') - Number(a.level === 'critical'))
