import type { Database, Transaction } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { EventBus } from '../../kit/events.ts'
import { spokenDuration, spokenTime } from '../../kit/spoken-time.ts'
import { createWakeUp, type WakeUp } from '../../kit/wake-up.ts'
import type { HouseholdService } from '../household/household.service.ts'
import type { NotificationsService } from '../notifications/notifications.service.ts'
import { timerChanged } from './timers.contract.ts'
import { type TimerRow, TimerTable } from './timers.table.ts'

export interface RingingDeps {
  db: Database
  household: HouseholdService
  notifications: NotificationsService
  events: EventBus
  onFailed(error: unknown): void
}

/** One that rang stays for so long. */
const KEPT_MS = 3_600_000
/** From when on a late ring says so. */
const LATE_MS = 60_000
const SLICE = 20

const NEXT = `SELECT "endsAt" FROM "timer" WHERE "rangAt" IS NULL AND "pausedAt" IS NULL ORDER BY "endsAt" LIMIT 1`
const OLDEST = `SELECT "rangAt" FROM "timer" WHERE "rangAt" > '' ORDER BY "rangAt" LIMIT 1`
const DUE = `SELECT * FROM "timer" WHERE "rangAt" IS NULL AND "pausedAt" IS NULL AND "endsAt" <= ${BOUND_TEXT} ORDER BY "endsAt" LIMIT ${SLICE}`
const OVER = `SELECT "id" FROM "timer" WHERE "rangAt" > '' AND "rangAt" <= ${BOUND_TEXT} ORDER BY "rangAt" LIMIT ${SLICE}`

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Rings timers and alarms: the notification is made and the ringing written down in one write, so that each rings once. */
export function createRinging({ db, household, notifications, events, onFailed }: RingingDeps): WakeUp {
  const place = () => household.get().household

  function titleOf({ kind, name, durationMs, endsAt }: TimerRow): string {
    if (name !== null) return new RegExp(`\\b(?:${kind}|timer|alarm)$`, 'i').test(name) ? capital(name) : `${capital(name)} ${kind}`
    return kind === 'alarm' ? `Alarm: ${spokenTime(endsAt, place())}` : `Timer: ${spokenDuration(durationMs)}`
  }

  function ringOne(tx: Transaction, row: TimerRow, now: number): void {
    const { id, deviceId, endsAt } = row
    const isLate = now - Date.parse(endsAt) > LATE_MS
    tx.update(TimerTable, id, { rangAt: new Date(now).toISOString() })
    notifications.add(tx, {
      title: titleOf(row),
      body: isLate ? `It ended at ${spokenTime(endsAt, place())}, while Hearth was away.` : 'Time is up.',
      level: 'warning',
      category: 'TIMER',
      data: { timerId: id },
      dedupeKey: `timer:${id}:${endsAt}`,
      target: notifications.hasDevice(deviceId) ? { deviceId } : 'members',
    })
    tx.afterCommit(() => events.publish(timerChanged, { id, state: 'rang' }))
  }

  function removeOver(tx: Transaction, now: number): void {
    for (const { id } of db.select<{ id: string }>(OVER, [new Date(now - KEPT_MS).toISOString()])) {
      tx.remove(TimerTable, { id })
      tx.afterCommit(() => events.publish(timerChanged, { id, state: 'removed' }))
    }
  }

  return createWakeUp({
    nextAt() {
      const next = db.select<{ endsAt: string }>(NEXT)[0]
      const oldest = db.select<{ rangAt: string }>(OLDEST)[0]
      const times = [next && Date.parse(next.endsAt), oldest && Date.parse(oldest.rangAt) + KEPT_MS].filter((at) => at !== undefined)
      return times.length > 0 ? Math.min(...times) : null
    },
    ring: () =>
      db.write((tx) => {
        const now = Date.now()
        for (const row of db.select<TimerRow>(DUE, [new Date(now).toISOString()])) ringOne(tx, row, now)
        removeOver(tx, now)
      }),
    onFailed,
  })
}
