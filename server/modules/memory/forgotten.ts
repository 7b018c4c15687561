import type { Caller } from '../../kit/caller.ts'
import { AppError } from '../../kit/errors.ts'
import type { ChunksService } from './chunks.service.ts'
import type { Chunk } from './memory.contract.ts'
import { isInSight, sightOf } from './visibility.ts'

interface Held {
  chunk: Chunk
  earlier: Chunk[]
  /** When it is gone for good. */
  until: number
}

/** For so long what was forgotten can be had back; it is in no file meanwhile, so that it is gone with the process too. */
const HELD_MS = 10 * 60_000
const MOST_HELD = 200
const MOST_CHARACTERS = 2_000_000

export type Forgotten = ReturnType<typeof createForgotten>

/** Forgets memories, and brings back those that were forgotten a few minutes ago. */
export function createForgotten({ chunks, now = Date.now }: { chunks: ChunksService; now?: () => number }) {
  const held = new Map<string, Held>()

  const charactersOf = ({ chunk, earlier }: Held) => [chunk, ...earlier].reduce((sum, { content }) => sum + content.length, 0)

  /** Lets go of what is over, and of the oldest where it would be too much. */
  function tidy(): void {
    for (const [id, { until }] of held) if (until <= now()) held.delete(id)
    let characters = [...held.values()].reduce((sum, one) => sum + charactersOf(one), 0)
    for (const [id, one] of held) {
      if (held.size <= MOST_HELD && characters <= MOST_CHARACTERS) break
      held.delete(id)
      characters -= charactersOf(one)
    }
  }

  return {
    /** Forgets a memory with its history. Throws 404 where the caller sees none such. */
    async forget(caller: Caller, id: string): Promise<{ title: string; earlier: number; canUndo: boolean }> {
      const chunk = chunks.get(caller, id)
      const before = chunks.history(caller, id)
      const earlier = await chunks.remove(caller, id)
      // one that is history itself goes out of the middle, where it cannot be put back
      if (chunk.supersededById === null && before.length === earlier) held.set(id, { chunk, earlier: before, until: now() + HELD_MS })
      tidy()
      return { title: chunk.title, earlier, canUndo: held.has(id) }
    },

    /** Brings back one that was forgotten. Throws 404 where it is gone for good, or was somebody else’s. */
    async restore(caller: Caller, id: string): Promise<Chunk> {
      tidy()
      const one = held.get(id)
      if (!one || !isInSight(sightOf(caller), one.chunk.personId)) throw new AppError(404, 'not_found', 'That is gone for good.')
      held.delete(id)
      try {
        await chunks.keepAgain(one.chunk, one.earlier)
      } catch (error) {
        held.set(id, one)
        throw error
      }
      return chunks.get(caller, id)
    },

    /** Lets go of everything of a person. */
    drop(personId: string): void {
      for (const [id, { chunk }] of held) if (chunk.personId === personId) held.delete(id)
    },
  }
}
