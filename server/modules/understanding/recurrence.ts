/** How often something comes again; `days` are ISO weekdays, 1 for Monday. */
export interface Recurrence {
  freq: 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'YEARLY'
  interval: number
  days?: readonly number[]
  monthDay?: number
}

const DAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']

/** As the value of an RRULE. */
export function asRule({ freq, interval, days, monthDay }: Recurrence): string {
  const parts = [`FREQ=${freq}`]
  if (interval > 1) parts.push(`INTERVAL=${interval}`)
  if (days) parts.push(`BYDAY=${days.map((day) => DAYS[day - 1]).join(',')}`)
  if (monthDay) parts.push(`BYMONTHDAY=${monthDay}`)
  return parts.join(';')
}
