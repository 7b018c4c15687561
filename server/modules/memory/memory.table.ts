import { id, integer, table, text, textOrNull } from '../../db/table.ts'

export interface MemoryEntryRow {
  /** Key of the fact in the full-text index; null asks the database for the next. */
  seq: number | null
  id: string
  category: string
  key: string
  value: string
  updatedAt: string
}
export const MemoryEntryTable = table<MemoryEntryRow>(
  'memory_entry',
  { seq: { type: 'integer', primary: true }, id: text, category: text, key: text, value: text, updatedAt: text },
  [
    { name: 'memory_entry_id', columns: ['id'], unique: true },
    { name: 'memory_entry_key', columns: ['category', 'key'], unique: true },
    { name: 'memory_entry_age', columns: ['updatedAt'] },
  ],
)

export interface ChunkRow {
  /** Key of the chunk in the full-text and vector indices; null asks the database for the next. */
  seq: number | null
  id: string
  householdId: string
  personId: string | null
  source: string
  category: string
  title: string
  content: string
  observedAt: string
  pinned: boolean
  promoted: boolean
  /** Name of the newest embedder that has a row in `memory_vector`; empty while there is none. */
  embeddingModel: string
  conversationId: string | null
  messageId: string | null
  supersededById: string | null
  createdAt: string
  updatedAt: string
}
export const ChunkTable = table<ChunkRow>(
  'memory_chunk',
  {
    seq: { type: 'integer', primary: true },
    id: text,
    householdId: text,
    personId: textOrNull,
    source: text,
    category: text,
    title: text,
    content: text,
    observedAt: text,
    pinned: { type: 'boolean' },
    promoted: { type: 'boolean' },
    embeddingModel: text,
    conversationId: textOrNull,
    messageId: textOrNull,
    supersededById: textOrNull,
    createdAt: text,
    updatedAt: text,
  },
  [
    { name: 'memory_chunk_id', columns: ['id'], unique: true },
    { name: 'memory_chunk_observed', columns: ['observedAt'] },
    { name: 'memory_chunk_person', columns: ['personId', 'observedAt'] },
    { name: 'memory_chunk_category', columns: ['category', 'observedAt'] },
    { name: 'memory_chunk_embedding', columns: ['embeddingModel'] },
    { name: 'memory_chunk_message', columns: ['messageId'] },
    { name: 'memory_chunk_source', columns: ['source', 'observedAt'] },
    { name: 'memory_chunk_pinned', columns: ['pinned', 'observedAt'] },
    { name: 'memory_chunk_promoted', columns: ['promoted', 'observedAt'] },
    { name: 'memory_chunk_superseded', columns: ['supersededById'], where: '"supersededById" IS NOT NULL' },
  ],
)

/**
 * The vector of a chunk by one embedding model, for the index to be built from; 32-bit floats, little-endian, unit length. While another
 * model takes over a chunk has one of each.
 */
export interface VectorRow {
  seq: number
  model: string
  vector: Buffer
}
export const VectorTable = table<VectorRow>(
  'memory_vector',
  { seq: { type: 'integer', primary: true }, model: { type: 'text', primary: true }, vector: { type: 'blob' } },
  [],
  [{ name: 'memory_vector_fk', columnNames: ['seq'], target: 'memory_chunk', referencedColumnNames: ['seq'], onDelete: 'CASCADE' }],
)

/** An exchange that is still to be read for what is worth remembering. */
export interface ExtractionRow {
  /** The person's message. */
  id: string
  conversationId: string
  personId: string | null
  /** How often reading it failed. */
  tries: number
  createdAt: string
}
export const ExtractionTable = table<ExtractionRow>(
  'memory_extraction',
  { id, conversationId: text, personId: textOrNull, tries: integer, createdAt: text },
  [{ name: 'memory_extraction_age', columns: ['createdAt'] }],
)
