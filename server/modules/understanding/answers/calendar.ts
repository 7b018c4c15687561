import { z } from 'zod'
import { CalendarEvent } from '../../calendar/calendar.contract.ts'
import { type AnswerHelp, type Answers, given, text } from './answer.ts'

const Events = z.array(CalendarEvent)
const NONE = 'cannot_calendar'
const AHEAD_DAYS = 90
const MOST_SAID = 12

async function between(from: string, to: string, { run }: AnswerHelp): Promise<CalendarEvent[]> {
  const { data } = await run('list_events', { from, to }, NONE)
  return Events.safeParse(data).data ?? z.object({ events: Events }).safeParse(data).data?.events ?? []
}

/** What is on in a stretch of time, a day at a time. */
function say(events: readonly CalendarEvent[], { speech }: AnswerHelp): string {
  const days = Map.groupBy(events.slice(0, MOST_SAID), ({ startAt }) => speech.day(startAt))
  return [...days]
    .map(([day, on]) => {
      const items = on.map(({ title, startAt, allDay }) => (allDay ? title : speech.say('event_at', { title, time: speech.time(startAt) })))
      return speech.say('events_on', { day: day.charAt(0).toUpperCase() + day.slice(1), items: speech.list(items) })
    })
    .join(' ')
}

export const calendarAnswers: Answers = {
  async event_add({ title, startAt, endAt, allDay, recurrence }, help) {
    const { speech, run } = help
    await run('add_event', given({ title, startAt, endAt, allDay: allDay || undefined, recurrence }), NONE)
    const time = allDay ? speech.day(text(startAt)) : speech.moment(text(startAt))
    const said = speech.say('event_added', { title: text(title), time })
    return recurrence ? `${said} ${speech.say('comes_again')}` : said
  },
  async event_ask({ from, to }, help) {
    const now = help.speech.now()
    const start = text(from) || now.toUTC().toISO() || ''
    const end = text(to) || now.plus({ days: 7 }).toUTC().toISO() || ''
    const events = await between(start, end, help)
    return events.length === 0 ? help.speech.say('nothing_on') : say(events, help)
  },
  async event_next(_, help) {
    const now = help.speech.now()
    const events = await between(now.toUTC().toISO() ?? '', now.plus({ days: AHEAD_DAYS }).toUTC().toISO() ?? '', help)
    const next = events.find(({ startAt, kind }) => Date.parse(startAt) > now.toMillis() && kind !== 'birthday')
    if (!next) return help.speech.say('nothing_coming')
    const time = next.allDay ? help.speech.day(next.startAt) : help.speech.moment(next.startAt)
    return help.speech.say('event_next', { title: next.title, time })
  },
}
