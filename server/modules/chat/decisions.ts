import type { Database } from '../../db/database.ts'
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

  const withCall = (id: string, callId: string, change: Partial<ToolCall>) =>
    db.write((tx) => {
      const row = db.get(MessageTable, id)
      const toolCalls = row?.toolCalls?.map((call) => (call.id === callId ? { ...call, ...change } : call)) ?? null
      tx.update(MessageTable, id, { toolCalls })
    })

  /**
   * Takes the call from `asking` in one write, so that it is never done twice. Throws 404 for a call that is not there, 409 for one decided
   * before, and 403 for whoever may not have it done: it goes on asking then.
   */
  const claim = (caller: Caller, conversationId: string, callId: string, change: Partial<ToolCall>) =>
    db.write((tx) => {
      const rows = db.find(MessageTable, { conversationId }, { order: 'seq desc', limit: 200 })
      const row = rows.find(({ toolCalls }) => toolCalls?.some(({ id }) => id === callId))
      const call = row?.toolCalls?.find(({ id }) => id === callId)
      if (!row || !call) throw notFound('This call')
      if (call.status !== 'asking') throw conflict('conflict', 'This was decided already.')
      if (!tools.mayDecide(call.name, caller)) throw forbidden('You may not have this done.')
      tx.update(MessageTable, row.id, {
        toolCalls: row.toolCalls?.map((other) => (other.id === callId ? { ...other, ...change } : other)) ?? null,
      })
      return { messageId: row.id, call }
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
      const { call, messageId } = await claim(caller, conversationId, callId, { status: 'failed', output: INTERRUPTED })
      const done = lightCall(await tools.perform(call.name, call.params, { caller, origin: 'model', signal, conversationId }, call.id))
      await withCall(messageId, callId, done)
      return { ...done, messageId }
    },
  }
}
