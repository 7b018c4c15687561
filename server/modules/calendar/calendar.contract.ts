import { z } from 'zod'
import { ById, editable, endpoint, nothing } from '../../kit/endpoint.ts'
import { event } from '../../kit/events.ts'

/** One event, or one occurrence of a recurring one. */
export const CalendarEvent = z
  .object({
    id: z.uuid(),
    title: z.string(),
    startAt: z.string(),
    endAt: z.string(),
    allDay: z.boolean().describe('Then it begins and ends at midnight in the household’s zone.'),
    location: z.string().optional(),
    notes: z.string().optional(),
    personId: z.uuid().optional(),
    recurrence: z.string().optional().describe('An RRULE value without its prefix (RFC 5545).'),
    kind: z.enum(['event', 'birthday', 'subscribed']).describe('Birthdays and subscribed events cannot be changed here.'),
    subscriptionId: z.uuid().optional(),
  })
  .meta({ id: 'CalendarEvent' })
export type CalendarEvent = z.output<typeof CalendarEvent>

export const Subscription = z
  .object({
    id: z.uuid(),
    name: z.string(),
    url: z.string(),
    refreshedAt: z.string().nullable(),
    error: z.string().nullable().describe('Why the last refresh failed; the events of the one before stay.'),
    events: z.number().int(),
  })
  .meta({ id: 'CalendarSubscription' })
export type Subscription = z.output<typeof Subscription>

const text = (max: number) =>
  z
    .string()
    .max(max)
    .transform((value) => value.toWellFormed().replaceAll('\0', ''))
const title = text(300)
  .transform((value) => value.trim())
  .pipe(z.string().min(1))
const moment = z.iso.datetime({ offset: true }).transform((at) => new Date(at).toISOString())
/** Of a whole day the date says enough; what is wrong with a time in it is told to be no moment. */
const momentOrDate = z.union([moment, z.iso.date({ abort: true })], {
  error({ input }) {
    if (typeof input !== 'string') return undefined
    return input.includes('T') ? 'is not a moment like 2026-12-24T18:00:00Z' : 'is not a date like 2026-12-24'
  },
})

const fields = {
  title,
  startAt: momentOrDate.describe('Of all-day ones a date, a midnight of UTC, which stands for its date, or any moment of the day.'),
  endAt: momentOrDate.describe('An hour after the start unless stated; for all-day ones the midnight or date after.'),
  allDay: z.boolean(),
  location: text(500).nullable(),
  notes: text(20_000).nullable(),
  personId: z.uuid().nullable(),
  recurrence: text(500).nullable(),
}
const readOnly = ['id', 'kind', 'subscriptionId'] as const
const { title: _, startAt, ...rest } = fields

/** Without a name or password in it: everybody in the house sees the address. */
const FeedUrl = z
  .url({ protocol: /^(https?|webcal)$/ })
  .max(2048)
  .refine((url) => !/^\w+:\/\/[^/?#]*@/.test(url), 'must not carry a name or a password')

export const calendarContract = {
  list: endpoint({
    method: 'GET',
    path: '/api/calendar',
    access: 'member',
    summary: 'What is on, occurrence by occurrence, in order of time; without a time the events as they are stored',
    description:
      'With one of `from` and `to` a month from or until there; at most 400 days. Occurrences of one event share its id. Without either each event once, as it begins; of more than 2,000 the household’s own before others, and what is to come before what is over.',
    query: z.strictObject({ from: moment.optional(), to: moment.optional() }),
    returns: z.array(CalendarEvent),
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/calendar',
    access: 'member',
    summary: 'Put an event into the calendar',
    body: editable({ title, startAt, ...z.object(rest).partial().shape }, readOnly),
    returns: CalendarEvent,
    status: 201,
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/calendar/{id}',
    access: 'member',
    summary: 'One event, as it begins',
    params: ById,
    returns: CalendarEvent,
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/api/calendar/{id}',
    access: 'member',
    summary: 'Change an event, all of its occurrences',
    params: ById,
    body: editable(z.object(fields).partial().shape, readOnly),
    returns: CalendarEvent,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/calendar/{id}',
    access: 'member',
    summary: 'Take an event out, or with `occurrence` only the one that begins then; with the last one goes the event',
    params: ById,
    query: z.strictObject({ occurrence: moment.optional() }),
    returns: nothing,
  }),
  feed: endpoint({
    method: 'POST',
    path: '/api/calendar/feed',
    access: 'member',
    summary: 'A fresh address of one’s own at which other calendars may read this one; the one before ends',
    returns: z.object({ url: z.string() }),
    status: 200,
  }),
  endFeed: endpoint({
    method: 'DELETE',
    path: '/api/calendar/feed',
    access: 'member',
    summary: 'End one’s own address at which other calendars read this one, or as an admin everybody’s',
    query: z.strictObject({ all: z.stringbool().default(false) }),
    returns: nothing,
  }),
  export: endpoint({
    method: 'GET',
    path: '/api/calendar.ics',
    access: 'public',
    summary: 'The calendar as iCalendar, with a feed’s key or any member’s credential; else 401',
    query: z.strictObject({ key: z.string().max(200).optional() }),
    returns: z.string(),
    kind: 'stream',
  }),
  subscriptions: endpoint({
    method: 'GET',
    path: '/api/calendar/subscriptions',
    access: 'member',
    summary: 'Outside calendars that are shown here',
    returns: z.array(Subscription),
  }),
  subscribe: endpoint({
    method: 'POST',
    path: '/api/calendar/subscriptions',
    access: 'admin',
    summary: 'Show an outside calendar here; it is fetched before the answer',
    body: z.strictObject({ name: title, url: FeedUrl }),
    returns: Subscription,
    status: 201,
  }),
  refresh: endpoint({
    method: 'POST',
    path: '/api/calendar/subscriptions/{id}/refresh',
    access: 'member',
    summary: 'Fetch an outside calendar now',
    params: ById,
    returns: Subscription,
  }),
  unsubscribe: endpoint({
    method: 'DELETE',
    path: '/api/calendar/subscriptions/{id}',
    access: 'admin',
    summary: 'Show an outside calendar no more',
    params: ById,
    returns: nothing,
  }),
}

/** An event was put into the calendar. */
export const calendarEventCreated = event('calendar.event.created', z.object({ eventId: z.uuid(), title: z.string(), startAt: z.string() }))
/** Something in the calendar changed. */
export const calendarChanged = event('calendar.changed', z.object({}))
