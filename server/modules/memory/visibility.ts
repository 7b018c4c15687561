import type { Caller } from '../../kit/caller.ts'

/** Whose memory a caller sees: everybody’s, or the household’s and their own. */
export type Sight = 'all' | (string | null)[]

/** The owner and admins see everything; a member the household’s and their own, a shared device the household’s. A key sees what its scope does. */
export const sightOf = ({ scope, personId }: Pick<Caller, 'scope' | 'personId'>): Sight => (scope === 'admin' ? 'all' : ownOf(personId))

/** What somebody is told without asking whose it is: the household’s and their own, were they the owner of the house. */
export const ownOf = (personId: string | null): (string | null)[] => (personId === null ? [null] : [null, personId])

export const isInSight = (sight: Sight, personId: string | null): boolean => sight === 'all' || sight.includes(personId)
