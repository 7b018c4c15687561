import type { Database } from '../../db/database.ts'
import type { Caller } from '../../kit/caller.ts'
import { notFound } from '../../kit/errors.ts'
import type { HouseholdService } from '../household/household.service.ts'
import type { ChunksService } from './chunks.service.ts'
import { isInSight, sightOf } from './visibility.ts'

/** Takes out what another room keeps of a person’s words, and answers how many records held some. */
export type PersonEraser = (personId: string, extent: { conversations: boolean }) => Promise<number>

export type PersonErasure = ReturnType<typeof createPersonErasure>

/** Forgets everything remembered of a person, in whatever room it is kept. Each step may be done again after one that was cut off. */
export function createPersonErasure({
  db,
  household,
  chunks,
}: {
  db: Pick<Database, 'emptyLog'>
  household: HouseholdService
  chunks: ChunksService
}) {
  const others: PersonEraser[] = []

  return {
    /** Another room that keeps words of people. */
    join: (eraser: PersonEraser) => void others.push(eraser),

    /** Throws 404 where it is somebody else’s memory or nobody’s. */
    async erase(caller: Caller, personId: string, { conversations }: { conversations: boolean }): Promise<void> {
      if (!isInSight(sightOf(caller), personId)) throw notFound('This person')
      const hasMovedOut = household.person(personId) === null
      let erased = await chunks.erase(personId)
      // nobody can open the conversations of somebody who has moved out
      for (const eraser of others) erased += await eraser(personId, { conversations: conversations || hasMovedOut })
      if (hasMovedOut && erased === 0) throw notFound('This person')
      await db.emptyLog()
    },
  }
}
