import { setTimeout as wait } from 'node:timers/promises'
import type { Database, Transaction } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { EventBus } from '../../kit/events.ts'
import { PairedDeviceTable } from '../paired-devices/paired-devices.table.ts'
import { messageOf } from './lines.ts'
import { notificationChanged } from './notifications.contract.ts'
import { isAcknowledged, type NotificationRow, NotificationTable } from './notifications.table.ts'
import type { Pushers, PushOutcome, PushTarget } from './pushers.ts'
import { createTurns } from './turns.ts'

/** How long after which try the next comes; after the last of these, hourly. */
const BACKOFF_MS = [10_000, 60_000, 300_000, 1_800_000]
const HOUR_MS = 3_600_000
/** Under way to one provider at a time; to one device there is only ever one. */
const PER_PROVIDER = 16
/** A gateway adapter has limits of its own; one that forgets them does not hold up anything for ever. */
const LIMIT_MS = 30_000

const POSTPONE = `UPDATE "notification" SET "attemptAt" = ?
  WHERE "deviceId" = ${BOUND_TEXT} AND "attemptAt" > 0 AND "attemptAt" <= (? + 0) AND "status" IN ('pending', 'sent')`

export interface PushingDeps {
  db: Database
  pushers: Pushers
  events: EventBus
  onFailed(error: unknown): void
}

/** Hands notifications to the gateways and writes down what came of it. */
export function createPushing({ db, pushers, events, onFailed }: PushingDeps) {
  const providers = new Map<string, ReturnType<typeof createTurns>>()
  /** What a gateway said and could not be written down yet: it is not asked again. */
  const unwritten = new Map<string, PushOutcome>()
  /** How often in a row nothing went out to a device. */
  const failures = new Map<string, number>()

  function inTurn(provider: string): ReturnType<typeof createTurns> {
    const turns = providers.get(provider) ?? createTurns(PER_PROVIDER)
    providers.set(provider, turns)
    return turns
  }

  async function ask(target: PushTarget, row: NotificationRow): Promise<PushOutcome> {
    const limit = new AbortController()
    const tooLong = wait(LIMIT_MS, 'retry' as const, { ref: false, signal: limit.signal }).catch(() => 'retry' as const) // cut short, when the answer has come
    const answer = pushers.push(target, messageOf(row)).catch((error: unknown) => {
      onFailed(error)
      return 'retry' as const
    })
    return Promise.race([answer, tooLong]).finally(() => limit.abort())
  }

  const afterTries = (tries: number): number => BACKOFF_MS[tries - 1] ?? HOUR_MS

  function wentOut(tx: Transaction, row: NotificationRow): void {
    const at = new Date().toISOString()
    const isNews = row.status === 'pending'
    tx.update(NotificationTable, row.id, { pushedAt: at, attemptAt: null, ...(isNews && { status: 'sent', sentAt: at }) })
    const { id, deviceId } = row
    if (isNews) tx.afterCommit(() => events.publish(notificationChanged, { id, deviceId, status: 'sent' }))
  }

  /** Whatever else of the device is due waits as long, and then comes first: one that no gateway takes holds up no other. */
  function postpone(tx: Transaction, row: NotificationRow): void {
    if (isAcknowledged(row)) return
    const failed = failures.get(row.deviceId) ?? 1
    const pushTries = row.pushTries + 1
    const now = Date.now()
    tx.run(POSTPONE, [now + afterTries(failed), row.deviceId, now])
    tx.update(NotificationTable, row.id, { pushTries, attemptAt: now + afterTries(Math.max(failed, pushTries)) + 1 })
  }

  function forgetToken(tx: Transaction, row: NotificationRow, { id, push }: PushTarget): void {
    const known = db.get(PairedDeviceTable, id)?.push
    const isSame = known?.token === push.token && known.provider === push.provider
    if (isSame) tx.update(PairedDeviceTable, id, { push: null })
    // A device that has another by now is reached by that.
    tx.update(NotificationTable, row.id, { attemptAt: known && !isSame && !isAcknowledged(row) ? Date.now() : null })
  }

  /** Pushes one, unless that is no longer wanted; false where the gateway asks to wait. */
  return async (id: string, isWanted: () => boolean): Promise<boolean> => {
    const device = db.get(PairedDeviceTable, db.get(NotificationTable, id)?.deviceId ?? '')
    if (!device?.push) return true
    const target = { id: device.id, push: device.push }
    return inTurn(device.push.provider)(async () => {
      const row = db.get(NotificationTable, id) // its turn may have come late
      if (!row || isAcknowledged(row) || row.pushedAt !== null || !isWanted()) return true
      const outcome = unwritten.get(id) ?? (await ask(target, row))
      if (outcome === 'retry') failures.set(device.id, (failures.get(device.id) ?? 0) + 1)
      else {
        failures.delete(device.id)
        unwritten.set(id, outcome)
      }
      await db.write((tx) => {
        const now = db.get(NotificationTable, id)
        if (!now) return
        if (outcome === 'sent') wentOut(tx, now)
        else if (outcome === 'retry') postpone(tx, now)
        else forgetToken(tx, now, target)
      })
      unwritten.delete(id)
      return outcome !== 'retry'
    })
  }
}
export type Pushing = ReturnType<typeof createPushing>
