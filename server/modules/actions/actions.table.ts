import { id, integer, table, text, textOrNull } from '../../db/table.ts'
import type { ActionRun } from './actions.contract.ts'

export interface ActionRunRow extends Omit<ActionRun, 'id' | 'params'> {
  id: string
  /** As JSON, cut where it is long, without what is secret. */
  params: string
}
export const ActionRunTable = table<ActionRunRow>(
  'action_run',
  {
    id,
    action: text,
    params: text,
    origin: text,
    caller: text,
    personId: textOrNull,
    deviceId: text,
    conversationId: textOrNull,
    status: text,
    output: textOrNull,
    error: textOrNull,
    startedAt: text,
    durationMs: integer,
  },
  [
    { name: 'action_run_age', columns: ['startedAt', 'id'] },
    { name: 'action_run_action', columns: ['action', 'startedAt', 'id'] },
    { name: 'action_run_status', columns: ['status', 'startedAt', 'id'] },
    { name: 'action_run_person', columns: ['personId', 'startedAt', 'id'] },
  ],
)
