export const timersMessages = {
  'timers.title': 'Timers',
}
