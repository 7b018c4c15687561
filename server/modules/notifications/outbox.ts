import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import { createWakeUp } from '../../kit/wake-up.ts'
import { watchClock } from './clock-watch.ts'
import { LONGEST_MS, type Looking } from './looking.ts'
import { type NotificationRow, NotificationTable } from './notifications.table.ts'
import type { Pushing } from './pushing.ts'

const SLICE = 20
/** A device about which nothing could be written down is left alone for so long. */
const RETRY_MS = 5_000
/** What is being pushed when Hearth stops is waited for so long; what takes longer is pushed again by the next start. */
const STOP_MS = 1_000
const SLACK_MS = 60_000

const DEVICES = `SELECT "deviceId", MIN("attemptAt") AS "next", MAX("attemptAt") AS "last" FROM "notification"
  WHERE "attemptAt" IS NOT NULL GROUP BY "deviceId"`
const DUE = `SELECT "id" FROM "notification" WHERE "deviceId" = ${BOUND_TEXT} AND "attemptAt" IS NOT NULL
  AND ("attemptAt" <= (? + 0) OR "attemptAt" > (? + 0)) ORDER BY "attemptAt", "seq" LIMIT ${SLICE}`
/** What was to wait for longer, as for the end of the quiet, is looked at anew: by the clock that was set it may not be quiet. */
const SET_BACK = `UPDATE "notification" SET "attemptAt" = CASE WHEN "attemptAt" > (? + 0) THEN 1 ELSE MAX(1, "attemptAt" - ?) END
  WHERE "attemptAt" IS NOT NULL`

export interface OutboxDeps {
  db: Database
  looking: Looking
  push: Pushing
  onFailed(error: unknown): void
}

/**
 * Looks at every notification whose time has come; the times are rows, so that a crash loses none. Each device has its own work, which
 * waits for no other's.
 */
export function createOutbox({ db, looking, push, onFailed }: OutboxDeps) {
  const busy = new Map<string, Promise<void>>()
  let stopped = true
  let endWatch = () => undefined as void

  /** No time is that far ahead but by a clock that was set. */
  const farAhead = () => Date.now() + LONGEST_MS + SLACK_MS

  function next(): { deviceId: string; at: number }[] {
    const far = farAhead()
    const devices = db.select<{ deviceId: string; next: number; last: number }>(DEVICES)
    return devices
      .filter(({ deviceId }) => !busy.has(deviceId))
      .map(({ deviceId, next, last }) => ({ deviceId, at: last > far ? 0 : next }))
  }

  const dueOf = (deviceId: string): NotificationRow[] =>
    db.select<{ id: string }>(DUE, [deviceId, Date.now(), farAhead()]).flatMap(({ id }) => db.get(NotificationTable, id) ?? [])

  async function work(deviceId: string): Promise<void> {
    while (!stopped) {
      const due = dueOf(deviceId)
      if (due.length === 0) return
      for (const { id } of await looking.look(due)) if (stopped || !(await push(id, () => !stopped))) break
    }
  }

  function begin(deviceId: string): void {
    const done = work(deviceId)
      .catch(async (error: unknown) => {
        if (stopped) return
        onFailed(error)
        await wait(RETRY_MS, undefined, { ref: false })
      })
      .finally(() => {
        busy.delete(deviceId)
        wakeUp.rearm()
      })
    busy.set(deviceId, done)
  }

  const wakeUp = createWakeUp({
    nextAt() {
      const times = next().map(({ at }) => at)
      return times.length > 0 ? Math.min(...times) : null
    },
    async ring() {
      const now = Date.now()
      for (const { deviceId, at } of next()) if (at <= now) begin(deviceId)
    },
    onFailed,
  })

  return {
    rearm: wakeUp.rearm,
    start(): void {
      stopped = false
      endWatch = watchClock((ms) => {
        const setBackMs = Math.round(ms)
        db.write((tx) => tx.run(SET_BACK, [Date.now() + setBackMs + SLACK_MS, setBackMs]))
          .then(wakeUp.rearm)
          .catch(onFailed)
      })
      wakeUp.start()
    },
    async stop(): Promise<void> {
      stopped = true
      endWatch()
      await wakeUp.stop()
      await Promise.race([Promise.all(busy.values()), wait(STOP_MS, undefined, { ref: false })])
    },
  }
}
