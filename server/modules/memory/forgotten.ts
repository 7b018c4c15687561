import type { Caller } from '../../kit/caller.ts'
import { AppError, conflict } from '../../kit/errors.ts'
import type { ChunksService } from './chunks.service.ts'
import type { Chunk } from './memory.contract.ts'
import type { NoteKeeper } from './notes.ts'
import { isInSight, sightOf } from './visibility.ts'

interface Held {
  /** When it was forgotten. */
  at: string
  chunk: Chunk
  earlier: Chunk[]
  /** When it is gone for good. */
  until: number
}

/** For so long what was forgotten can be had back; it is in no file meanwhile, so that it is gone with the process too. */
const HELD_MS = 10 * 60_000
const MOST_HELD = 200
const MOST_CHARACTERS = 2_000_000

const goneForGood = () => new AppError(404, 'not_found', 'That is gone for good.')

interface ForgottenDeps {
  chunks: Pick<ChunksService, 'get' | 'history' | 'remove' | 'keepAgain'>
  notes: Pick<NoteKeeper, 'contradictedSince'>
  now?: () => number
}

export type Forgotten = ReturnType<typeof createForgotten>

/** Forgets memories, and brings back those that were forgotten a few minutes ago. */
export function createForgotten({ chunks, notes, now = Date.now }: ForgottenDeps) {
  const held = new Map<string, Held>()
  /** How often everything of a person was let go of: what was under way meanwhile neither holds it again nor brings it back. */
  const drops = new Map<string | null, number>()
  const dropsOf = ({ personId }: Chunk): number => drops.get(personId) ?? 0

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
      const drop = dropsOf(chunk)
      const at = new Date(now()).toISOString()
      const earlier = await chunks.remove(caller, id)
      // one that is history itself goes out of the middle, where it cannot be put back
      const isWhole = chunk.supersededById === null && before.length === earlier
      if (isWhole && dropsOf(chunk) === drop) held.set(id, { at, chunk, earlier: before, until: now() + HELD_MS })
      tidy()
      return { title: chunk.title, earlier, canUndo: held.has(id) }
    },

    /**
     * Brings back one that was forgotten. Throws 404 where it is gone for good, or was somebody else’s, and 409 where what was noted since
     * contradicts it.
     */
    async restore(caller: Caller, id: string): Promise<Chunk> {
      tidy()
      const one = held.get(id)
      if (!one || !isInSight(sightOf(caller), one.chunk.personId)) throw goneForGood()
      const drop = dropsOf(one.chunk)
      held.delete(id)
      try {
        await chunks.keepAgain(one.chunk, one.earlier, () => {
          if (dropsOf(one.chunk) !== drop) throw goneForGood()
          const newer = notes.contradictedSince(one.at, one.chunk)
          if (newer !== null) throw conflict('contradicted', `I was told otherwise since, so that stays forgotten. I know now: ${newer}`)
        })
      } catch (error) {
        if (dropsOf(one.chunk) === drop) held.set(id, one)
        throw error
      }
      return chunks.get(caller, id)
    },

    /** Lets go of everything of a person, what is being forgotten or brought back at the moment too. */
    drop(personId: string): void {
      drops.set(personId, (drops.get(personId) ?? 0) + 1)
      for (const [id, { chunk }] of held) if (chunk.personId === personId) held.delete(id)
    },
  }
}
