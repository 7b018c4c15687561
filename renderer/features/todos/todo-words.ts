import type { Todo } from '../../../server/modules/todos/todos.contract.ts'
import { t } from '../../messages/messages.ts'
import { dayOf, timeOf, timeText } from '../../messages/zone.ts'
import { shortDay } from '../calendar/day-words.ts'

export const SHOPPING = 'shopping'
/** Lists of things rather than of sentences. */
const THINGS = /^(shopping|groceries|shopping list)$/i
/** What is due on a day without a time of day is due at its last minute. */
export const NO_TIME = '23:59'

/** Lists are one whatever the case of their name; the plain to-dos are the empty one. */
export const listKey = (list: string | undefined): string => (list ?? '').trim().toLowerCase()

export function listTitle(list: string): string {
  if (list === '') return t('todos.plain')
  return listKey(list) === SHOPPING ? t('todos.shopping') : list.charAt(0).toLocaleUpperCase() + list.slice(1)
}

/** What was written in one line: on a shopping list the things between commas, elsewhere one whole. */
export function splitItems(text: string, list: string): string[] {
  const whole = text.replaceAll(/\s+/g, ' ').trim()
  if (!THINGS.test(list.trim())) return whole === '' ? [] : [whole]
  // A comma inside a number, as in 1,5 l, separates nothing.
  return whole
    .split(/[;,，、](?!(?<=\d.)\d)/u)
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** Soonest first, then those without a time in the order in which they were written. */
export const bySoonest = (a: Todo, b: Todo): number =>
  (a.dueAt ?? '9').localeCompare(b.dueAt ?? '9') || a.createdAt.localeCompare(b.createdAt)

export function momentWords(at: string, zone: string, now: number): string {
  const day = shortDay(dayOf(at, zone), dayOf(now, zone))
  return timeOf(at, zone) === NO_TIME ? day : t('todos.at', day, timeText(at, zone))
}

/** When it is or was due; null for what has no time. */
export function dueWords({ dueAt }: Todo, zone: string, now: number): { text: string; late: boolean } | null {
  if (!dueAt) return null
  const late = Date.parse(dueAt) < now
  const when = momentWords(dueAt, zone, now)
  return { text: late ? t('todos.overdue', when) : t('todos.due', when), late }
}
