import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database, Transaction } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { Caller } from '../../kit/caller.ts'
import { conflict, forbidden, invalid, notFound } from '../../kit/errors.ts'
import type { EventBus } from '../../kit/events.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { fromStored, type ListFilter, listChunks } from './chunk-list.ts'
import { type Chunk, memoryCreated, memoryUpdated } from './memory.contract.ts'
import { type ChunkRow, ChunkTable, ExtractionTable } from './memory.table.ts'
import { withoutGone } from './origins.ts'
import { createChunkSearch } from './ranking/chunk-search.ts'
import type { ChunkVectors } from './vectors/chunk-vectors.ts'
import { isInSight, ownOf, type Sight, sightOf } from './visibility.ts'

export interface ChunksDeps {
  db: Database
  events: EventBus
  household: HouseholdService
  vectors: ChunkVectors
  resourcesPath: string
  /** The word vectors cannot be read: search goes on by the words. */
  onFault?(error: unknown): void
}

/** What somebody says of a chunk; what they leave out is chosen for them. */
export interface ChunkFields {
  source: string
  category?: string | undefined
  title?: string | undefined
  content: string
  observedAt?: string | undefined
  personId?: string | null | undefined
  pinned?: boolean | undefined
  promoted?: boolean | undefined
}

export interface NewChunk extends ChunkFields {
  conversationId?: string
  messageId?: string
}

export interface SearchFilter {
  personId?: string | undefined
  source?: string | undefined
  category?: string | undefined
  limit: number
}

type ChunkChanges = { [Key in keyof ChunkFields]?: ChunkFields[Key] | undefined }
type StoredRow = ChunkRow & { seq: number }

const TITLE_LENGTH = 100
const MAX_QUESTION = 4_000
/** Of so many found, those of the source or category asked for are kept. */
const FILTERED = 500
const ERASED_AT_ONCE = 100
const EXPORTED_AT_ONCE = 200
const TRIES = 5
/** Rows of a history that go in one write. */
const FORGOTTEN_AT_ONCE = 100
/** A history is one person's, or the household's: what was another's before it was given away stays theirs. */
const EARLIER = `WITH RECURSIVE "earlier" ("id", "seq", "personId") AS (
  SELECT c."id", c."seq", c."personId" FROM "memory_chunk" head JOIN "memory_chunk" c ON c."supersededById" = head."id"
    WHERE head."id" = ${BOUND_TEXT} AND c."personId" IS head."personId"
  UNION SELECT c."id", c."seq", c."personId" FROM "earlier" e JOIN "memory_chunk" c ON c."supersededById" = e."id" AND c."personId" IS e."personId")
  SELECT * FROM "earlier"`

/** The first line that says something, cut to a hundred characters. */
export function titleOf(content: string): string {
  const line =
    content
      .trim()
      .split(/[\r\n\u2028\u2029]/, 1)[0]
      ?.replaceAll(/\s+/g, ' ')
      .trim() ?? ''
  const characters = Array.from(line.slice(0, 4 * TITLE_LENGTH))
  return characters.length > TITLE_LENGTH ? `${characters.slice(0, TITLE_LENGTH - 1).join('')}…` : characters.join('')
}

export type ChunksService = ReturnType<typeof createChunksService>

/** What is remembered in free text. Somebody else’s memory does not exist for a caller. */
export function createChunksService({ db, events, household, vectors, resourcesPath, onFault = () => undefined }: ChunksDeps) {
  /** People whose memory is being erased, up to which chunk: nothing of it is found any more. */
  const erasing = new Map<string, number>()
  const isErased = ({ personId, seq }: StoredRow) => personId !== null && seq <= (erasing.get(personId) ?? 0)

  const toChunks = (rows: readonly ChunkRow[]): Chunk[] => withoutGone(db, rows).map(({ seq: _, ...chunk }) => chunk)
  const toChunk = (row: ChunkRow): Chunk => toChunks([row])[0] as Chunk

  const stored = (id: string): StoredRow | null => {
    const row = db.first(ChunkTable, { id }) as StoredRow | undefined
    return row && !isErased(row) ? row : null
  }

  function mustSee(caller: Caller, id: string): StoredRow {
    const row = stored(id)
    if (!row || !isInSight(sightOf(caller), row.personId)) throw notFound('This memory')
    return row
  }

  /** Throws 403 where a member means somebody else, 400 where there is no such person. */
  function checkOwner(caller: Caller, personId: string | null): void {
    if (!isInSight(sightOf(caller), personId)) throw forbidden('You can remember things for yourself and for the household only.')
    if (personId !== null && !household.person(personId)) {
      throw invalid([{ path: 'body.personId', message: 'is nobody of this household' }])
    }
  }

  function rowOf(fields: NewChunk): ChunkRow {
    const at = new Date().toISOString()
    return {
      seq: null,
      id: randomUUID(),
      householdId: household.mustHaveHouse().householdId,
      personId: fields.personId ?? null,
      source: fields.source,
      category: fields.category || 'general',
      title: fields.title || titleOf(fields.content),
      content: fields.content,
      observedAt: fields.observedAt ?? at,
      pinned: fields.pinned ?? false,
      promoted: fields.promoted ?? false,
      embeddingModel: '',
      conversationId: fields.conversationId ?? null,
      messageId: fields.messageId ?? null,
      supersededById: null,
      createdAt: at,
      updatedAt: at,
    }
  }

  const seqOf = (id: string): number =>
    db.select<{ seq: number }>(`SELECT "seq" FROM "memory_chunk" WHERE "id" = ${BOUND_TEXT}`, [id])[0]?.seq ?? 0

  /** Embeds first, so that the row says by what, and writes then. `within` joins the same write, and keeps it from happening by a throw. */
  async function keep(fields: NewChunk, within: (tx: Transaction, row: ChunkRow) => void = () => undefined): Promise<Chunk> {
    const row = rowOf(fields)
    const embedded = await vectors.embed(row)
    row.embeddingModel = vectors.modelOf(embedded)
    await db.write((tx) => {
      within(tx, row)
      tx.insert(ChunkTable, row)
      vectors.put(tx, seqOf(row.id), row.personId, embedded)
      tx.afterCommit(() => events.publish(memoryCreated, { entryId: row.id, category: row.category, content: row.content }))
    })
    return toChunk(row)
  }

  /**
   * Makes an older chunk history, within the write that keeps what contradicts it: that stays pinned and kept in mind as the old one was.
   * False where it is none to be replaced.
   */
  function supersede(tx: Transaction, oldId: string, by: ChunkRow): boolean {
    const old = db.first(ChunkTable, { id: oldId }) as StoredRow | undefined
    if (!old || old.supersededById !== null || old.personId !== by.personId) return false
    tx.update(ChunkTable, oldId, { supersededById: by.id, updatedAt: by.createdAt })
    by.pinned ||= old.pinned
    by.promoted ||= old.promoted
    vectors.forget(tx, old.seq, old.personId)
    tx.afterCommit(() => events.publish(memoryUpdated, { entryId: oldId, content: old.content }))
    return true
  }

  function remove(tx: Transaction, { id, seq, personId }: Pick<StoredRow, 'id' | 'seq' | 'personId'>): void {
    tx.remove(ChunkTable, { id })
    vectors.forget(tx, seq, personId)
  }

  /** What a chunk superseded, directly and before that; nearest first. */
  const earlierThan = (id: string): Pick<StoredRow, 'id' | 'seq' | 'personId'>[] => db.select(EARLIER, [id])

  const supersededBy = (id: string): StoredRow[] => db.find(ChunkTable, { supersededById: id }) as StoredRow[]

  /** Takes one out of the middle of a history; what it had superseded is superseded by what superseded it, and what was another's holds again. */
  function removeFromHistory(tx: Transaction, row: StoredRow): void {
    for (const { id, seq, personId } of supersededBy(row.id)) {
      const supersededById = personId === row.personId ? row.supersededById : null
      tx.update(ChunkTable, id, { supersededById })
      if (supersededById === null) vectors.restore(tx, seq, personId)
    }
    remove(tx, row)
  }

  /** Removes a chunk; what it had superseded holds again. */
  function removeAndRestore(tx: Transaction, row: StoredRow): void {
    const updatedAt = new Date().toISOString()
    for (const { id, seq, personId, content } of supersededBy(row.id)) {
      tx.update(ChunkTable, id, { supersededById: null, updatedAt })
      vectors.restore(tx, seq, personId)
      tx.afterCommit(() => events.publish(memoryUpdated, { entryId: id, content }))
    }
    remove(tx, row)
  }

  /** The oldest go first, in slices, and the chunk last: cut off in between it leaves a shorter history, and nothing that hangs on nothing. */
  async function removeWithHistory(row: StoredRow): Promise<number> {
    const earlier = earlierThan(row.id)
    for (let left = earlier.length; left > 0; left -= FORGOTTEN_AT_ONCE) {
      const oldest = earlier.slice(Math.max(0, left - FORGOTTEN_AT_ONCE), left)
      await db.write((tx) => {
        for (const each of oldest) remove(tx, each)
      })
    }
    await db.write((tx) => {
      const now = stored(row.id)
      if (now) removeFromHistory(tx, now)
    })
    return earlier.length
  }

  /** Whose memory is looked through: what the caller sees, or of that one person. Throws 404 where that is somebody else’s. */
  function narrowed(caller: Caller, personId: string | undefined): Sight {
    const sight = sightOf(caller)
    if (personId === undefined) return sight
    if (!isInSight(sight, personId)) throw notFound('This person’s memory')
    return [personId]
  }

  function rowsOf(ids: string[]): StoredRow[] {
    type Found = Parameters<typeof fromStored>[0]
    const rows = db.select<Found>(`SELECT * FROM "memory_chunk" WHERE "id" IN (SELECT "value" FROM json_each(${BOUND_TEXT}))`, [
      JSON.stringify(ids),
    ])
    const byId = new Map(rows.map((row) => [row.id, fromStored(row)]))
    return ids.flatMap((id) => byId.get(id) ?? []).filter((row) => row.supersededById === null && !isErased(row))
  }

  const byQuestion = createChunkSearch({ db, embed: vectors.embedQuery, nearest: vectors.nearest, resourcesPath, onFault })

  async function searchAs(sight: Sight, asker: string | null, q: string, { source, category, limit }: SearchFilter): Promise<Chunk[]> {
    if (db.select('SELECT 1 FROM "memory_chunk" LIMIT 1').length === 0) return [] // nothing is loaded for nothing
    const isFiltered = source !== undefined || category !== undefined
    const one = sight !== 'all' && sight.length === 1 ? sight[0] : undefined
    const found = await byQuestion.search({
      q: q.slice(0, MAX_QUESTION),
      personIds: sight === 'all' ? 'all' : sight.filter((id) => id !== null),
      includeHousehold: sight === 'all' || sight.includes(null),
      ...(typeof one === 'string' && { personId: one }),
      ...(asker !== null && { preferPersonId: asker }),
      limit: isFiltered ? FILTERED : limit,
      now: new Date(),
      timezone: household.get().household.timezone,
    })
    const fitting = rowsOf(found.map(({ id }) => id))
      .filter((row) => isInSight(sight, row.personId))
      .filter((row) => (source === undefined || row.source === source) && (category === undefined || row.category === category))
    return toChunks(fitting.slice(0, limit))
  }

  /** Embeds a new text first; false, with nothing changed, where it has become another one meanwhile. */
  async function changed(caller: Caller, id: string, fields: ChunkChanges): Promise<boolean> {
    const before = mustSee(caller, id)
    // what is sent back as it was read stays, also of somebody who has moved out
    if (fields.personId !== undefined && fields.personId !== before.personId) checkOwner(caller, fields.personId)
    const content = fields.content ?? before.content
    // a title that was made of the text follows it, even where the record is sent back as it was read
    const isTitleMade = before.title === titleOf(before.content)
    const title = isTitleMade && (fields.title ?? before.title) === before.title ? '' : (fields.title ?? before.title)
    const text = { content, title: title || titleOf(content) }
    const isNewText = text.content !== before.content || text.title !== before.title
    const embedded = isNewText ? await vectors.embed(text) : []
    return db.write((tx) => {
      const now = stored(id)
      if (!now) throw notFound('This memory')
      if (now.content !== before.content || now.title !== before.title || now.personId !== before.personId) return false
      if (fields.personId !== undefined && fields.personId !== now.personId && now.supersededById !== null)
        throw invalid([{ path: 'body.personId', message: 'is that of the newer memory, of which this is the history' }])
      const { personId = now.personId, ...rest } = Object.fromEntries(
        Object.entries({ ...fields, ...(isNewText && text), category: fields.category === '' ? 'general' : fields.category }).filter(
          ([, value]) => value !== undefined,
        ),
      ) as Partial<ChunkRow>
      const given: Partial<ChunkRow> = { ...rest, personId }
      if (Object.entries(given).every(([key, value]) => now[key as keyof ChunkRow] === value)) return true
      const patch: Partial<ChunkRow> = { ...given, updatedAt: new Date().toISOString() }
      if (isNewText) {
        patch.embeddingModel = vectors.modelOf(embedded)
        vectors.clear(tx, now.seq, now.personId)
        if (now.supersededById === null) vectors.put(tx, now.seq, personId, embedded)
        else patch.embeddingModel = ''
      } else if (personId !== now.personId) vectors.move(tx, now.seq, now.personId, personId)
      if (personId !== now.personId) for (const earlier of earlierThan(id)) tx.update(ChunkTable, earlier.id, { personId })
      tx.update(ChunkTable, id, patch)
      tx.afterCommit(() => events.publish(memoryUpdated, { entryId: id, content: patch.content ?? now.content }))
      return true
    })
  }

  return {
    keep,
    supersede,

    async add(caller: Caller, fields: ChunkFields): Promise<Chunk> {
      checkOwner(caller, fields.personId ?? null)
      return keep(fields)
    },

    get: (caller: Caller, id: string): Chunk => toChunk(mustSee(caller, id)),

    /** Newest first. */
    list(caller: Caller, { personId, ...filter }: ListFilter & { personId?: string | undefined }) {
      const { rows, nextCursor } = listChunks(db, narrowed(caller, personId), filter)
      return { chunks: toChunks(rows.filter((row) => !isErased(row as StoredRow))), nextCursor }
    },

    /** Best first. */
    search: (caller: Caller, q: string, filter: SearchFilter): Promise<Chunk[]> =>
      searchAs(narrowed(caller, filter.personId), caller.personId, q, filter),

    /** Best first, of the person’s and the household’s own. */
    searchFor: (personId: string | null, q: string, limit: number): Promise<Chunk[]> => searchAs(ownOf(personId), personId, q, { limit }),

    /** What is always to be told, newest first, of the person’s and the household’s own. */
    promotedFor(personId: string | null, limit: number): Chunk[] {
      const sight = ownOf(personId)
      const all = db
        .find(ChunkTable, { promoted: true, supersededById: null }, { order: 'observedAt desc', limit: FILTERED })
        .filter((row) => isInSight(sight, row.personId) && !isErased(row as StoredRow))
      return toChunks(all.slice(0, limit))
    },

    /** Throws 404, 403 and 400, and 409 while others go on changing its text. */
    async update(caller: Caller, id: string, fields: ChunkChanges): Promise<Chunk> {
      for (let tries = 0; tries < TRIES; tries += 1) if (await changed(caller, id, fields)) return toChunk(mustSee(caller, id))
      throw conflict('conflict', 'This memory is being changed by others at the moment.')
    },

    /** What a chunk superseded, nearest first. */
    history(caller: Caller, id: string): Chunk[] {
      mustSee(caller, id)
      const nearest = earlierThan(id).slice(0, FILTERED)
      return toChunks(nearest.flatMap((row) => stored(row.id) ?? []))
    },

    /**
     * Forgets a chunk with its history, or with `restore` lets what it superseded hold again; one that is history itself goes alone.
     * Answers how many earlier ones went with it.
     */
    async remove(caller: Caller, id: string, earlier: 'forget' | 'restore' = 'forget'): Promise<number> {
      const row = mustSee(caller, id)
      if (row.supersededById === null && earlier === 'forget') return removeWithHistory(row)
      await db.write((tx) => {
        const now = stored(id)
        if (!now) return
        if (now.supersededById === null) removeAndRestore(tx, now)
        else removeFromHistory(tx, now)
      })
      return 0
    },

    /** Keeps again what was removed, with its history (nearest first), under the ids it had, unless `check` throws in the same write. */
    async keepAgain(chunk: Chunk, earlier: readonly Chunk[], check: () => void): Promise<void> {
      const embedded = await vectors.embed(chunk)
      await db.write((tx) => {
        check()
        for (const each of earlier.toReversed()) tx.insert(ChunkTable, { ...each, seq: null, embeddingModel: '' })
        tx.insert(ChunkTable, { ...chunk, seq: null, embeddingModel: vectors.modelOf(embedded) })
        vectors.put(tx, seqOf(chunk.id), chunk.personId, embedded)
        tx.afterCommit(() => events.publish(memoryCreated, { entryId: chunk.id, category: chunk.category, content: chunk.content }))
      })
    },

    /** Whose memory it is. Throws 404 where that is somebody else’s or nobody’s. */
    person(caller: Caller, personId: string): { id: string; displayName: string } {
      if (!isInSight(sightOf(caller), personId)) throw notFound('This person')
      const person = household.person(personId)
      if (person) return { id: personId, displayName: person.displayName }
      if (!db.first(ChunkTable, { personId })) throw notFound('This person')
      return { id: personId, displayName: '' }
    },

    /** Everything remembered of a person, page by page, oldest last. */
    async *exported(personId: string): AsyncGenerator<Chunk[]> {
      let cursor: string | undefined
      do {
        const { rows, nextCursor } = listChunks(db, [personId], { history: true, limit: EXPORTED_AT_ONCE, cursor })
        yield toChunks(rows)
        cursor = nextCursor ?? undefined
        await nextTurn()
      } while (cursor)
    },

    /** Forgets everything of a person, in slices, and answers how much it was; nothing of it is found from the first moment on. */
    async erase(personId: string): Promise<number> {
      let erased = 0
      const last = db.select<{ seq: number | null }>('SELECT max("seq") AS "seq" FROM "memory_chunk"')[0]?.seq ?? 0
      erasing.set(personId, last)
      const slice = `SELECT "id", "seq", "personId" FROM "memory_chunk" WHERE "personId" = ${BOUND_TEXT} AND "seq" <= (? + 0) LIMIT ${ERASED_AT_ONCE}`
      try {
        for (;;) {
          const removed = await db.write((tx) => {
            const rows = db.select<StoredRow>(slice, [personId, last])
            for (const row of rows) remove(tx, row)
            if (rows.length === 0) tx.remove(ExtractionTable, { personId })
            return rows.length
          })
          if (removed === 0) return erased
          erased += removed
        }
      } finally {
        erasing.delete(personId)
      }
    },
  }
}
