import type { Database, Transaction } from '../../db/database.ts'
import type { Caller } from '../../kit/caller.ts'
import { conflict, forbidden, notFound } from '../../kit/errors.ts'
import type { ToolCall } from './chat.contract.ts'
import { type MessageRow, MessageTable } from './chat.table.ts'
import { lightCall } from './light-call.ts'
import type { Tools } from './tools.ts'

/** What a call says whose doing was cut off by a stop of the server. */
const INTERRUPTED = 'It was interrupted; whether it was done is not known.'

export type Decisions = ReturnType<typeof createDecisions>

/** What the assistant asked to do, and a person's word on it. */
export function createDecisions({ db, tools }: { db: Database; tools: Tools }) {
  /** The newest answer of a conversation. */
  const newest = (conversationId: string): MessageRow | undefined =>
    db
      .find(MessageTable, { conversationId }, { order: 'seq desc', limit: 6 })
      .find(({ role, status }) => role === 'assistant' && status !== 'streaming')

  /** How many calls are being carried out, by conversation. */
  const acting = new Map<string, number>()
  const count = (conversationId: string, by: 1 | -1) => {
    const now = (acting.get(conversationId) ?? 0) + by
    if (now > 0) acting.set(conversationId, now)
    else acting.delete(conversationId)
  }

  const change = (tx: Transaction, rows: readonly MessageRow[], callId: string, by: Partial<ToolCall>): void => {
    for (const { id, toolCalls } of rows)
      tx.update(MessageTable, id, { toolCalls: toolCalls?.map((call) => (call.id === callId ? { ...call, ...by } : call)) ?? null })
  }

  const withCall = (messageIds: readonly string[], callId: string, by: Partial<ToolCall>) =>
    db.write((tx) => {
      const rows = messageIds.flatMap((id) => db.get(MessageTable, id) ?? [])
      change(tx, rows, callId, by)
    })

  /**
   * Takes the call from `asking` in one write, so that it is never done twice, in every answer that holds it: one that is made anew has it
   * too, and is the first of them. Throws 404 for a call that is not there, 409 for one decided before, and 403 for whoever may not have it
   * done: it goes on asking then.
   */
  const claim = (caller: Caller, conversationId: string, callId: string, by: Partial<ToolCall>) =>
    db.write((tx) => {
      const rows = db
        .find(MessageTable, { conversationId }, { order: 'seq desc', limit: 200 })
        .filter(({ toolCalls }) => toolCalls?.some(({ id }) => id === callId))
      const [newestRow] = rows
      const call = newestRow?.toolCalls?.find(({ id }) => id === callId)
      if (!newestRow || !call) throw notFound('This call')
      if (call.status !== 'asking') throw conflict('conflict', 'This was decided already.')
      if (!tools.mayDecide(call.name, caller)) throw forbidden('You may not have this done.')
      change(tx, rows, callId, by)
      return { messageId: newestRow.id, messageIds: rows.map(({ id }) => id), call }
    })

  return {
    /**
     * What the newest answer of a conversation waits for, where it ended with the question for it. A word in the chat is about that, and
     * never about what was asked before or not at all.
     */
    waiting(conversationId: string): ToolCall[] {
      const { content = '', toolCalls } = newest(conversationId) ?? {}
      const wasAsked = ({ status, question }: ToolCall) => status === 'asking' && question !== undefined && content.endsWith(question)
      return (toolCalls ?? []).filter(wasAsked)
    },

    /** Whether something that was allowed there is being done. */
    isActing: (conversationId: string): boolean => acting.has(conversationId),

    /** Does or leaves what was asked for, as the one who says so. Throws what `claim` throws. */
    async decide(
      caller: Caller,
      conversationId: string,
      callId: string,
      approve: boolean,
      signal: AbortSignal,
    ): Promise<ToolCall & { messageId: string }> {
      if (!approve) {
        const { call, messageId } = await claim(caller, conversationId, callId, { status: 'declined' })
        return { ...call, status: 'declined', messageId }
      }
      count(conversationId, 1)
      try {
        const { call, messageId, messageIds } = await claim(caller, conversationId, callId, { status: 'failed', output: INTERRUPTED })
        const done = lightCall(await tools.perform(call.name, call.params, { caller, origin: 'model', signal, conversationId }, call.id))
        await withCall(messageIds, callId, done)
        return { ...done, messageId }
      } finally {
        count(conversationId, -1)
      }
    },
  }
}
