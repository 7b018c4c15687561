import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { EventBus } from '../kit/events.ts'
import type { GuardedFetch } from '../kit/guarded-fetch.ts'
import type { Logger } from '../kit/log.ts'
import type { Module } from '../kit/module.ts'
import { createPace } from '../kit/pace.ts'
import type { Greeting } from '../kit/socket-message.ts'
import type { SocketRegistry } from '../kit/socket-registry.ts'
import { createCalendar } from '../modules/calendar/calendar.module.ts'
import { createCalendarService } from '../modules/calendar/calendar.service.ts'
import { createFeedService } from '../modules/calendar/feed.service.ts'
import { createSubscriptionsService } from '../modules/calendar/subscriptions.service.ts'
import type { HouseholdService } from '../modules/household/household.service.ts'
import { createButtons } from '../modules/notifications/buttons.ts'
import { createDelivery } from '../modules/notifications/delivery.ts'
import { createNotifications } from '../modules/notifications/notifications.module.ts'
import { createNotificationsService } from '../modules/notifications/notifications.service.ts'
import { createRetention } from '../modules/notifications/retention.ts'
import type { PairedDevicesService } from '../modules/paired-devices/paired-devices.service.ts'
import { createPush } from '../modules/push/push.module.ts'
import { createPushTokensService } from '../modules/push/push-tokens.service.ts'
import { createPushers } from '../modules/push/pushers.ts'
import { createVapidKeys } from '../modules/push/vapid-keys.ts'
import type { SettingsService } from '../modules/settings/settings.service.ts'
import { createRinging } from '../modules/timers/ringing.ts'
import { createTimers } from '../modules/timers/timers.module.ts'
import { createTimersService } from '../modules/timers/timers.service.ts'
import { createReminders } from '../modules/todos/reminders.ts'
import { createTodos } from '../modules/todos/todos.module.ts'
import { createTodosService } from '../modules/todos/todos.service.ts'
import type { Secrets } from '../secrets.ts'

interface DailyLifeDeps {
  env: Config['env']
  secrets: Secrets
  db: Database
  events: EventBus
  sockets: SocketRegistry
  household: HouseholdService
  settings: SettingsService
  devices: PairedDevicesService
  /** Where devices reach this Hearth, best first. */
  addresses(): string[]
  /** Fetches from the internet alone, and from the home too. */
  guardedFetch: GuardedFetch
  homeFetch: GuardedFetch
  log: Logger
  onWriteFailed(error: unknown): void
}

/** What people plan and what reaches them: notifications, push, calendar, to-dos, timers. */
export function createDailyLife({
  db,
  events,
  sockets,
  household,
  settings,
  devices,
  homeFetch,
  log,
  onWriteFailed,
  ...deps
}: DailyLifeDeps) {
  const vapid = createVapidKeys({ secrets: deps.secrets, publicUrl: settings.publicUrl })
  const pushTokens = createPushTokensService({ db })
  const pushers = createPushers({
    env: deps.env,
    vapid,
    fetch: deps.guardedFetch,
    homeFetch,
    onDeadToken: (device) => void pushTokens.forget(device).catch(onWriteFailed),
    log,
  })
  const delivery = createDelivery({ db, household, sockets, events, pushers, onFailed: onWriteFailed })
  devices.onReachChanged((deviceId) => void delivery.lookAgain(deviceId).catch(onWriteFailed))
  const notifications = createNotificationsService({ db, household, events, deliver: delivery.deliver, onWriteFailed })
  household.onPersonRemoved(notifications.forgetPerson)
  const pace = createPace()
  const calendar = createCalendarService({ db, household, events, pace })
  const feed = createFeedService({ db, household, addresses: deps.addresses })
  const subscriptions = createSubscriptionsService({ db, household, events, fetch: homeFetch, onFailed: onWriteFailed })
  const reminders = createReminders({ db, household, notifications, onFailed: onWriteFailed })
  const todos = createTodosService({ db, household, events, reminders, settle: notifications.settleReminders })
  const press = createButtons({ notifications, todos, events })
  const ringing = createRinging({ db, household, notifications, events, onFailed: onWriteFailed })
  const timers = createTimersService({ db, notifications, events, ringing })

  const modules: Module[] = [
    createPush({ pushers, tokens: pushTokens, vapid }),
    createNotifications({ notifications, delivery, press, household, events, prune: createRetention(db), onWriteFailed }),
    createCalendar({ calendar, feed, subscriptions, household, db, events, pace }),
    createTodos({ todos, household, reminders, reaches: notifications.reaches }),
    createTimers({ timers, household, ringing }),
  ]

  return {
    modules,
    notifications,
    todos,
    timers,
    /** What happens when a client of the socket says hello. */
    greeting: {
      ...delivery.greeting,
      welcomed(caller, ...rest) {
        if (caller.kind === 'device') devices.came(caller.deviceId)
        return delivery.greeting.welcomed(caller, ...rest)
      },
    } satisfies Greeting,
  }
}
