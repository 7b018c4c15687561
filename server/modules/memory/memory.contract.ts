import { z } from 'zod'
import { ById, editable, endpoint, nothing } from '../../kit/endpoint.ts'
import { event } from '../../kit/events.ts'

/** Text as SQLite, JSON and a tokenizer all take it: no NUL, no half of a surrogate pair. */
const wellFormed = (max: number) =>
  z
    .string()
    .max(max)
    .transform((text) => text.toWellFormed().replaceAll('\0', ''))
const filled = (max: number) => wellFormed(max).refine((text) => text.trim() !== '', 'is empty')
const word = (max: number) => wellFormed(max).transform((text) => text.replaceAll(/\s+/g, ' ').trim())

const MAX_CONTENT = 200_000
const Category = word(100)

export const MemoryEntry = z
  .object({ id: z.uuid(), category: z.string(), key: z.string(), value: z.string(), updatedAt: z.string() })
  .meta({ id: 'MemoryEntry' })
export type MemoryEntry = z.output<typeof MemoryEntry>

export const Chunk = z
  .object({
    id: z.uuid(),
    householdId: z.uuid(),
    personId: z.uuid().nullable().describe('Whose memory it is; null is the household’s.'),
    source: z.string().describe('Such as `note` (a person wrote it) or `chat_extract` (learned from a conversation).'),
    category: z.string(),
    title: z.string(),
    content: z.string(),
    observedAt: z.string().describe('When it was so or was said.'),
    pinned: z.boolean(),
    promoted: z.boolean().describe('Always part of what the assistant is told.'),
    embeddingModel: z.string().describe('What embedded it; empty while it waits for that.'),
    conversationId: z.uuid().nullable().describe('The conversation it was learned in, while it is there and the caller’s own.'),
    messageId: z.uuid().nullable().describe('The message it was learned from, as long.'),
    supersededById: z.uuid().nullable().describe('The newer chunk that contradicts this one, which is then history.'),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'Chunk' })
export type Chunk = z.output<typeof Chunk>

export const RawMemory = z.object({
  soul: z.string().describe('The personality, Markdown.'),
  memory: z.string().describe('The people’s own text, Markdown; Hearth never writes it.'),
  told: z
    .object({ soul: z.number().int(), memory: z.number().int() })
    .describe('How many characters of each, from its beginning, the assistant is told; of a longer text no more.'),
})

const chunkFields = {
  source: word(64).pipe(z.string().min(1)),
  category: Category,
  title: word(300),
  content: filled(MAX_CONTENT),
  observedAt: z.iso.datetime({ offset: true }).transform((at) => new Date(at).toISOString()),
  personId: z.uuid().nullable(),
  pinned: z.boolean(),
  promoted: z.boolean(),
}

export const memoryContract = {
  list: endpoint({
    method: 'GET',
    path: '/api/memory',
    access: 'member',
    summary: 'Facts the household keeps, newest first, or best first with q',
    query: z.strictObject({
      category: z.string().max(100).optional(),
      q: z.string().max(100_000).optional().describe('Words to find; operators mean nothing.'),
      limit: z.coerce.number().int().min(1).max(500).default(500),
    }),
    returns: z.object({ entries: z.array(MemoryEntry) }),
  }),
  set: endpoint({
    method: 'POST',
    path: '/api/memory',
    access: 'member',
    summary: 'Keep a fact; the one of the same category and key is replaced (200)',
    body: editable({ category: Category.pipe(z.string().min(1)), key: word(300).pipe(z.string().min(1)), value: filled(20_000) }, [
      'id',
      'updatedAt',
    ]),
    returns: MemoryEntry,
    status: 201,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/memory/{id}',
    access: 'member',
    summary: 'Forget a fact',
    params: ById,
    returns: nothing,
  }),
  raw: endpoint({
    method: 'GET',
    path: '/api/memory/raw',
    access: 'member',
    summary: 'The personality and the people’s own text',
    returns: RawMemory,
  }),
  setSoul: endpoint({
    method: 'PUT',
    path: '/api/memory/soul',
    access: 'admin',
    summary: 'Change the personality',
    body: editable({ content: wellFormed(100_000) }, ['memory', 'told']),
    returns: RawMemory,
  }),
  chunks: endpoint({
    method: 'GET',
    path: '/api/memory/chunks',
    access: 'member',
    summary: 'What is remembered: ranked by meaning with q, else newest first',
    query: z.strictObject({
      q: z.string().max(100_000).optional(),
      personId: z.uuid().optional().describe('Only what is remembered about or by this person.'),
      source: z.string().max(64).optional(),
      category: z.string().max(100).optional(),
      history: z.stringbool().default(false).describe('Also what has been superseded; without q only.'),
      limit: z.coerce.number().int().min(1).max(500).default(20),
      cursor: z.string().max(200).optional().describe('Continues a list without q.'),
    }),
    returns: z.object({
      chunks: z.array(Chunk),
      formatted: z.string().optional().describe('With q: a Markdown block of the best, within a budget of tokens.'),
      nextCursor: z.string().nullable().optional(),
    }),
  }),
  addChunk: endpoint({
    method: 'POST',
    path: '/api/memory/chunks',
    access: 'member',
    summary: 'Remember a text',
    description:
      'The title is the first line unless stated; `observedAt` is now unless stated. Members write their own and household memory.',
    body: z.strictObject({
      source: chunkFields.source,
      content: chunkFields.content,
      category: chunkFields.category.optional(),
      title: chunkFields.title.optional(),
      personId: chunkFields.personId.optional(),
      pinned: chunkFields.pinned.optional(),
      promoted: chunkFields.promoted.optional(),
      observedAt: chunkFields.observedAt.optional(),
    }),
    returns: z.object({ chunk: Chunk }),
    status: 201,
  }),
  chunk: endpoint({
    method: 'GET',
    path: '/api/memory/chunks/{id}',
    access: 'member',
    summary: 'One remembered text',
    params: ById,
    returns: Chunk,
  }),
  updateChunk: endpoint({
    method: 'PATCH',
    path: '/api/memory/chunks/{id}',
    access: 'member',
    summary: 'Change a remembered text; a new title or content is embedded anew',
    params: ById,
    body: editable(z.object(chunkFields).partial().shape, [
      'id',
      'householdId',
      'embeddingModel',
      'conversationId',
      'messageId',
      'supersededById',
      'createdAt',
      'updatedAt',
    ]),
    returns: Chunk,
  }),
  removeChunk: endpoint({
    method: 'DELETE',
    path: '/api/memory/chunks/{id}',
    access: 'member',
    summary: 'Forget a remembered text; it is found no more from now on',
    description: 'What it superseded is forgotten with it, unless that is to hold again. One that is history itself goes alone.',
    params: ById,
    query: z.strictObject({ earlier: z.enum(['forget', 'restore']).default('forget').describe('What becomes of what it superseded.') }),
    returns: nothing,
  }),
  chunkHistory: endpoint({
    method: 'GET',
    path: '/api/memory/chunks/{id}/history',
    access: 'member',
    summary: 'What a remembered text superseded, directly and before that, newest first',
    params: ById,
    returns: z.object({ chunks: z.array(Chunk) }),
  }),
  index: endpoint({
    method: 'GET',
    path: '/api/memory/index',
    access: 'member',
    summary: 'How far the search index is',
    returns: z.object({
      embeddingModel: z.string(),
      chunks: z.number().int().describe('Texts that are remembered.'),
      embedded: z.number().int().describe('Those of them that the present embedding model has embedded.'),
      status: z.enum(['ready', 'building', 'error']),
      detail: z.string().optional(),
    }),
  }),
  exportPerson: endpoint({
    method: 'GET',
    path: '/api/memory/people/{id}',
    access: 'member',
    summary: 'Everything remembered of a person; members see their own',
    params: ById,
    kind: 'stream',
    returns: z.object({
      person: z.object({ id: z.uuid(), displayName: z.string().describe('Empty for somebody who has moved out.') }),
      exportedAt: z.string(),
      chunks: z.array(Chunk),
    }),
  }),
  erasePerson: endpoint({
    method: 'DELETE',
    path: '/api/memory/people/{id}',
    access: 'member',
    summary: 'Forget everything remembered of a person; members may erase their own',
    description:
      'What was looked up or noted for them goes from the log of actions and from the cards of their conversations as well. The conversations themselves go where that is asked for, and of somebody who has moved out in any case.',
    params: ById,
    query: z.strictObject({ conversations: z.stringbool().default(false).describe('Their conversations too.') }),
    returns: nothing,
  }),
}

/** A fact or a chunk was kept. */
export const memoryCreated = event('memory.created', z.object({ entryId: z.uuid(), category: z.string(), content: z.string() }))
/** A fact or a chunk was changed. */
export const memoryUpdated = event('memory.updated', z.object({ entryId: z.uuid(), content: z.string() }))
/** The search index went on: how many texts are embedded of how many. */
export const memoryIndexed = event(
  'memory.index',
  z.object({ embeddingModel: z.string(), done: z.number().int(), total: z.number().int() }),
)
