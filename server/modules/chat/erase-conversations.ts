import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { ToolCall } from './chat.contract.ts'
import { ConversationTable, MessageTable } from './chat.table.ts'

export interface EraseConversationsDeps {
  db: Database
  /** Ends the reply of a conversation, and waits for that. */
  stopReply(conversationId: string): Promise<void>
}

/** Messages looked at in one write, so that others have their turn in between. */
const SLICE = 100

const NEXT = `SELECT "seq", "id", "toolCalls" IS NOT NULL OR "sources" IS NOT NULL AS "hasCards" FROM "message"
  WHERE "conversationId" = ${BOUND_TEXT} AND "seq" > (? + 0) ORDER BY "seq" LIMIT ${SLICE}`

/** That something was done, without what it was done with and what came of it; what still waited for a word is not done any more. */
const bare = ({ id, name, status }: ToolCall): ToolCall => ({
  id,
  name,
  params: {},
  status: status === 'asking' ? 'declined' : status,
  output: null,
})

/** Takes out of conversations what was looked up and noted for a person, or the conversations themselves. */
export function createEraseConversations({ db, stopReply }: EraseConversationsDeps) {
  async function clearCards(conversationId: string): Promise<number> {
    let cleared = 0
    let after = 0
    for (;;) {
      const rows = db.select<{ seq: number; id: string; hasCards: number }>(NEXT, [conversationId, after])
      const last = rows.at(-1)
      if (!last) return cleared
      const withCards = rows.filter(({ hasCards }) => hasCards === 1)
      if (withCards.length > 0)
        await db.write((tx) => {
          for (const { id } of withCards) {
            const toolCalls = db.get(MessageTable, id)?.toolCalls?.map(bare) ?? null
            tx.update(MessageTable, id, { toolCalls, sources: null })
          }
        })
      cleared += withCards.length
      after = last.seq
    }
  }

  async function removeWhole(conversationId: string): Promise<void> {
    const slice = `DELETE FROM "message" WHERE "seq" IN (SELECT "seq" FROM "message" WHERE "conversationId" = ${BOUND_TEXT} LIMIT ${SLICE})`
    while ((await db.write((tx) => tx.run(slice, [conversationId]))) === SLICE);
    await db.write((tx) => tx.remove(ConversationTable, { id: conversationId }))
  }

  return async (personId: string, { conversations }: { conversations: boolean }): Promise<number> => {
    const ids = db
      .select<{ id: string }>(`SELECT "id" FROM "conversation" WHERE "personId" = ${BOUND_TEXT}`, [personId])
      .map(({ id }) => id)
    let erased = 0
    for (const id of ids) {
      await stopReply(id)
      if (!conversations) erased += await clearCards(id)
      else {
        await removeWhole(id)
        erased += 1
      }
    }
    return erased
  }
}
