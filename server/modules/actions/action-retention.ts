import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'

const KEPT_RUNS = 10_000
const KEPT_MS = 90 * 24 * 3_600_000
/** Rows removed in one write, so that others have their turn in between. */
const SLICE = 500

const NEWEST_TO_GO = `SELECT "startedAt", "id" FROM "action_run" ORDER BY "startedAt" DESC, "id" DESC LIMIT 1 OFFSET ${KEPT_RUNS}`
const REMOVE = `DELETE FROM "action_run" WHERE "id" IN (SELECT "id" FROM "action_run"
  WHERE ("startedAt", "id") <= (${BOUND_TEXT}, ${BOUND_TEXT}) ORDER BY "startedAt", "id" LIMIT ${SLICE})`

/** Keeps the newest 10,000 runs of the last 90 days; the rest goes in slices. Resolves when none of it is left. */
export async function pruneRuns(db: Database, now: number = Date.now()): Promise<void> {
  const [surplus] = db.select<{ startedAt: string; id: string }>(NEWEST_TO_GO)
  const aged = { startedAt: new Date(now - KEPT_MS).toISOString(), id: '' }
  const last = surplus && surplus.startedAt >= aged.startedAt ? surplus : aged
  while ((await db.write((tx) => tx.run(REMOVE, [last.startedAt, last.id]))) === SLICE);
}
