import type { ChunksService } from '../memory/chunks.service.ts'
import type { LearningMemory } from './learning.service.ts'

/** What was learned is kept among the other memories, as coming from a conversation. */
export const learningMemory = (chunks: ChunksService): LearningMemory => ({
  async nearest(text, personId, limit) {
    const found = await chunks.searchFor(personId, text, limit)
    return found.map(({ id, content, pinned, promoted }) => ({ id, content, isKept: pinned || promoted }))
  },
  async keep({ supersedes, ...fact }) {
    await chunks.keep({ source: 'chat_extract', ...fact }, (tx, row) => {
      if (supersedes !== null) chunks.supersede(tx, supersedes, row)
    })
  },
})
