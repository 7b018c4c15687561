import { z } from 'zod'
import { ById, editable, endpoint, nothing } from '../../kit/endpoint.ts'
import { event } from '../../kit/events.ts'

export const Conversation = z
  .object({ id: z.uuid(), deviceId: z.uuid(), title: z.string(), createdAt: z.string(), updatedAt: z.string() })
  .meta({ id: 'Conversation' })
export type Conversation = z.output<typeof Conversation>

/** Something the assistant did, or asks to do, while it answered. */
export const ToolCall = z.object({
  id: z.uuid(),
  name: z.string().describe('The action.'),
  params: z.unknown(),
  status: z.enum(['done', 'failed', 'asking', 'declined']).describe('`asking` waits for a person’s word before it is done.'),
  output: z.string().nullable().describe('What happened, or why it failed.'),
  data: z.unknown().optional(),
  about: z.string().optional().describe('What an id in the parameters means, in words.'),
  question: z.string().optional().describe('What the house asked, with which the message ends; a “yes” in the chat is about that.'),
})
export type ToolCall = z.output<typeof ToolCall>

/** A remembered text that an answer rests on. */
export const MessageSource = z.object({ chunkId: z.uuid(), title: z.string() })
export type MessageSource = z.output<typeof MessageSource>

export const Message = z
  .object({
    id: z.uuid(),
    conversationId: z.uuid(),
    role: z.enum(['user', 'assistant', 'tool']),
    content: z.string(),
    status: z.enum(['complete', 'aborted', 'failed']),
    model: z.string().nullable().describe('What answered; `none` where no model is set up; null on a person’s message.'),
    toolCalls: z.array(ToolCall).optional(),
    sources: z.array(MessageSource).optional().describe('The memories that this answer was given.'),
    createdAt: z.string(),
  })
  .meta({ id: 'Message' })
export type Message = z.output<typeof Message>

/** The first line of a streamed reply; the bare text follows it. */
export const ReplyHead = z.object({ conversationId: z.uuid(), messageId: z.uuid() })
export type ReplyHead = z.output<typeof ReplyHead>

const MAX_MESSAGE = 32_000
/** Text as SQLite, JSON and a tokenizer all take it: no NUL, no half of a surrogate pair. */
const MessageText = z
  .string()
  .max(MAX_MESSAGE)
  .transform((text) => text.toWellFormed().replaceAll('\0', ''))
  .refine((text) => text.trim() !== '', 'is empty')
const Title = z
  .string()
  .transform((title) => title.toWellFormed().replaceAll(/\s+/g, ' ').replaceAll('\0', '').trim())
  .pipe(z.string().min(1).max(200))

const streamed = 'text/event-stream: a first line of JSON {conversationId, messageId}, then the bare reply text as it is generated.'

export const chatContract = {
  send: endpoint({
    method: 'POST',
    path: '/api/chat',
    access: 'guest',
    summary: 'Say something and stream the reply',
    description: `${streamed} Leaving stops the generation; what was said is kept as aborted. A failure after the message was kept, such as 503 model_unavailable, names its conversation in the header Location: have the reply made there by regenerate, instead of sending the message again.`,
    body: z.strictObject({ message: MessageText, conversationId: z.uuid().optional(), deviceId: z.uuid().optional() }),
    returns: z.string(),
    kind: 'stream',
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/chat/conversations',
    access: 'guest',
    summary: 'My conversations, newest first',
    query: z.strictObject({ deviceId: z.uuid().optional(), limit: z.coerce.number().int().min(1).max(500).default(200) }),
    returns: z.array(Conversation),
  }),
  search: endpoint({
    method: 'GET',
    path: '/api/chat/conversations/search',
    access: 'guest',
    summary: 'Find conversations by what was said in them',
    query: z.strictObject({ q: z.string().min(1).max(500), limit: z.coerce.number().int().min(1).max(500).default(50) }),
    returns: z.array(Conversation.extend({ snippet: z.string().describe('Text around the first match.') })),
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/chat/conversations/{id}',
    access: 'guest',
    summary: 'A conversation with its messages, oldest first',
    params: ById,
    returns: Conversation.extend({ messages: z.array(Message) }),
  }),
  rename: endpoint({
    method: 'POST',
    path: '/api/chat/conversations/{id}',
    access: 'guest',
    summary: 'Rename a conversation',
    params: ById,
    body: editable({ title: Title }, ['id', 'deviceId', 'createdAt', 'updatedAt', 'messages']),
    returns: Conversation,
    status: 200,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/chat/conversations/{id}',
    access: 'guest',
    summary: 'Delete a conversation and everything said in it',
    params: ById,
    returns: nothing,
  }),
  regenerate: endpoint({
    method: 'POST',
    path: '/api/chat/conversations/{id}/regenerate',
    access: 'guest',
    summary: 'Reply once more to the last thing said',
    description: streamed,
    params: ById,
    returns: z.string(),
    kind: 'stream',
  }),
  decide: endpoint({
    method: 'POST',
    path: '/api/chat/conversations/{id}/tool-calls/{callId}',
    access: 'guest',
    summary: 'Allow or decline what the assistant asks to do; answers its message once it is done',
    description:
      'A new message of the assistant tells what came of it, once nothing of the same answer waits any more. Whoever may not have it done gets 403, and it goes on asking.',
    params: z.object({ id: z.uuid(), callId: z.uuid() }),
    body: z.strictObject({ approve: z.boolean() }),
    returns: Message,
    status: 200,
  }),
  export: endpoint({
    method: 'GET',
    path: '/api/chat/conversations/{id}/export',
    access: 'guest',
    summary: 'A conversation as Markdown',
    params: ById,
    returns: z.string(),
    kind: 'stream',
  }),
}

/** A person said something to the assistant. */
export const chatMessageUser = event('chat.message.user', z.object({ conversationId: z.uuid(), deviceId: z.uuid(), text: z.string() }))
