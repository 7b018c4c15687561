import { setImmediate as turn } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'

const DAY_MS = 86_400_000
const KEPT_MS = 30 * DAY_MS
/** What waits for a person who has no device yet is kept for a year. */
const WAITS_LONGER_MS = 335 * DAY_MS
const SLICE = 200

/** Seldom true of anything but a clock that was set: wall and steady clock differ by so much since the last look. */
const JUMP_MS = DAY_MS

interface Ages {
  total: number
  old: number
  newestAt: string | null
}

const COUNT = `SELECT (SELECT COUNT(*) FROM "notification") AS "total", (SELECT COUNT(*) FROM "notification" WHERE "createdAt" < ?) AS "old",
  (SELECT "createdAt" FROM "notification" ORDER BY "seq" DESC LIMIT 1) AS "newestAt"`
// The newest stays, however old: the numbers go on from it.
const REMOVE = `DELETE FROM "notification" WHERE "id" IN (SELECT "id" FROM "notification"
  WHERE "createdAt" < ? AND ("createdAt" < ? OR "deviceId" NOT IN (SELECT "id" FROM "person"))
  AND "seq" < (SELECT MAX("seq") FROM "notification") ORDER BY "createdAt" LIMIT ${SLICE})`

/**
 * Removes notifications older than 30 days, in slices; those that wait for somebody without a device once they are a year old. After a
 * start, or a jump of the clock, a look that would take more than half of all goes by the time of the newest instead: the clock may be wrong.
 */
export function createRetention(db: Database) {
  let last: { wallMs: number; steadyMs: number } | null = null

  function isClockTrusted(): boolean {
    const now = { wallMs: Date.now(), steadyMs: performance.now() }
    const before = last
    last = now
    return before !== null && Math.abs(now.wallMs - before.wallMs - (now.steadyMs - before.steadyMs)) < JUMP_MS
  }

  function cutoff(): string {
    const trusted = isClockTrusted()
    const byClock = new Date(Date.now() - KEPT_MS).toISOString()
    const { total, old, newestAt } = db.select<Ages>(COUNT, [byClock])[0] as Ages
    if (trusted || newestAt === null || old * 2 <= total) return byClock
    const byNewest = new Date(Date.parse(newestAt) - KEPT_MS).toISOString()
    return byNewest < byClock ? byNewest : byClock
  }

  return async (): Promise<void> => {
    const before = cutoff()
    const waitingBefore = new Date(Date.parse(before) - WAITS_LONGER_MS).toISOString()
    while ((await db.write((tx) => tx.run(REMOVE, [before, waitingBefore]))) === SLICE) await turn()
  }
}
