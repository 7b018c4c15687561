import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { ActionRunRow } from './actions.table.ts'

/** Rows changed in one write, so that others have their turn in between. */
const SLICE = 200

const NEXT = `SELECT "id", "startedAt", "params", "output", "error" FROM "action_run"
  WHERE "personId" = ${BOUND_TEXT} AND ("startedAt", "id") > (${BOUND_TEXT}, ${BOUND_TEXT}) ORDER BY "startedAt", "id" LIMIT ${SLICE}`

/** Takes the words out of the runs that a person asked for; that something was done, by whom and when, stays. Answers how many had some. */
export async function eraseRunsOf(db: Database, personId: string): Promise<number> {
  let erased = 0
  let after: Pick<ActionRunRow, 'id' | 'startedAt'> = { startedAt: '', id: '' }
  for (;;) {
    const rows = db.select<ActionRunRow>(NEXT, [personId, after.startedAt, after.id])
    const last = rows.at(-1)
    if (!last) return erased
    const wordy = rows.filter(({ params, output, error }) => params !== '{}' || output !== null || error !== null)
    const ids = JSON.stringify(wordy.map(({ id }) => id))
    const clear = `UPDATE "action_run" SET "params" = '{}', "output" = NULL, "error" = NULL
      WHERE "id" IN (SELECT "value" FROM json_each(${BOUND_TEXT}))`
    if (wordy.length > 0) erased += await db.write((tx) => tx.run(clear, [ids]))
    after = last
  }
}
