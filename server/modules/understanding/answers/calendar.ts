import type { DateTime } from 'luxon'
import { z } from 'zod'
import { closest } from '../../../kit/closest.ts'
import { AppError } from '../../../kit/errors.ts'
import { CalendarEvent } from '../../calendar/calendar.contract.ts'
import { type AnswerHelp, type Answers, given, type Slots, text } from './answer.ts'
import { recollect } from './memory.ts'

const Events = z.array(CalendarEvent)
const Removed = CalendarEvent.extend({ occurrenceOnly: z.boolean().optional() })
const Reminders = z.object({ items: z.array(z.object({ title: z.string(), remindAt: z.string() })) })
const Dated = z.object({ items: z.array(z.object({ title: z.string(), dueAt: z.string().optional(), remindAt: z.string().optional() })) })
const NONE = 'cannot_calendar'
const AHEAD_DAYS = 90
const YEAR_DAYS = 366
const BACK_DAYS = 90
const MAX_QUERY = 1_000
const MOST_SAID = 12

async function between(from: string, to: string, { run }: AnswerHelp): Promise<CalendarEvent[]> {
  const { data } = await run('list_events', { from, to }, NONE)
  return Events.safeParse(data).data ?? z.object({ events: Events }).safeParse(data).data?.events ?? []
}

/** What is on from then on, a day at a time; what began before on the first. */
function say(events: readonly CalendarEvent[], from: string, { speech }: AnswerHelp): string {
  const since = Date.parse(from)
  const days = Map.groupBy(events.slice(0, MOST_SAID), ({ startAt }) => speech.day(Date.parse(startAt) < since ? from : startAt))
  const said = [...days].map(([day, on]) => {
    const items = on.map(({ title, startAt, allDay }) =>
      allDay || speech.day(startAt) !== day ? title : speech.say('event_at', { title, time: speech.time(startAt) }),
    )
    return speech.say('events_on', { day: day.charAt(0).toUpperCase() + day.slice(1), items: speech.list(items) })
  })
  const more = events.length - MOST_SAID
  return [...said, ...(more > 0 ? [speech.say('events_more', { count: more })] : [])].join(' ')
}

const isOneDay = (from: string, to: string, { speech }: AnswerHelp) => speech.date(from) === speech.date(new Date(Date.parse(to) - 1))

/** What reminds the speaker then, of several days with the day. */
async function remindersIn(from: string, to: string, help: AnswerHelp): Promise<string> {
  const { run, has, speech } = help
  if (!has('list_todos')) return ''
  const { data } = await run('list_todos', { mine: true, reminders: true, until: to }, NONE)
  const items = Reminders.safeParse(data).data?.items.filter(({ remindAt }) => remindAt >= from) ?? []
  if (items.length === 0) return ''
  const oneDay = isOneDay(from, to, help)
  const said = items.slice(0, MOST_SAID).map(({ title, remindAt }) => {
    if (oneDay) return speech.say('event_at', { title, time: speech.time(remindAt) })
    return speech.say('reminder_at', { title, time: speech.moment(remindAt) })
  })
  const more = items.length - MOST_SAID
  if (more > 0) said.push(speech.say('more', { count: more }))
  return speech.say('reminders_then', { items: oneDay ? speech.list(said) : said.join('; ') })
}

const told = ({ title, startAt, allDay }: Pick<CalendarEvent, 'title' | 'startAt' | 'allDay'>, { speech }: AnswerHelp) => ({
  title,
  time: allDay ? speech.day(startAt) : speech.moment(startAt),
})

/** Says in the speaker's language that there is no such event. */
async function finding({ title }: Slots, { speech }: AnswerHelp, act: () => Promise<string>): Promise<string> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return speech.say('no_such_event', { title: text(title) })
    throw error
  }
}

async function remove({ title, from, to }: Slots, help: AnswerHelp): Promise<string> {
  const result = await help.run('remove_event', given({ title, from, to }), NONE)
  const removed = Removed.parse(result.data)
  return help.told(result, removed.occurrenceOnly ? 'event_removed_once' : 'event_removed', told(removed, help))
}

async function add({ title, startAt, endAt, allDay, recurrence, personId }: Slots, help: AnswerHelp): Promise<string> {
  const { speech, run } = help
  await run('add_event', given({ title, startAt, endAt, allDay: allDay || undefined, recurrence, personId }), NONE)
  const time = allDay ? speech.day(text(startAt)) : speech.moment(text(startAt))
  const said = speech.say('event_added', { title: text(title), time })
  return recurrence ? `${said} ${speech.say('comes_again')}` : said
}

/** An event by what it is called, for whom it is left out where it says so by itself. */
function eventNamed({ query, about, aboutId }: Slots, events: readonly CalendarEvent[]): CalendarEvent | null {
  const title = (event: CalendarEvent) => event.title
  const ofPerson = events.filter(({ personId }) => personId !== undefined && personId === aboutId)
  const named = text(about)
  const ways =
    named === '' ? [] : [`${named}'s ${text(query)}`, `${named} ${text(query)}`, `${text(query)} ${named}`, `${text(query)} for ${named}`]
  const found = ways.map((way) => closest(way, events, title)).find((event) => event !== null)
  return found ?? (named === '' ? closest(text(query), events, title) : closest(text(query), ofPerson, title))
}

/** When something is that has a name: an event to come, what is to be done, an event that is over. */
async function whenIs(slots: Slots, help: AnswerHelp): Promise<string | null> {
  const { speech, run, has } = help
  if (!has('list_events')) return null
  const now = speech.now()
  const at = (days: number) => now.plus({ days }).toUTC().toISO() ?? ''
  const coming = eventNamed(slots, await between(at(0), at(YEAR_DAYS), help))
  if (coming) return speech.say('event_is', told(coming, help))
  if (has('list_todos')) {
    const { data } = await run('list_todos', { status: 'open' }, NONE)
    const timed = Dated.safeParse(data).data?.items.filter(({ dueAt, remindAt }) => dueAt ?? remindAt) ?? []
    const todo = closest([text(slots.about), text(slots.query)].join(' ').trim(), timed, ({ title }) => title)
    if (todo) return speech.say('event_is', { title: todo.title, time: speech.moment(todo.dueAt ?? todo.remindAt ?? '') })
  }
  const over = eventNamed(slots, (await between(at(-BACK_DAYS), at(0), help)).toReversed())
  return over && speech.say('event_was', told(over, help))
}

export const calendarAnswers: Answers = {
  event_add: add,
  event_named: add,
  when_unread: async ({ words }, { speech }) => speech.say('when_unread', { words: text(words) }),
  async event_ask({ from, to }, help) {
    const now = help.speech.now()
    const iso = (at: DateTime) => at.toUTC().toISO() ?? ''
    const end = text(to) || iso(now.plus({ days: 7 }))
    const today = iso(now.startOf('day'))
    const asked = text(from) || iso(now)
    // Of a week that has begun, the days that are over are not meant.
    const start = asked < today && end > today ? today : asked
    const events = await between(start, end, help)
    const reminders = await remindersIn(start, end, help)
    return [events.length === 0 && reminders === '' ? help.speech.say('nothing_on') : say(events, start, help), reminders]
      .filter(Boolean)
      .join(' ')
  },
  /** What neither calendar nor to-dos know may be remembered. */
  when_is: async (slots, help) =>
    (await whenIs(slots, help)) ?? recollect(help.text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_QUERY), help),
  event_remove: (slots, help) => finding(slots, help, () => remove(slots, help)),
  /** What is no event may be something else. */
  async event_cancel(slots, help) {
    try {
      return await remove(slots, help)
    } catch (error) {
      if (error instanceof AppError && error.status === 404) return null
      throw error
    }
  },
  event_move: (slots, help) =>
    finding(slots, help, async () => {
      const result = await help.run('move_event', given({ title: slots.title, day: slots.day, time: slots.time }), NONE)
      return help.told(result, 'event_moved', told(CalendarEvent.parse(result.data), help))
    }),
  async event_next(_, help) {
    const now = help.speech.now()
    const events = await between(now.toUTC().toISO() ?? '', now.plus({ days: AHEAD_DAYS }).toUTC().toISO() ?? '', help)
    const next = events.find(({ startAt, kind }) => Date.parse(startAt) > now.toMillis() && kind !== 'birthday')
    if (!next) return help.speech.say('nothing_coming')
    const time = next.allDay ? help.speech.day(next.startAt) : help.speech.moment(next.startAt)
    return help.speech.say('event_next', { title: next.title, time })
  },
}
