import { id, integer, table, text, textOrNull } from '../../db/table.ts'

export interface CalendarEventRow {
  id: string
  title: string
  startAt: string
  endAt: string
  allDay: boolean
  location: string | null
  notes: string | null
  personId: string | null
  recurrence: string | null
  /** Zone in which the recurrence is counted. */
  timezone: string
  /** Starts of occurrences that were taken out. */
  excluded: string[]
  /** Not before the end of the last occurrence; null where it recurs for ever. */
  lastEndAt: string | null
  /** Null for the household’s own. */
  subscriptionId: string | null
  /** Of a subscription’s events those of its own generation are seen; 0 for the household’s own. */
  generation: number
  createdAt: string
  updatedAt: string
}
export const CalendarEventTable = table<CalendarEventRow>(
  'calendar_event',
  {
    id,
    title: text,
    startAt: text,
    endAt: text,
    allDay: { type: 'boolean' },
    location: textOrNull,
    notes: textOrNull,
    personId: textOrNull,
    recurrence: textOrNull,
    timezone: text,
    excluded: { type: 'simple-json' },
    lastEndAt: textOrNull,
    subscriptionId: textOrNull,
    generation: integer,
    createdAt: text,
    updatedAt: text,
  },
  [
    { name: 'calendar_event_start', columns: ['startAt'] },
    { name: 'calendar_event_series', columns: ['startAt'], where: '"recurrence" IS NOT NULL' },
    { name: 'calendar_event_owner', columns: ['subscriptionId', 'id'] },
  ],
)

export interface SubscriptionRow {
  id: string
  name: string
  url: string
  refreshedAt: string | null
  error: string | null
  events: number
  /** Counts up whenever its events are exchanged. */
  generation: number
  /** Of what was read last, so that the same again changes nothing. */
  digest: string | null
  etag: string | null
  lastModified: string | null
  /** Refreshes that failed since the last good one. */
  failures: number
  refreshAt: string
  createdAt: string
}
export const SubscriptionTable = table<SubscriptionRow>('calendar_subscription', {
  id,
  name: text,
  url: text,
  refreshedAt: textOrNull,
  error: textOrNull,
  events: integer,
  generation: integer,
  digest: textOrNull,
  etag: textOrNull,
  lastModified: textOrNull,
  failures: integer,
  refreshAt: text,
  createdAt: text,
})

export interface FeedRow {
  /** Whose it is: a person's id, or a shared device's. */
  id: string
  keyHash: string
  createdAt: string
}
export const FeedTable = table<FeedRow>('calendar_feed', { id, keyHash: text, createdAt: text })
