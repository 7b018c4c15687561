import { DateTime } from 'luxon'
import type { CalendarEvent } from './calendar.contract.ts'

const MOST_NAMED = 12

const todayIn = (zone: string) => dayOf(new Date().toISOString(), zone)
const dayOf = (at: string, zone: string) => DateTime.fromISO(at, { zone, locale: 'en' }).startOf('day')

/** “today”, “tomorrow”, or “Tuesday 24 November”, with the year where it is another one. */
function dayWords(day: DateTime, today: DateTime): string {
  const ahead = Math.round(day.diff(today, 'days').days)
  if (ahead === 0) return 'today'
  if (ahead === 1) return 'tomorrow'
  if (ahead === -1) return 'yesterday'
  return day.toFormat(day.year === today.year ? 'cccc d LLLL' : 'cccc d LLLL yyyy')
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
const clock = (at: string, zone: string) => DateTime.fromISO(at, { zone }).toFormat('HH:mm')
const isName = (words: string) => /^(today|tomorrow|yesterday)$/.test(words)

const EVERY: Record<string, string> = { HOURLY: 'hour', DAILY: 'day', WEEKLY: 'week', MONTHLY: 'month', YEARLY: 'year' }

/** “every week”, “every 2 weeks”. */
function often(rule: string): string {
  const unit = EVERY[/FREQ=(\w+)/.exec(rule)?.[1] ?? ''] ?? 'time'
  const interval = Number(/INTERVAL=(\d+)/.exec(rule)?.[1] ?? 1)
  return interval === 1 ? `every ${unit}` : `every ${interval} ${unit}s`
}

/** What was put into the calendar, in a sentence. */
export function eventSentence(event: CalendarEvent, zone: string): string {
  const words = dayWords(dayOf(event.startAt, zone), todayIn(zone))
  const day = isName(words) ? words : `on ${words}`
  const time = event.allDay ? ', all day' : ` at ${clock(event.startAt, zone)}`
  return `${event.title} is ${day}${time}${event.recurrence ? `, ${often(event.recurrence)}` : ''}.`
}

/** What is on, day by day, in a sentence for each. */
export function eventsSentence(events: CalendarEvent[], from: string | undefined, zone: string): string {
  const today = todayIn(zone)
  if (events.length === 0) return 'Nothing is in the calendar then.'
  const since = from === undefined ? today : dayOf(from, zone)
  const days = new Map<number, string[]>()
  for (const event of events.slice(0, MOST_NAMED)) {
    // What began before is told on the first day that was asked about.
    const day = Math.max(dayOf(event.startAt, zone).toMillis(), since.toMillis())
    const name = event.allDay ? event.title : `${event.title} at ${clock(event.startAt, zone)}`
    days.set(day, [...(days.get(day) ?? []), name])
  }
  const sentences = [...days].map(([day, names]) => {
    const words = dayWords(DateTime.fromMillis(day, { zone, locale: 'en' }), today)
    return `${capital(words)}: ${names.join(', ')}.`
  })
  const more = events.length - MOST_NAMED
  return [...sentences, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ')
}
