import { id, integer, table, text, textOrNull } from '../../db/table.ts'

export interface TimerRow {
  id: string
  name: string | null
  kind: 'timer' | 'alarm'
  durationMs: number
  /** What it was set for, by which people name it. */
  setMs: number
  endsAt: string
  pausedAt: string | null
  rangAt: string | null
  /** The device, or the console, at which it was set. */
  deviceId: string
  personId: string | null
  createdAt: string
}
export const TimerTable = table<TimerRow>(
  'timer',
  {
    id,
    name: textOrNull,
    kind: text,
    durationMs: integer,
    setMs: integer,
    endsAt: text,
    pausedAt: textOrNull,
    rangAt: textOrNull,
    deviceId: text,
    personId: textOrNull,
    createdAt: text,
  },
  [{ name: 'timer_next', columns: ['rangAt', 'pausedAt', 'endsAt'] }],
)
