import { id, table, text, textOrNull } from '../../db/table.ts'
import type { ToolCall } from './chat.contract.ts'

export interface ConversationRow {
  id: string
  deviceId: string
  /** Null for a shared device: then it belongs to the device. */
  personId: string | null
  title: string
  createdAt: string
  updatedAt: string
}
export const ConversationTable = table<ConversationRow>(
  'conversation',
  { id, deviceId: text, personId: textOrNull, title: text, createdAt: text, updatedAt: text },
  [
    { name: 'conversation_person', columns: ['personId', 'updatedAt'] },
    { name: 'conversation_device', columns: ['deviceId', 'updatedAt'] },
  ],
)

export interface MessageRow {
  /** Order of saying across all conversations; null asks the database for the next. */
  seq: number | null
  id: string
  conversationId: string
  role: 'user' | 'assistant' | 'tool'
  content: string
  /** `streaming` is shown as aborted: it is one, should the server end now. */
  status: 'complete' | 'aborted' | 'failed' | 'streaming'
  model: string | null
  toolCalls: ToolCall[] | null
  /** The memories that the answer was given. */
  sources: { chunkId: string; title: string }[] | null
  createdAt: string
}
export const MessageTable = table<MessageRow>(
  'message',
  {
    seq: { type: 'integer', primary: true },
    id: text,
    conversationId: text,
    role: text,
    content: text,
    status: text,
    model: textOrNull,
    toolCalls: { type: 'simple-json', nullable: true },
    sources: { type: 'simple-json', nullable: true },
    createdAt: text,
  },
  [
    { name: 'message_id', columns: ['id'], unique: true },
    { name: 'message_conversation', columns: ['conversationId', 'seq'] },
  ],
  [
    {
      name: 'message_conversation_fk',
      columnNames: ['conversationId'],
      target: 'conversation',
      referencedColumnNames: ['id'],
      onDelete: 'CASCADE',
    },
  ],
)
