import { t } from '../../messages/messages.ts'
import { type Day, dayOf, daysBetween, dayText } from '../../messages/zone.ts'
import { type Repeat, type RepeatKind, readRepeat, repeats } from './repeat.ts'
import { ruleWords } from './rule-words.ts'

const WEEK = 7

/** "Today", "Tomorrow", "Yesterday", else the day with its weekday, and the year where it is another. */
export function dayWords(day: Day, today: Day): string {
  const distance = daysBetween(today, day)
  if (distance === 0) return t('day.today')
  if (distance === 1) return t('day.tomorrow')
  if (distance === -1) return t('day.yesterday')
  return fullDay(day, today)
}

/** The day with its weekday, and the year where it is not this one. */
export const fullDay = (day: Day, today: Day): string =>
  dayText(day, { weekday: 'long', day: 'numeric', month: 'long', ...(day.slice(0, 4) === today.slice(0, 4) ? {} : { year: 'numeric' }) })

/** As short as it stays clear: "today", "tomorrow", a weekday within the week, else the date. */
export function shortDay(day: Day, today: Day): string {
  const distance = daysBetween(today, day)
  if (distance === 0) return t('day.todayIn')
  if (distance === 1) return t('day.tomorrowIn')
  if (distance === -1) return t('day.yesterdayIn')
  if (distance > 0 && distance < WEEK) return dayText(day, { weekday: 'long' })
  return dayText(day, { day: 'numeric', month: 'short', ...(day.slice(0, 4) === today.slice(0, 4) ? {} : { year: 'numeric' }) })
}

export const repeatLabel = (kind: Exclude<RepeatKind, 'other'>): string => t(`repeat.${kind}`)

/** The kinds for a form; a rule that was made elsewhere stays choosable. */
export const repeatOptions = (own: RepeatKind): { value: RepeatKind; label: string }[] => [
  ...repeats.map((kind) => ({ value: kind as RepeatKind, label: repeatLabel(kind) })),
  ...(own === 'other' ? [{ value: 'other' as const, label: t('repeat.other') }] : []),
]

const saidUntil = (often: string | null, until: Day | null): string => {
  if (often === null) return t('repeat.otherIs')
  return until ? t('repeat.until', often, dayText(until, { day: 'numeric', month: 'long', year: 'numeric' })) : often
}

/** How something repeats as a form has it; empty for what happens once. */
export function sayRepeat({ kind, until, rule = '' }: Repeat): string {
  if (kind === 'none') return ''
  return saidUntil(kind === 'other' ? ruleWords(rule) : repeatLabel(kind), until)
}

/** A rule in words, the same for each of its occurrences; empty for what happens once. */
export function repeatWords(rule: string | undefined, startAt: string, zone: string): string {
  return rule ? saidUntil(ruleWords(rule), readRepeat(rule, dayOf(startAt, zone), zone).until) : ''
}
