import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { ChunksService, NewChunk } from './chunks.service.ts'
import type { Chunk } from './memory.contract.ts'
import { allWords } from './plain-words.ts'
import { contradicts, type Statement, statementIn } from './same-subject.ts'

export interface Note {
  content: string
  category?: string | undefined
  personId: string | null
  conversationId?: string | undefined
  messageId?: string | undefined
  /** What a person wrote, pinned or promoted stays as it is, whatever contradicts it: no model replaces that. */
  sparesWritten?: boolean
}

interface Known {
  id: string
  content: string
  createdAt: string
}

const MOST_KNOWN = 50
const NOTED = ['note', 'chat_extract']

export type NoteKeeper = ReturnType<typeof createNoteKeeper>

/** Keeps notes; one that states something else of the same subject makes the older one history. */
export function createNoteKeeper({ db, chunks }: { db: Database; chunks: ChunksService }) {
  /** Notes of the same owner that make a statement about the same subject. */
  function aboutSame({ subject }: Statement, personId: string | null, sparesWritten: boolean): Known[] {
    const match = allWords(subject)
    if (!match) return []
    const learned = sparesWritten ? ` AND c."source" = 'chat_extract' AND c."pinned" = 0 AND c."promoted" = 0` : ''
    const whose = personId === null ? 'c."personId" IS NULL' : `c."personId" = ${BOUND_TEXT}`
    const sql = `SELECT c."id", c."content", c."createdAt" FROM "memory_chunk_search" JOIN "memory_chunk" c ON c."seq" = "memory_chunk_search"."rowid"
      WHERE "memory_chunk_search" MATCH ${BOUND_TEXT} AND ${whose} AND c."source" IN ('note', 'chat_extract') AND c."supersededById" IS NULL${learned}
      AND length(c."content") < 400 ORDER BY "memory_chunk_search"."rowid" DESC LIMIT ${MOST_KNOWN}`
    return db.select<Known>(sql, [match, ...(personId === null ? [] : [personId])])
  }

  return {
    /** What was noted since a moment and says otherwise than an older note of the same owner. */
    contradictedSince(at: string, { content, personId, source }: Chunk): string | null {
      const older = NOTED.includes(source) ? statementIn(content) : null
      if (!older) return null
      const since = aboutSame(older, personId, false).filter(({ createdAt }) => createdAt >= at)
      const newer = since.find((known) => {
        const statement = statementIn(known.content)
        return statement !== null && contradicts(statement, older)
      })
      return newer?.content ?? null
    },

    async keep({
      content,
      category,
      personId,
      conversationId,
      messageId,
      sparesWritten = false,
    }: Note): Promise<{ chunk: Chunk; replaced: Known | null }> {
      const statement = statementIn(content)
      const fields: NewChunk = {
        source: 'note',
        content,
        category,
        personId,
        ...(conversationId && { conversationId }),
        ...(messageId && { messageId }),
      }
      let replaced: Known | null = null
      const chunk = await chunks.keep(fields, (tx, row) => {
        if (!statement) return
        for (const known of aboutSame(statement, personId, sparesWritten)) {
          const older = statementIn(known.content)
          if (older && contradicts(statement, older) && chunks.supersede(tx, known.id, row)) replaced ??= known
        }
      })
      return { chunk, replaced }
    },
  }
}
