import type { Database, Transaction } from '../../db/database.ts'
import type { EventBus } from '../../kit/events.ts'
import type { SocketRegistry } from '../../kit/socket-registry.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { type PairedDeviceRow, PairedDeviceTable } from '../paired-devices/paired-devices.table.ts'
import type { Lines } from './lines.ts'
import { notificationChanged } from './notifications.contract.ts'
import { isAcknowledged, type NotificationRow, NotificationTable } from './notifications.table.ts'
import { quietUntil } from './quiet-hours.ts'

/** A device that was sent one and says nothing for so long is sent a push as well. */
export const ACK_MS = 10_000
/** Nothing is left unlooked at for longer, so that a clock that was set keeps nothing back for long. */
export const LONGEST_MS = 3_600_000
/** Older ones are brought to nobody any more. */
export const FRESH_MS = 7 * 86_400_000
/** A connection says hello within 2 s, and is then told what it missed. */
const HELLO_MS = 3_000

/** What becomes of a notification now: where it stands and when it is looked at next; or it is to be pushed. */
export type Step = { isSent: boolean; attemptAt: number | null } | 'push'

export interface LookingDeps {
  db: Database
  household: HouseholdService
  sockets: SocketRegistry
  lines: Lines
  events: EventBus
}

/** Decides how a notification reaches its device, and writes down what was done. */
export function createLooking({ db, household, sockets, lines, events }: LookingDeps) {
  const deviceOf = ({ deviceId }: NotificationRow) => db.get(PairedDeviceTable, deviceId)
  const isPushed = (row: NotificationRow, device: PairedDeviceRow | undefined) => Boolean(device?.push) && row.pushedAt === null
  const onItsWay = (row: NotificationRow, device: PairedDeviceRow | undefined, now: number) => ({
    isSent: true,
    attemptAt: isPushed(row, device) ? now + ACK_MS : null,
  })

  function held(row: NotificationRow, device: PairedDeviceRow | undefined, now: number): Exclude<Step, 'push'> | null {
    if (row.urgent || !device?.quietHours) return null
    const until = quietUntil(device.quietHours, household.get().household.timezone, now)
    return until === null ? null : { isSent: false, attemptAt: Math.min(until, now + LONGEST_MS) }
  }

  /** Where no connection of the device needs it: a push, later or never. */
  function withoutLine(row: NotificationRow, device: PairedDeviceRow | undefined, now: number): Step {
    if (!isPushed(row, device)) return { isSent: false, attemptAt: null }
    if (row.status === 'pending' && sockets.isConnected(row.deviceId)) return { isSent: false, attemptAt: now + HELLO_MS }
    // By a clock that is wrong everything can look old: it is left alone, not given up.
    return now - Date.parse(row.createdAt) > FRESH_MS ? { isSent: false, attemptAt: now + LONGEST_MS } : 'push'
  }

  /** Sends it over connections that have not had it, unless it is held back. */
  function stepOf(row: NotificationRow, now: number): Step {
    if (isAcknowledged(row)) return { isSent: false, attemptAt: null }
    const device = deviceOf(row)
    const isHeld = held(row, device, now)
    if (isHeld) return isHeld
    const offer = lines.offer(row)
    if (offer === 'coming') return { isSent: false, attemptAt: isPushed(row, device) ? now + ACK_MS : null }
    if (offer === 'taken' || (offer === 'had' && row.status === 'pending')) return onItsWay(row, device, now)
    return withoutLine(row, device, now)
  }

  function write(tx: Transaction, id: string, { isSent, attemptAt }: Exclude<Step, 'push'>): void {
    const row = db.get(NotificationTable, id)
    // The device may have answered before this is written.
    if (!row || isAcknowledged(row)) return
    const isNews = isSent && row.status === 'pending'
    if (!isNews && row.attemptAt === attemptAt) return
    tx.update(NotificationTable, id, { attemptAt, ...(isNews && { status: 'sent', sentAt: new Date().toISOString() }) })
    if (isNews) tx.afterCommit(() => events.publish(notificationChanged, { id, deviceId: row.deviceId, status: 'sent' }))
  }

  async function record(steps: readonly { id: string; step: Step }[]): Promise<void> {
    if (steps.every(({ step }) => step === 'push')) return
    await db.write((tx) => {
      for (const { id, step } of steps) if (step !== 'push') write(tx, id, step)
    })
  }

  return {
    record,

    /** What is done about one that a connection missed: held back, or sent over it now. */
    missed(row: NotificationRow): { isHeld: boolean; step: Exclude<Step, 'push'> } {
      const device = deviceOf(row)
      const now = Date.now()
      const isHeld = held(row, device, now)
      return isHeld ? { isHeld: true, step: isHeld } : { isHeld: false, step: onItsWay(row, device, now) }
    },

    /** Sends what can be sent; answers those that are to be pushed. */
    async look(rows: readonly NotificationRow[]): Promise<NotificationRow[]> {
      const now = Date.now()
      const steps = rows.map((row) => ({ id: row.id, row, step: stepOf(row, now) }))
      await record(steps)
      return steps.filter(({ step }) => step === 'push').map(({ row }) => row)
    },
  }
}
export type Looking = ReturnType<typeof createLooking>
