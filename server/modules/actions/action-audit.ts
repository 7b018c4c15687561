import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import type { ActionAudit } from '../../kit/actions.ts'
import type { Caller } from '../../kit/caller.ts'
import type { EventBus } from '../../kit/events.ts'
import { PersonTable } from '../household/household.table.ts'
import { ApiKeyTable } from '../keys/keys.table.ts'
import { PairedDeviceTable } from '../paired-devices/paired-devices.table.ts'
import { pruneRuns } from './action-retention.ts'
import { actionRan } from './actions.contract.ts'
import { ActionRunTable } from './actions.table.ts'
import { masked, maskedText } from './masked.ts'

const MAX_TEXT = 2_000
/** Old runs are looked for after so many new ones. */
const PRUNE_EVERY = 200

const cut = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)

/** JSON, and still JSON where it had to be cut. */
function paramsText(params: unknown): string {
  const text = JSON.stringify(masked(params)) ?? 'null'
  return text.length > MAX_TEXT ? JSON.stringify(cut(text)) : text
}

/** The name of who asks, as it is now: a person's, else a device's; an API key's label. */
function nameOf(db: Database, { kind, personId, deviceId, sessionId }: Caller): string {
  if (kind === 'key') return `API key ${db.get(ApiKeyTable, sessionId)?.label ?? ''}`.trimEnd()
  const person = personId === null ? undefined : db.get(PersonTable, personId)
  return person?.displayName ?? db.get(PairedDeviceTable, deviceId)?.name ?? 'Somebody unknown'
}

/** Stands there until the end of a run is known: what a stop of the server cut off. */
const INTERRUPTED = 'It was interrupted; whether it was done is not known.'

interface AuditDeps {
  db: Database
  events: Pick<EventBus, 'publish'>
  onFailed(error: unknown): void
}

/** Keeps a row for each run of an action: who, what, and how it ended, without what is secret. */
export function createActionAudit({ db, events, onFailed }: AuditDeps): ActionAudit {
  let written = 0

  return async ({ action, params, call, startedAt }) => {
    const { caller, origin, conversationId = null } = call
    const id = randomUUID()
    await db.write((tx) =>
      tx.insert(ActionRunTable, {
        id,
        action,
        params: paramsText(params),
        origin,
        caller: nameOf(db, caller),
        personId: caller.personId,
        deviceId: caller.deviceId,
        conversationId,
        status: 'failed',
        output: null,
        error: INTERRUPTED,
        startedAt: startedAt.toISOString(),
        durationMs: 0,
      }),
    )
    written += 1
    if (written % PRUNE_EVERY === 0) pruneRuns(db).catch(onFailed)
    return async ({ durationMs, result, error }) => {
      const end = {
        status: result ? ('succeeded' as const) : ('failed' as const),
        output: result && maskedText(cut(result.output)),
        error: error && maskedText(cut(error)),
        durationMs,
      }
      // What was done is told all the same: whoever hears of a failure does it again.
      await db
        .write((tx) => {
          tx.afterCommit(() => events.publish(actionRan, { id, action }))
          tx.update(ActionRunTable, id, end)
        })
        .catch(onFailed)
    }
  }
}
