import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../db/database.ts'
import type { Caller } from '../../kit/caller.ts'
import { conflict, forbidden, invalid, notFound } from '../../kit/errors.ts'
import type { EventBus } from '../../kit/events.ts'
import type { WakeUp } from '../../kit/wake-up.ts'
import type { NotificationsService } from '../notifications/notifications.service.ts'
import { PairedDeviceTable } from '../paired-devices/paired-devices.table.ts'
import { paused, remainingOf, toTimer, withMore } from './timer-state.ts'
import { MAX_MS, type Timer, timerChanged } from './timers.contract.ts'
import { type TimerRow, TimerTable } from './timers.table.ts'

export interface TimersDeps {
  db: Database
  notifications: NotificationsService
  events: EventBus
  ringing: WakeUp
}

export interface NewTimer {
  name?: string | undefined
  durationMs?: number | undefined
  /** For an alarm; beside a duration it has to be when that is over. */
  endsAt?: string | undefined
  /** Here unless stated. */
  deviceId?: string | undefined
}

export interface TimerChanges {
  name?: string | undefined
  paused?: boolean | undefined
  addMs?: number | undefined
}

/** A timer with whose it is: the person's who set it, else the shared device's. */
export interface OwnedTimer {
  timer: Timer
  personId: string | null
  /** Of the device at which it was set; null where that is gone, or the console. */
  deviceName: string | null
  /** What it was set for. */
  setMs: number
}

/** More than a household has in hand, few enough to be listed whole. */
const MAX_TIMERS = 200
/** So far two clocks may be apart. */
const AGREE_MS = 60_000

export type TimersService = ReturnType<typeof createTimersService>

/** Timers and alarms of the whole house. */
export function createTimersService({ db, notifications, events, ringing }: TimersDeps) {
  function mustGet(id: string): TimerRow {
    const row = db.get(TimerTable, id)
    if (!row) throw notFound('This timer')
    return row
  }

  function changed(tx: Transaction, id: string, state: 'set' | 'changed' | 'removed'): void {
    tx.afterCommit(() => {
      events.publish(timerChanged, { id, state })
      ringing.rearm()
    })
  }

  /** How long it runs from `now`. Throws 400. */
  function durationOf({ durationMs, endsAt }: NewTimer, now: number): number {
    if (durationMs !== undefined) {
      if (endsAt !== undefined && Math.abs(Date.parse(endsAt) - now - durationMs) > AGREE_MS)
        throw invalid([{ path: 'body.endsAt', message: 'is not when durationMs is over; one of the two is enough' }])
      return durationMs
    }
    if (endsAt === undefined) throw invalid([{ path: 'body.durationMs', message: 'or endsAt is needed' }])
    const left = Date.parse(endsAt) - now
    if (left <= 0 || left > MAX_MS) throw invalid([{ path: 'body.endsAt', message: left <= 0 ? 'is over' : 'is more than a year away' }])
    return left
  }

  /** Throws 403 for another’s device, 404 for none. */
  function placeOf({ deviceId, scope }: Caller, wanted: string | undefined): string {
    if (wanted === undefined || wanted === deviceId) return deviceId
    if (scope !== 'admin') throw forbidden('Only an admin sets a timer for another device.')
    if (!notifications.hasDevice(wanted)) throw notFound('This device')
    return wanted
  }

  function changedBy(row: TimerRow, { name, paused: isPaused, addMs = 0 }: TimerChanges): TimerRow {
    const now = Date.now()
    if (isPaused === true && row.kind === 'alarm')
      throw conflict('conflict', 'An alarm rings at its time and cannot be paused; it can be cancelled.')
    let after: TimerRow = name === undefined ? row : { ...row, name: name || null }
    if (addMs !== 0) after = withMore(after, addMs, now)
    if (remainingOf(after, now) > MAX_MS) throw invalid([{ path: 'body.addMs', message: 'is more than a year' }])
    return isPaused === undefined ? after : paused(after, isPaused, now)
  }

  const owned = (row: TimerRow, now: number): OwnedTimer => ({
    timer: toTimer(row, now),
    personId: row.personId,
    deviceName: db.get(PairedDeviceTable, row.deviceId)?.name ?? null,
    setMs: row.setMs,
  })

  const rank = ({ rangAt, pausedAt }: Timer) => (rangAt ? 2 : pausedAt ? 1 : 0)
  const inOrder = (a: Timer, b: Timer) => rank(a) - rank(b) || (a.endsAt < b.endsAt ? -1 : 1)

  return {
    /** The next to ring first, then what is paused, then what rang. */
    list(): Timer[] {
      const now = Date.now()
      return db
        .find(TimerTable)
        .map((row) => toTimer(row, now))
        .toSorted(inOrder)
    },

    /** The same with whose they are. */
    listOwned(): OwnedTimer[] {
      const now = Date.now()
      return db
        .find(TimerTable)
        .map((row) => owned(row, now))
        .toSorted((a, b) => inOrder(a.timer, b.timer))
    },

    /** Throws 404. */
    getOwned: (id: string): OwnedTimer => owned(mustGet(id), Date.now()),

    /** Throws 400 without a time or for one that is over, 403 for another’s device, 409 when there are too many. */
    async create(caller: Caller, timer: NewTimer): Promise<Timer> {
      const now = Date.now()
      const durationMs = durationOf(timer, now)
      const row: TimerRow = {
        id: randomUUID(),
        name: timer.name || null,
        kind: timer.durationMs === undefined ? 'alarm' : 'timer',
        durationMs,
        setMs: durationMs,
        endsAt: new Date(now + durationMs).toISOString(),
        pausedAt: null,
        rangAt: null,
        deviceId: placeOf(caller, timer.deviceId),
        personId: caller.personId,
        createdAt: new Date(now).toISOString(),
      }
      await db.write((tx) => {
        if (db.find(TimerTable, {}, { limit: MAX_TIMERS }).length === MAX_TIMERS)
          throw conflict('too_many', `There are ${MAX_TIMERS} timers already; cancel some first.`)
        tx.insert(TimerTable, row)
        changed(tx, row.id, 'set')
      })
      return toTimer(row)
    },

    /** Throws 404, 400 for more than a year, 409 for pausing an alarm. With no time left one that runs rings at once; time for one that rang starts it again. */
    async update(id: string, changes: TimerChanges): Promise<Timer> {
      await db.write((tx) => {
        const row = mustGet(id)
        const after = changedBy(row, changes)
        if (after === row) return
        tx.update(TimerTable, id, after)
        changed(tx, id, 'changed')
      })
      return toTimer(mustGet(id))
    },

    /** Throws 404. */
    async remove(id: string): Promise<Timer> {
      return db.write((tx) => {
        const row = mustGet(id)
        tx.remove(TimerTable, { id })
        changed(tx, id, 'removed')
        return toTimer(row)
      })
    },
  }
}
