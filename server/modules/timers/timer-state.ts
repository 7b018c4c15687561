import type { Timer } from './timers.contract.ts'
import type { TimerRow } from './timers.table.ts'

const iso = (ms: number) => new Date(ms).toISOString()

/** The time left at `now`, in milliseconds; 0 once it rang. */
export function remainingOf({ endsAt, pausedAt, rangAt }: TimerRow, now: number): number {
  if (rangAt !== null) return 0
  return Math.max(0, Date.parse(endsAt) - (pausedAt === null ? now : Date.parse(pausedAt)))
}

/** A row as it is told at `now`. */
export function toTimer(row: TimerRow, now = Date.now()): Timer {
  const { id, name, kind, durationMs, endsAt, pausedAt, rangAt, deviceId, createdAt } = row
  const remainingMs = remainingOf(row, now)
  return {
    id,
    ...(name !== null && { name }),
    kind,
    durationMs,
    endsAt: pausedAt === null ? endsAt : iso(now + remainingMs),
    ...(pausedAt !== null && { pausedAt }),
    remainingMs,
    ...(rangAt !== null && { rangAt }),
    deviceId,
    createdAt,
  }
}

/** Holds it, or lets it go on with what was left. */
export function paused(row: TimerRow, isPaused: boolean, now: number): TimerRow {
  if (row.rangAt !== null || isPaused === (row.pausedAt !== null)) return row
  if (isPaused) return { ...row, pausedAt: iso(now) }
  return { ...row, pausedAt: null, endsAt: iso(now + remainingOf(row, now)) }
}

/** More time, or less; one that rang runs again for what it is given. With none left it rings at once, or, while paused, once it goes on. */
export function withMore(row: TimerRow, addMs: number, now: number): TimerRow {
  if (row.rangAt !== null && addMs <= 0) return row
  const base = row.rangAt === null ? row : { ...row, rangAt: null, pausedAt: null, endsAt: iso(now) }
  const added = Math.max(addMs, -remainingOf(base, now))
  const endsAt = Date.parse(base.endsAt) + added
  return { ...base, endsAt: iso(endsAt), durationMs: Math.max(0, base.durationMs + added) }
}
