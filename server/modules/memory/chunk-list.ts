import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import { invalid } from '../../kit/errors.ts'
import type { ChunkRow } from './memory.table.ts'
import type { Sight } from './visibility.ts'

export interface ListFilter {
  source?: string | undefined
  category?: string | undefined
  /** Also what has been superseded. */
  history: boolean
  limit: number
  cursor?: string | undefined
}

/** A row as the database has it: booleans as 0 and 1. */
type StoredRow = Omit<ChunkRow, 'pinned' | 'promoted'> & { seq: number; pinned: number; promoted: number }

export const fromStored = (row: StoredRow): ChunkRow & { seq: number } => ({
  ...row,
  pinned: row.pinned === 1,
  promoted: row.promoted === 1,
})

const encode = ({ observedAt, seq }: { observedAt: string; seq: number }) => Buffer.from(`${seq} ${observedAt}`).toString('base64url')

function decode(cursor: string): { observedAt: string; seq: number } {
  const [, seq, observedAt] = /^(\d{1,15}) (\d{4}-\S{5,30})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (!seq || !observedAt) throw invalid([{ path: 'query.cursor', message: 'is not one of a list' }])
  return { seq: Number(seq), observedAt }
}

/** The newest of one owner, or of all where `owner` is undefined, along an index. */
function newestOf(db: Database, owner: string | null | undefined, filter: ListFilter): (ChunkRow & { seq: number })[] {
  const conditions: string[] = []
  const bound: (string | number)[] = []
  const equals = (column: string, value: string | null | undefined) => {
    if (value === undefined) return
    conditions.push(value === null ? `"${column}" IS NULL` : `"${column}" = ${BOUND_TEXT}`)
    if (value !== null) bound.push(value)
  }
  equals('personId', owner)
  equals('source', filter.source)
  equals('category', filter.category)
  if (!filter.history) conditions.push('"supersededById" IS NULL')
  if (filter.cursor) {
    const { observedAt, seq } = decode(filter.cursor)
    conditions.push(`("observedAt", "seq") < (${BOUND_TEXT}, (? + 0))`)
    bound.push(observedAt, seq)
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
  const sql = `SELECT * FROM "memory_chunk" ${where} ORDER BY "observedAt" DESC, "seq" DESC LIMIT (? + 0)`
  return db.select<StoredRow>(sql, [...bound, filter.limit + 1]).map(fromStored)
}

/** A page of what these owners remember, newest first, and where the next one begins. */
export function listChunks(db: Database, sight: Sight, filter: ListFilter): { rows: ChunkRow[]; nextCursor: string | null } {
  const found = (sight === 'all' ? [undefined] : sight).flatMap((owner) => newestOf(db, owner, filter))
  found.sort((a, b) => (a.observedAt === b.observedAt ? b.seq - a.seq : a.observedAt < b.observedAt ? 1 : -1))
  const rows = found.slice(0, filter.limit)
  const last = rows.at(-1)
  return { rows, nextCursor: found.length > rows.length && last ? encode(last) : null }
}
