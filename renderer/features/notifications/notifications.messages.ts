import { plural } from '../../messages/format.ts'

/** Words of the notification centre. */
export const notificationsMessages = {
  'notifications.title': 'Notifications',
  'notifications.lead': 'What Hearth had to say to this device, newest first. It is kept for 30 days.',
  'notifications.list': 'Notifications',
  'notifications.unread': 'Unread',
  'notifications.unreadCount': (count: string) => `, ${count} unread`,
  'notifications.many': '99+',
  'notifications.readAll': 'Mark all as read',
  'notifications.emptyTitle': 'Nothing so far',
  'notifications.emptyText': 'Reminders, timers that rang and what the house announces stand here, until 30 days have gone by.',
  'notifications.open': 'Open',
  'notifications.act': (act: string, title: string) => `${act}: ${title}`,
  'notifications.warning': 'Warning',
  'notifications.critical': 'Urgent',
  'notifications.button.View': 'View',
  'notifications.button.Dismiss': 'Dismiss',
  'notifications.button.View Files': 'View files',
  'notifications.button.Mark Done': 'Mark done',
  'notifications.button.Snooze 15min': 'Snooze 15 min',
  'notifications.done': 'Marked as done.',
  'notifications.snoozed': 'It reminds of this again in 15 minutes.',
  'notifications.failed': (what: string) => `That did not work. ${what}`,
  'notifications.toast': (title: string, body: string) => (body ? `${title}: ${body}` : title),
  'notifications.several': (count: number) => plural(count, { one: '1 notification', other: `${count} notifications` }),
  'notifications.away': (count: number) =>
    plural(count, { one: '1 notification while you were away', other: `${count} notifications while you were away` }),
  'notifications.show': 'Show',
}
