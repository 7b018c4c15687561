import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { Caller } from '../../kit/caller.ts'
import type { Chunk } from './memory.contract.ts'
import type { ChunkRow } from './memory.table.ts'

/** Which of these ids are in a table. */
function present(db: Database, table: 'conversation' | 'message', ids: (string | null)[]): Set<string | null> {
  const asked = ids.filter((id) => id !== null)
  if (asked.length === 0) return new Set()
  const sql = `SELECT "id" FROM "${table}" WHERE "id" IN (SELECT "value" FROM json_each(${BOUND_TEXT}))`
  return new Set(db.select<{ id: string }>(sql, [JSON.stringify(asked)]).map(({ id }) => id))
}

/** The chunks without the conversations and messages that are deleted since: nobody is led to what is not there. */
export function withoutGone<Row extends Pick<ChunkRow, 'conversationId' | 'messageId'>>(db: Database, rows: readonly Row[]): Row[] {
  const conversations = present(
    db,
    'conversation',
    rows.map(({ conversationId }) => conversationId),
  )
  const messages = present(
    db,
    'message',
    rows.map(({ messageId }) => messageId),
  )
  return rows.map((row) => ({
    ...row,
    conversationId: conversations.has(row.conversationId) ? row.conversationId : null,
    messageId: messages.has(row.messageId) ? row.messageId : null,
  }))
}

/** The chunks without conversations of others, which do not exist for a caller: nobody is led to where they may not look. */
export function withoutOthers(db: Database, chunks: readonly Chunk[], caller: Pick<Caller, 'personId' | 'deviceId'>): Chunk[] {
  const asked = chunks.flatMap(({ conversationId }) => conversationId ?? [])
  if (asked.length === 0) return [...chunks]
  const whose = caller.personId === null ? `"personId" IS NULL AND "deviceId" = ${BOUND_TEXT}` : `"personId" = ${BOUND_TEXT}`
  const sql = `SELECT "id" FROM "conversation" WHERE "id" IN (SELECT "value" FROM json_each(${BOUND_TEXT})) AND ${whose}`
  const own = new Set(db.select<{ id: string }>(sql, [JSON.stringify(asked), caller.personId ?? caller.deviceId]).map(({ id }) => id))
  return chunks.map((chunk) =>
    chunk.conversationId === null || own.has(chunk.conversationId) ? chunk : { ...chunk, conversationId: null, messageId: null },
  )
}
