import { z } from 'zod'
import { type Action, action } from '../../kit/actions.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { calendarContract } from './calendar.contract.ts'
import type { CalendarService } from './calendar.service.ts'
import { eventSentence, eventsSentence } from './calendar-words.ts'

const moment = z.iso.datetime({ offset: true }).transform((at) => new Date(at).toISOString())

/** What can be done with the calendar in the registry of actions. */
export function calendarActions({ calendar, household }: { calendar: CalendarService; household: HouseholdService }): Action[] {
  const zone = () => household.get().household.timezone
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
      }),
      risk: 'low',
      async run(given) {
        const event = await calendar.create(calendarContract.create.body.parse(given))
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
  ]
}
