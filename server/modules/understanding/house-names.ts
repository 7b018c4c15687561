import type { Caller } from '../../kit/caller.ts'
import type { Person } from '../household/household.contract.ts'
import type { UnderstandingNames } from './understood.ts'

export interface HouseNamesDeps {
  household: { get(): { persons: Person[] } }
  lists(): readonly string[]
  timers(): readonly string[]
}

/** Hands back what it was handed last for as long as it says the same. */
function kept<Input, Output>(make: (input: Input) => Output): (input: Input) => Output {
  let last: { key: string; output: Output } | undefined
  return (input) => {
    const key = JSON.stringify(input)
    if (last?.key !== key) last = { key, output: make(input) }
    return last.output
  }
}

/** What people, lists and timers are called now. Guests know themselves alone, and no lists or timers. */
export function createHouseNames({ household, lists, timers }: HouseNamesDeps) {
  const named = (persons: Person[]) => persons.map(({ id, displayName, aliases }) => ({ id, name: displayName, aliases }))
  const people = kept(named)
  const same = <Value>(value: Value) => value
  const listNames = kept<readonly string[], readonly string[]>(same)
  const timerNames = kept<readonly string[], readonly string[]>(same)
  const none: never[] = []

  return ({ scope, personId }: Pick<Caller, 'scope' | 'personId'>): UnderstandingNames => ({
    people: scope === 'guest' ? named(household.get().persons.filter(({ id }) => id === personId)) : people(household.get().persons),
    lists: scope === 'guest' ? none : listNames(lists()),
    timers: scope === 'guest' ? none : timerNames(timers()),
    songs: none,
    playlists: none,
    plugs: none,
    boxes: none,
    cameras: none,
    areas: none,
  })
}
