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
  'notifications.banner': 'New notification',
  'notifications.behind': (count: number) => plural(count, { one: 'and 1 more', other: `and ${count} more` }),
  'push.title': 'Notifications on this device',
  'push.lead': 'Beside the window of Hearth, as other apps show theirs.',
  'push.switch': 'Show them when Hearth is not in sight',
  'push.reach.closed': 'They are shown on this device, also while Hearth is closed.',
  'push.reach.open': 'They are shown on this device while Hearth is open in the background.',
  'push.reach.unpaired':
    'They are shown while Hearth is open in the background. Paired phones, tablets and TVs get them while it is closed, too.',
  'push.reach.unreached':
    'They are shown while Hearth is open in the background. While it is closed none arrive: the push service of this browser did not answer. It is asked again by itself.',
  'push.insecure':
    'Browsers allow this over HTTPS only, and this window is open over plain HTTP. While it is open, notifications come all the same.',
  'push.trust': 'Use the secure connection',
  'push.unsupported': 'This browser cannot do it. On an iPhone or iPad, put Hearth on the home screen first and open it from there.',
  'push.denied': 'The browser was told not to show notifications of Hearth. Allow them in its settings for this page, then come back.',
}
