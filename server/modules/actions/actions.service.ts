import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { ActionRegistry } from '../../kit/actions.ts'
import type { Caller } from '../../kit/caller.ts'
import { invalid } from '../../kit/errors.ts'
import type { ActionEntry, ActionRun } from './actions.contract.ts'
import { type ActionRunRow, ActionRunTable } from './actions.table.ts'

interface RunsQuery {
  action?: string | undefined
  status?: ActionRun['status'] | undefined
  before?: string | undefined
  limit: number
}

export type ActionsService = ReturnType<typeof createActionsService>

const toRun = ({ params, ...row }: ActionRunRow): ActionRun => ({ ...row, params: JSON.parse(params) as unknown })

/** What can be done, as the API shows it, and what was. */
export function createActionsService({ db, actions }: { db: Database; actions: ActionRegistry }) {
  return {
    list: (caller: Caller): ActionEntry[] =>
      actions.list(caller).map(({ name, description, parameters, risk }) => ({ name, description, parameters, risk })),

    /** Newest first. Throws 400 for a run that is not, or no longer, there. */
    runs({ action, status, before, limit }: RunsQuery): ActionRun[] {
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
      if (before !== undefined) {
        const last = db.get(ActionRunTable, before)
        if (!last) throw invalid([{ path: 'query.before', message: 'is none of this list' }])
        conditions.push(`("startedAt", "id") < (${BOUND_TEXT}, ${BOUND_TEXT})`)
        bound.push(last.startedAt, last.id)
      }
      const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
      const rows = db.select<ActionRunRow>(`SELECT * FROM "action_run" ${where} ORDER BY "startedAt" DESC, "id" DESC LIMIT (? + 0)`, [
        ...bound,
        limit,
      ])
      return rows.map(toRun)
    },
  }
}
