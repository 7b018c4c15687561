import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
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
