import { DateTime } from 'luxon'
import { z } from 'zod'
import { type Action, action } from '../../kit/actions.ts'
import { spokenMoment } from '../../kit/spoken-time.ts'
import { Timezone } from '../household/household.contract.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { type CalendarEvent, calendarContract } from './calendar.contract.ts'
import { type CalendarService, MAX_EXCLUDED } from './calendar.service.ts'
import { eventSentence, eventsSentence } from './calendar-words.ts'
import { findEvent, movedTo } from './find-event.ts'

const moment = z.iso.datetime({ offset: true }).transform((at) => new Date(at).toISOString())

const which = {
  id: z.uuid().optional(),
  title: z.string().trim().min(1).max(300).optional(),
  from: moment.optional().describe('Look for it from then on; from now unless stated.'),
  to: moment.optional(),
}
type Wanted = z.output<z.ZodObject<typeof which>>
const isNamed = ({ id, title }: { id?: string | undefined; title?: string | undefined }) => id !== undefined || title !== undefined
const UNNAMED = { message: 'or title is needed', path: ['id'] }
/** So far ahead an event is looked for by its title. */
const AHEAD_DAYS = 399

/** What can be done with the calendar in the registry of actions. */
export function calendarActions({ calendar, household }: { calendar: CalendarService; household: HouseholdService }): Action[] {
  const zone = () => household.get().household.timezone
  const whenOf = ({ startAt, allDay }: CalendarEvent) => {
    const said = spokenMoment(startAt, household.get().household)
    return allDay ? said.replace(/ at [^ ]+$/, '') : said
  }

  /** Throws 404 with a sentence that can be said. */
  async function find({ id, title, from, to }: Wanted): Promise<CalendarEvent> {
    if (id) return calendar.next(id, { from, to })
    const begin = DateTime.now()
    const coming = await calendar.list({
      from: from ?? begin.toUTC().toISO() ?? '',
      to: to ?? begin.plus({ days: AHEAD_DAYS }).toUTC().toISO() ?? '',
    })
    return findEvent(title ?? '', coming)
  }

  /** Which one is meant: of all occurrences of a series named by its id the first, else the next. */
  async function removable({ all, ...wanted }: Wanted & { all?: boolean | undefined }): Promise<CalendarEvent> {
    return all && wanted.id ? calendar.get(wanted.id) : find(wanted)
  }

  return [
    action({
      name: 'add_event',
      description: 'Puts an event into the household’s calendar. Times with offset or in UTC; recurrence as an RRULE value.',
      input: z.strictObject({
        title: z.string().trim().min(1).max(300),
        startAt: moment,
        endAt: moment.optional().describe('An hour after the start unless stated; for all-day ones the midnight after.'),
        allDay: z.boolean().optional(),
        location: z.string().max(500).optional(),
        notes: z.string().max(20_000).optional(),
        personId: z.uuid().optional(),
        recurrence: z.string().max(500).optional().describe('An RRULE value, such as FREQ=WEEKLY.'),
        excluded: z.array(moment).max(MAX_EXCLUDED).optional().describe('Starts of occurrences that are left out.'),
        timezone: Timezone.optional().describe('In which it recurs; the household’s unless stated.'),
      }),
      risk: 'low',
      async run({ excluded, timezone, ...given }) {
        const event = await calendar.create(calendarContract.create.body.parse(given), { excluded, timezone })
        return { output: eventSentence(event, zone()), data: event }
      },
    }),
    action({
      name: 'list_events',
      description: 'Tells what is in the household’s calendar from one time to another; for 31 days from now unless stated.',
      input: z.strictObject({ from: moment.optional(), to: moment.optional() }),
      risk: 'low',
      async run({ from, to }) {
        const events = await calendar.list({ from, to })
        return { output: eventsSentence(events, from, zone()), data: events }
      },
    }),
    action({
      name: 'remove_event',
      description: 'Takes an event out of the calendar; of a recurring one the next occurrence, or all of them.',
      input: z
        .strictObject({ ...which, all: z.boolean().optional().describe('All occurrences of a recurring one.') })
        .refine(isNamed, UNNAMED),
      risk: 'low',
      modelAsks: true,
      async about(input) {
        const { title, startAt } = await removable(input)
        const day = DateTime.fromISO(startAt, { zone: zone(), locale: household.get().household.locale })
        return `${title}, ${day.toLocaleString(DateTime.DATE_MED_WITH_WEEKDAY)}`
      },
      async run({ all, ...wanted }) {
        const event = await removable({ all, ...wanted })
        const series = await calendar.remove(event.id, event.recurrence !== undefined && !all ? event.startAt : undefined)
        const occurrenceOnly = event.recurrence !== undefined && !all && series === null // after the last one nothing comes again
        const again = occurrenceOnly ? ' It comes again after that.' : ''
        return {
          output: `I took ${event.title} ${whenOf(event)} out of the calendar.${again}`,
          data: { ...event, occurrenceOnly, ...(series && { series }) },
        }
      },
    }),
    action({
      name: 'move_event',
      description: 'Moves an event to another day or time; of a recurring one the next occurrence alone.',
      input: z
        .strictObject({
          ...which,
          day: z.iso.date().optional().describe('To this day; the time of day stays unless stated.'),
          time: z.iso.time({ precision: -1 }).optional().describe('To this time in the household’s zone; the day stays unless stated.'),
          startAt: moment.optional(),
          endAt: moment.optional(),
          allDay: z.boolean().optional(),
        })
        .refine(isNamed, UNNAMED)
        .refine(({ day, time, startAt }) => day ?? time ?? startAt, { message: 'or time or startAt is needed', path: ['day'] }),
      risk: 'low',
      async run({ day, time, startAt, endAt, allDay, ...wanted }) {
        const before = await find(wanted)
        const times = startAt === undefined ? movedTo(before, { day, time }, zone()) : { startAt, endAt, allDay }
        const event = await (before.recurrence === undefined ? calendar.update(before.id, times) : calendar.moveOccurrence(before, times))
        return { output: eventSentence(event, zone()).replace(' is ', ' is now '), data: { ...event, before } }
      },
    }),
  ]
}
