import { fromWall, toWall } from '../../kit/recurrence.ts'
import type { QuietHours } from '../paired-devices/paired-devices.contract.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

/** When the quiet that reigns at `now` ends, both in milliseconds since 1970; null where none does. Hours from a time to itself are none. */
export function quietUntil({ from, to }: QuietHours, zone: string, now: number): number | null {
  const [start, end] = [minutesOf(from), minutesOf(to)]
  const wall = toWall(new Date(now).toISOString(), zone)
  const minute = wall.getUTCHours() * 60 + wall.getUTCMinutes()
  const isQuiet = start <= end ? minute >= start && minute < end : minute >= start || minute < end
  if (!isQuiet) return null
  const midnight = Math.floor(wall.getTime() / DAY_MS) * DAY_MS
  const endWall = midnight + end * MINUTE_MS + (end > minute ? 0 : DAY_MS)
  const at = Date.parse(fromWall(new Date(endWall), zone))
  if (at > now) return at
  // In an hour that the clocks go through twice the end may have been in the first pass.
  const again = at + HOUR_MS
  return again > now && toWall(new Date(again).toISOString(), zone).getTime() === endWall ? again : now + MINUTE_MS
}
