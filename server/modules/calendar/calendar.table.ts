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
  /** After the last occurrence; null where it recurs for ever. */
  lastEndAt: string | null
  /** Null for the household's own; else whose events are replaced at each refresh. */
  subscriptionId: string | null
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
    createdAt: text,
    updatedAt: text,
  },
  [
    { name: 'calendar_event_start', columns: ['startAt'] },
    { name: 'calendar_event_end', columns: ['lastEndAt'] },
    { name: 'calendar_event_subscription', columns: ['subscriptionId'] },
  ],
  [
    {
      name: 'calendar_event_subscription_fk',
      columnNames: ['subscriptionId'],
      target: 'calendar_subscription',
      referencedColumnNames: ['id'],
      onDelete: 'CASCADE',
    },
  ],
)

export interface SubscriptionRow {
  id: string
  name: string
  url: string
  refreshedAt: string | null
  error: string | null
  events: number
  createdAt: string
}
export const SubscriptionTable = table<SubscriptionRow>('calendar_subscription', {
  id,
  name: text,
  url: text,
  refreshedAt: textOrNull,
  error: textOrNull,
  events: integer,
  createdAt: text,
})

export interface FeedRow {
  id: string
  keyHash: string
  createdAt: string
}
export const FeedTable = table<FeedRow>('calendar_feed', { id, keyHash: text, createdAt: text })
