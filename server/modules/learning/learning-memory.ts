import { notFound } from '../../kit/errors.ts'
import type { ChunksService } from '../memory/chunks.service.ts'
import type { RecollectionService } from '../memory/recollection.ts'
import type { LearningMemory } from './learning.service.ts'

const LEARNED = 'chat_extract'

/** What was learned is kept among the other memories, as coming from a conversation. */
export const learningMemory = (chunks: ChunksService, recollection: RecollectionService): LearningMemory => ({
  async nearest(text, personId, limit) {
    const found = await chunks.searchFor(personId, text, limit)
    return found.map(({ id, content, source, pinned, promoted }) => ({ id, content, isKept: source !== LEARNED || pinned || promoted }))
  },
  isOfSameSubject: recollection.isOfSameSubject,
  async keep({ supersedes, isStillSaid, ...fact }) {
    await chunks.keep({ source: LEARNED, ...fact }, (tx, row) => {
      if (!isStillSaid()) throw notFound('This message')
      if (supersedes !== null) chunks.supersede(tx, supersedes, row)
    })
  },
})
