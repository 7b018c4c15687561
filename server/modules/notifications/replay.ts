import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { Line } from './lines.ts'
import { FRESH_MS, type Looking, type Step } from './looking.ts'
import { isAcknowledged, type NotificationRow, NotificationTable } from './notifications.table.ts'

const SLICE = 50
/** Who acknowledges each at once may send 50 messages a second: after so many they come no faster than that bears. */
const BURST = 500
const PER_SECOND = 40

const slice = (status: 'pending' | 'sent') => `SELECT * FROM (SELECT "id", "seq" FROM "notification" WHERE "deviceId" = ${BOUND_TEXT}
  AND "status" = '${status}' AND "seq" > (? + 0) AND "createdAt" >= ${BOUND_TEXT} ORDER BY "seq" LIMIT ${SLICE})`
const MISSED = `${slice('pending')} UNION ALL ${slice('sent')} ORDER BY "seq" LIMIT ${SLICE}`

export interface ReplayDeps {
  db: Database
  looking: Looking
  onFailed(error: unknown): void
}

/**
 * Sends over a new connection what its device has not acknowledged within the last 7 days, in the order of making, as fast as it is read.
 * The newest number that the device says to have seen does not matter: it may lack older ones, and knows by their ids which it has.
 */
export function createReplay({ db, looking, onFailed }: ReplayDeps) {
  function missedAfter({ deviceId }: Line, seq: number, since: string): { id: string; seq: number }[] {
    const half = [deviceId, seq, since]
    return db.select(MISSED, [...half, ...half])
  }

  /** False once the connection is gone. */
  async function sendOne(line: Line, row: NotificationRow, done: { id: string; step: Step }[]): Promise<boolean> {
    const { isHeld, step } = looking.missed(row)
    const isTaken = isHeld || (await line.send(row))
    if (isTaken) done.push({ id: row.id, step })
    return isTaken
  }

  return async (line: Line): Promise<void> => {
    const since = new Date(Date.now() - FRESH_MS).toISOString() // once: the clock may be set meanwhile
    let sent = 0
    try {
      for (;;) {
        const missed = missedAfter(line, line.cursor ?? 0, since)
        if (missed.length === 0) return
        const done: { id: string; step: Step }[] = []
        let isOpen = true
        for (const { id, seq } of missed) {
          line.cursor = seq
          const row = db.get(NotificationTable, id) // it may have been acknowledged meanwhile, elsewhere
          if (!row || isAcknowledged(row) || line.hasHad(row)) continue
          isOpen = await sendOne(line, row, done)
          if (!isOpen) break
          sent += 1
          if (sent > BURST && sent % PER_SECOND === 0) await wait(1_000, undefined, { ref: false })
        }
        await looking.record(done).catch(onFailed) // they were sent all the same, and are again next time
        if (!isOpen) return
      }
    } finally {
      line.cursor = null
    }
  }
}
