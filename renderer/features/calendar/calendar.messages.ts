export const calendarMessages = {
  'calendar.title': 'Calendar',
}
