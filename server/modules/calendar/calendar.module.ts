import type { Database } from '../../db/database.ts'
import { mayCall } from '../../kit/caller.ts'
import { forbidden, unauthorized } from '../../kit/errors.ts'
import type { EventBus, Unsubscribe } from '../../kit/events.ts'
import type { Module } from '../../kit/module.ts'
import type { Pace } from '../../kit/pace.ts'
import { routes } from '../../kit/routes.ts'
import { householdChanged } from '../household/household.contract.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { calendarActions } from './calendar.actions.ts'
import { calendarChanged, calendarContract } from './calendar.contract.ts'
import type { CalendarService } from './calendar.service.ts'
import { eventsAsJson } from './events-as-json.ts'
import type { FeedService } from './feed.service.ts'
import { asICalendar } from './ical-export.ts'
import type { SubscriptionsService } from './subscriptions.service.ts'
import { writePieces } from './write-pieces.ts'

/** Longer lists leave piece by piece. */
const SENT_AT_ONCE = 100

export interface CalendarModuleDeps {
  calendar: CalendarService
  feed: FeedService
  subscriptions: SubscriptionsService
  household: HouseholdService
  db: Database
  events: EventBus
  pace: Pace
}

export function createCalendar({ calendar, feed, subscriptions, household, db, events, pace }: CalendarModuleDeps): Module {
  let unsubscribe: Unsubscribe | undefined
  return {
    name: 'calendar',
    actions: calendarActions({ calendar, household }),
    routes: [
      routes(calendarContract, {
        async list({ query }, { reply, signal }) {
          const found = await (query.from === undefined && query.to === undefined ? calendar.stored() : calendar.list(query))
          if (found.length > SENT_AT_ONCE)
            await writePieces(reply.open('application/json; charset=utf-8'), eventsAsJson(found, pace), signal)
          return found
        },
        create: ({ body }) => calendar.create(body),
        get: ({ params }) => calendar.get(params.id),
        update: ({ params, body }) => calendar.update(params.id, body),
        async remove({ params, query }) {
          await calendar.remove(params.id, query.occurrence)
        },
        feed: (_input, { caller }) => feed.renew(caller),
        endFeed: ({ query }, { caller }) => feed.end(caller, query.all),
        async export({ query }, { caller, reply, signal }) {
          if (!(query.key !== undefined && feed.isKey(query.key))) {
            if (!caller) throw unauthorized()
            if (!mayCall('member', caller)) throw forbidden()
          }
          const { household: house, persons } = household.get()
          reply.header('content-disposition', 'inline; filename="calendar.ics"')
          const out = reply.open('text/calendar; charset=utf-8')
          const exported = { name: house.displayName, timezone: house.timezone, persons }
          await writePieces(out, asICalendar(db, exported, pace), signal)
        },
        subscriptions: () => subscriptions.list(),
        subscribe: ({ body }) => subscriptions.add(body),
        refresh: ({ params }) => subscriptions.refresh(params.id),
        unsubscribe: ({ params }) => subscriptions.remove(params.id),
      }),
    ],
    async start() {
      // Birthdays, and where whole days begin, hang on the household.
      unsubscribe = events.on(householdChanged, () => events.publish(calendarChanged, {}))
      await subscriptions.start()
    },
    async stop() {
      unsubscribe?.()
      await subscriptions.stop()
    },
  }
}
