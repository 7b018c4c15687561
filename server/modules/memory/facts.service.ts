import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import { notFound } from '../../kit/errors.ts'
import type { EventBus } from '../../kit/events.ts'
import { type MemoryEntry, memoryCreated, memoryUpdated } from './memory.contract.ts'
import { type MemoryEntryRow, MemoryEntryTable } from './memory.table.ts'
import { anyWord, signsOf, typedWords } from './plain-words.ts'

export interface FactFilter {
  category?: string | undefined
  /** Words that all have to be in it, the last one perhaps only begun; operators mean nothing. */
  q?: string | undefined
  limit: number
}

const toEntry = ({ seq: _, ...entry }: MemoryEntryRow): MemoryEntry => entry

/** Signs are looked for in so many, as no index knows them; of longer values (in bytes) only in what they are called. */
const LATEST = 1_000
const MAX_VALUE = 4_000
const holding = (signs: readonly string[]): string =>
  signs
    .map(
      () =>
        ` AND instr(m."category" || ' ' || m."key" || ' ' || iif(octet_length(m."value") <= ${MAX_VALUE}, m."value", ''), ${BOUND_TEXT}) > 0`,
    )
    .join('')

export type FactsService = ReturnType<typeof createFactsService>

/** What the household keeps under a category and a key. */
export function createFactsService({ db, events }: { db: Database; events: EventBus }) {
  function matching(match: string, category: string | undefined, signs: readonly string[], limit: number): MemoryEntry[] {
    const within = category === undefined ? '' : ` AND m."category" = ${BOUND_TEXT}`
    const sql = `SELECT m.* FROM "memory_entry_search" JOIN "memory_entry" m ON m."seq" = "memory_entry_search"."rowid"
      WHERE "memory_entry_search" MATCH ${BOUND_TEXT}${within}${holding(signs)} ORDER BY "memory_entry_search"."rank" LIMIT (? + 0)`
    return db.select<MemoryEntryRow>(sql, [match, ...(category === undefined ? [] : [category]), ...signs, limit]).map(toEntry)
  }

  /** Those of the latest that hold all of the signs, newest first. */
  function signed(signs: readonly string[], category: string | undefined, limit: number): MemoryEntry[] {
    const within = category === undefined ? '' : `WHERE "category" = ${BOUND_TEXT}`
    const latest = `SELECT "seq" FROM "memory_entry" ${within} ORDER BY "updatedAt" DESC LIMIT ${LATEST}`
    const sql = `SELECT m.* FROM (${latest}) l JOIN "memory_entry" m ON m."seq" = l."seq" WHERE true${holding(signs)} LIMIT (? + 0)`
    return db.select<MemoryEntryRow>(sql, [...(category === undefined ? [] : [category]), ...signs, limit]).map(toEntry)
  }

  /** By words and signs, those that hold the very words first; by the words alone where nothing has the signs as well. */
  function typed(q: string, category: string | undefined, limit: number, signs = signsOf(q)): MemoryEntry[] {
    const { queries, lastResort } = typedWords(q)
    if (!lastResort) return signs.length > 0 ? signed(signs, category, limit) : []
    const found = new Map<string, MemoryEntry>()
    for (const query of queries) {
      if (found.size >= limit) break
      for (const entry of matching(query, category, signs, limit)) found.set(entry.id, found.get(entry.id) ?? entry)
    }
    if (found.size === 0 && signs.length > 0) return typed(q, category, limit, [])
    return found.size === 0 ? matching(lastResort, category, signs, limit) : [...found.values()].slice(0, limit)
  }

  return {
    /** Newest first, or best first where words are asked for. */
    list({ category, q, limit }: FactFilter): MemoryEntry[] {
      if (q === undefined || q.trim() === '') {
        const where = category === undefined ? {} : { category }
        return db.find(MemoryEntryTable, where, { order: 'updatedAt desc', limit }).map(toEntry)
      }
      return typed(q, category, limit)
    },

    /** Those that hold any of the words, best first. */
    near(text: string, limit: number): MemoryEntry[] {
      const match = anyWord(text)
      return match ? matching(match, undefined, [], limit) : []
    },

    /** Keeps a fact in place of the one of the same category and key. */
    async set(fact: { category: string; key: string; value: string }): Promise<{ entry: MemoryEntry; isNew: boolean }> {
      return db.write((tx) => {
        const { category, key, value } = fact
        const updatedAt = new Date().toISOString()
        const known = db.first(MemoryEntryTable, { category, key })
        const row: MemoryEntryRow = { seq: null, id: known?.id ?? randomUUID(), category, key, value, updatedAt }
        if (known) tx.update(MemoryEntryTable, known.id, { value, updatedAt })
        else tx.insert(MemoryEntryTable, row)
        const content = `${key}: ${value}`
        tx.afterCommit(() =>
          known
            ? events.publish(memoryUpdated, { entryId: row.id, content })
            : events.publish(memoryCreated, { entryId: row.id, category, content }),
        )
        return { entry: toEntry(row), isNew: !known }
      })
    },

    async remove(id: string): Promise<void> {
      if ((await db.write((tx) => tx.remove(MemoryEntryTable, { id }))) === 0) throw notFound('This fact')
    },
  }
}
