import { number, plural } from '../../messages/format.ts'

export const homeMessages = {
  'home.onDay': (day: string, house: string) => (house ? `${day} · ${house}` : day),
  'home.tiles': 'Your house',
  'home.open': (what: string) => `Open ${what}`,
  'home.openShort': 'Open',
  'home.broken': 'This part of the page stopped working.',
  'home.brokenTodo': 'The rest goes on. Try it again.',
  'home.events': 'Next up',
  'home.eventsNone': 'Nothing on today or tomorrow.',
  'home.more': (count: number) => `${number(count)} more`,
  'home.timers': 'Timers',
  'home.timersNone': 'Nothing is running.',
  'home.quick': 'Start a timer',
  'home.todos': 'To-dos',
  'home.todosNone': 'Nothing is due today.',
  'home.shopping': (count: number) =>
    count === 0 ? 'Nothing to buy' : `${number(count)} ${plural(count, { one: 'thing', other: 'things' })} to buy`,
  'home.notifications': 'What happened',
  'home.notificationsNone': 'Nothing new.',
  'home.read': (title: string) => `Mark as read: ${title}`,
  'home.readAll': 'Mark all as read',
  'home.status': 'The house',
  'home.ok': 'All is well',
  'home.degraded': 'Not everything works',
  'home.devices': (count: number) =>
    count === 0 ? 'No device is connected' : `${number(count)} ${plural(count, { one: 'device', other: 'devices' })} connected`,
  'home.model.ok': 'The language model is ready',
  'home.model.loading': 'The language model is loading',
  'home.model.no_model': 'No language model yet',
  'home.model.error': 'The language model does not work',
  'home.model.unknown': 'The language model did not answer',
  'home.memory': (count: number) =>
    count === 0 ? 'Nothing remembered yet' : `${number(count)} ${plural(count, { one: 'thing', other: 'things' })} remembered`,
}
