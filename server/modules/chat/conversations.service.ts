import type { Database, Transaction } from '../../db/database.ts'
import type { Caller } from '../../kit/caller.ts'
import { forbidden, notFound } from '../../kit/errors.ts'
import { PairedDeviceTable } from '../paired-devices/paired-devices.table.ts'
import type { Conversation, Message } from './chat.contract.ts'
import { type ConversationRow, ConversationTable, type MessageRow, MessageTable } from './chat.table.ts'
import { ftsQuery } from './search-query.ts'

export type ConversationsService = ReturnType<typeof createConversationsService>

const toConversation = ({ personId: _, ...conversation }: ConversationRow): Conversation => conversation

const toMessage = ({ seq: _, status, toolCalls, sources, ...message }: MessageRow): Message => ({
  ...message,
  status: status === 'streaming' ? 'aborted' : status,
  ...(toolCalls && { toolCalls }),
  ...(sources && { sources }),
})

/** Own are those of the same person, or on a shared device those of the device. */
const ownOf = ({ personId, deviceId }: Caller) =>
  personId === null ? { own: 'c."personId" IS NULL AND c."deviceId" = ?', whose: deviceId } : { own: 'c."personId" = ?', whose: personId }
const bySaid = (own: string) => `SELECT c.*, snippet("message_search", 0, '', '', '…', 16) AS "snippet" FROM "message_search"
  JOIN "message" m ON m."seq" = "message_search"."rowid" JOIN "conversation" c ON c."id" = m."conversationId"
  WHERE "message_search" MATCH ? AND ${own} ORDER BY "rank" LIMIT 500`
const byTitle = (own: string) => `SELECT c.*, c."title" AS "snippet" FROM "conversation" c
  WHERE ${own} AND instr(lower(c."title"), lower(?)) > 0 ORDER BY c."updatedAt" DESC LIMIT 100`

/** Conversations and what was said in them. Another's conversation does not exist for a caller. */
export function createConversationsService({ db }: { db: Database }) {
  function mustOwn(caller: Caller, id: string): ConversationRow {
    const row = db.get(ConversationTable, id)
    const own =
      row && (row.personId === null ? caller.personId === null && row.deviceId === caller.deviceId : row.personId === caller.personId)
    if (!own) throw notFound('This conversation')
    return row
  }

  /** The device a request names: the caller's own, or for admins any paired one. Throws 403 and 404. */
  function deviceFor(caller: Caller, deviceId: string | undefined): { deviceId: string; personId: string | null } {
    if (deviceId === undefined || deviceId === caller.deviceId) return { deviceId: caller.deviceId, personId: caller.personId }
    if (caller.scope !== 'admin') throw forbidden('This is another device.')
    const device = db.get(PairedDeviceTable, deviceId)
    if (!device) throw notFound('This device')
    return { deviceId, personId: device.personId }
  }

  return {
    mustOwn,
    deviceFor,
    messages: (conversationId: string): MessageRow[] => db.find(MessageTable, { conversationId }, { order: 'seq asc' }),

    /** A stored message; throws 404. */
    message(id: string): Message {
      const row = db.get(MessageTable, id)
      if (!row) throw notFound('This message')
      return toMessage(row)
    },

    /** Begins a conversation inside a write. */
    begin(tx: Transaction, id: string, owner: { deviceId: string; personId: string | null }, title: string): ConversationRow {
      const at = new Date().toISOString()
      const row: ConversationRow = { id, ...owner, title, createdAt: at, updatedAt: at }
      tx.insert(ConversationTable, row)
      return row
    },

    get(caller: Caller, id: string): Conversation & { messages: Message[] } {
      return { ...toConversation(mustOwn(caller, id)), messages: this.messages(id).map(toMessage) }
    },

    /** Newest first. Admins see another device's by naming it, everyone else gets 403. */
    list(caller: Caller, deviceId: string | undefined, limit: number): Conversation[] {
      const options = { order: 'updatedAt desc', limit } as const
      if (deviceId !== undefined && deviceId !== caller.deviceId) {
        deviceFor(caller, deviceId)
        return db.find(ConversationTable, { deviceId }, options).map(toConversation)
      }
      const own = caller.personId === null ? { personId: null, deviceId: caller.deviceId } : { personId: caller.personId }
      return db.find(ConversationTable, deviceId === undefined ? own : { ...own, deviceId }, options).map(toConversation)
    },

    /** By what was said, best first, then by title; each conversation once. */
    search(caller: Caller, q: string, limit: number): (Conversation & { snippet: string })[] {
      type Found = ConversationRow & { snippet: string }
      const { own, whose } = ownOf(caller)
      const query = ftsQuery(q)
      const found = [
        ...(query ? db.select<Found>(bySaid(own), [query, whose]) : []),
        ...db.select<Found>(byTitle(own), [whose, q.toWellFormed().replaceAll('\0', '')]),
      ]
      const once = new Map<string, Found>()
      for (const row of found) if (!once.has(row.id)) once.set(row.id, row)
      return [...once.values()].slice(0, limit).map(({ personId: _, ...conversation }) => conversation)
    },

    async rename(caller: Caller, id: string, title: string): Promise<Conversation> {
      mustOwn(caller, id)
      await db.write((tx) => tx.update(ConversationTable, id, { title }))
      return toConversation(mustOwn(caller, id))
    },

    async remove(caller: Caller, id: string): Promise<void> {
      mustOwn(caller, id)
      await db.write((tx) => tx.remove(ConversationTable, { id }))
    },

    /** What was being said when the server ended is kept as aborted. */
    async closeUnfinished(): Promise<void> {
      await db.write((tx) => tx.run(`UPDATE "message" SET "status" = 'aborted' WHERE "status" = 'streaming'`))
    },
  }
}
