import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import type { FinishedRun } from '../../kit/actions.ts'
import { ActionRunTable } from './actions.table.ts'

const MAX_TEXT = 2_000

const cut = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)

/** Writes a row for each run of an action: who, what, and how it ended. */
export const createActionAudit =
  (db: Database) =>
  async ({ action, params, call, startedAt, durationMs, result, error }: FinishedRun): Promise<void> => {
    const { caller, origin, conversationId = null } = call
    await db.write((tx) =>
      tx.insert(ActionRunTable, {
        id: randomUUID(),
        action,
        params: cut(JSON.stringify(params) ?? 'null'),
        origin,
        personId: caller.personId,
        deviceId: caller.deviceId,
        conversationId,
        status: result ? 'succeeded' : 'failed',
        output: result && cut(result.output),
        error: error && cut(error),
        startedAt: startedAt.toISOString(),
        durationMs,
      }),
    )
  }
