import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { ActionRegistry } from '../../kit/actions.ts'
import type { Caller } from '../../kit/caller.ts'
import { invalid } from '../../kit/errors.ts'
import type { ActionEntry, ActionRun } from './actions.contract.ts'
import type { ActionRunRow } from './actions.table.ts'

interface RunsQuery {
  action?: string | undefined
  status?: ActionRun['status'] | undefined
  cursor?: string | undefined
  limit: number
}

export type ActionsService = ReturnType<typeof createActionsService>

const cursorOf = ({ startedAt, id }: ActionRunRow) => Buffer.from(`${startedAt} ${id}`).toString('base64url')

function readCursor(cursor: string): [startedAt: string, id: string] {
  const [startedAt, id] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (!startedAt || !id) throw invalid([{ path: 'query.cursor', message: 'is none of this list' }])
  return [startedAt, id]
}

const toRun = ({ params, ...row }: ActionRunRow): ActionRun => ({ ...row, params: JSON.parse(params) as unknown })

/** What can be done, as the API shows it, and what was. */
export function createActionsService({ db, actions }: { db: Database; actions: ActionRegistry }) {
  return {
    list: (caller: Caller): ActionEntry[] =>
      actions.list(caller).map(({ name, description, parameters, risk }) => ({ name, description, parameters, risk })),

    /** Newest first. Throws 400 for a cursor of another list. */
    runs({ action, status, cursor, limit }: RunsQuery): { items: ActionRun[]; nextCursor: string | null } {
      const conditions: string[] = []
      const bound: string[] = []
      if (action !== undefined) {
        conditions.push(`"action" = ${BOUND_TEXT}`)
        bound.push(action)
      }
      if (status !== undefined) {
        conditions.push(`"status" = ${BOUND_TEXT}`)
        bound.push(status)
      }
      if (cursor !== undefined) {
        conditions.push(`("startedAt", "id") < (${BOUND_TEXT}, ${BOUND_TEXT})`)
        bound.push(...readCursor(cursor))
      }
      const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
      const rows = db.select<ActionRunRow>(
        `SELECT * FROM "action_run" ${where} ORDER BY "startedAt" DESC, "id" DESC LIMIT (? + 0)`,
        [...bound, limit + 1], // one more tells whether there is a next page
      )
      const last = rows[limit - 1]
      return { items: rows.slice(0, limit).map(toRun), nextCursor: rows.length > limit && last ? cursorOf(last) : null }
    },
  }
}
