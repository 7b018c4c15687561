import type { Caller } from '../../kit/caller.ts'
import { closest } from '../../kit/closest.ts'
import type { Person } from '../household/household.contract.ts'
import type { SeenTimer } from './timers.contract.ts'
import type { OwnedTimer } from './timers.service.ts'

const withoutKind = (name: string) => name.replace(/\s*\b(?:timer|alarm)s?$/i, '').trim()

/** Whether it is the speaker's: set by this person, or at this device where nobody is known to speak. */
export function isOwn({ timer, personId }: OwnedTimer, caller: Pick<Caller, 'personId' | 'deviceId'>): boolean {
  return personId === null ? caller.personId === null && timer.deviceId === caller.deviceId : personId === caller.personId
}

/**
 * A timer of the house may be stopped by any member, as may an alarm that is nobody's in particular; one that wakes a person, by that
 * person, where it rings, and by an admin.
 */
export function mayChange({ timer, personId }: OwnedTimer, caller: Pick<Caller, 'scope' | 'personId' | 'deviceId'>): boolean {
  const isShared = timer.kind === 'timer' || personId === null
  return isShared || caller.scope === 'admin' || personId === caller.personId || timer.deviceId === caller.deviceId
}

/** Of whom it is said to be: the person's name, else the device's. */
export function ownerOf({ personId, deviceName }: OwnedTimer, persons: readonly Person[]): string {
  return persons.find(({ id }) => id === personId)?.displayName ?? deviceName ?? 'another device'
}

/** How it is told to `caller` over the interface. */
export function asSeen(owned: OwnedTimer, caller: Caller, persons: readonly Person[]): SeenTimer {
  return {
    ...owned.timer,
    ...(!isOwn(owned, caller) && { owner: ownerOf(owned, persons) }),
    mayChange: mayChange(owned, caller),
  }
}

/** Those of the person or device that `name` begins with, such as “Ben’s tea”, and what is left of the name; null where it names nobody. */
function ofOwner(name: string, all: readonly OwnedTimer[], persons: readonly Person[]): { rest: string; theirs: OwnedTimer[] } | null {
  for (const owner of new Set(all.map((one) => ownerOf(one, persons)))) {
    const spoken = name.toLowerCase()
    const bare = owner.toLowerCase()
    const after = spoken.startsWith(bare) ? /^(?:['’]s?|s)?(?=\s|$)\s*/.exec(spoken.slice(bare.length)) : null
    if (after) return { rest: name.slice(bare.length + after[0].length), theirs: all.filter((one) => ownerOf(one, persons) === owner) }
  }
  return null
}

/** Those that a name means: of one's own first, then of everybody's; several where it names only whose they are. */
export function named(name: string, all: readonly OwnedTimer[], caller: Caller, persons: readonly Person[]): OwnedTimer[] {
  const nameOf = ({ timer }: OwnedTimer) => withoutKind(timer.name ?? '')
  const bare = withoutKind(name.replace(/^(?:the|my|our)\s+/i, ''))
  const own = all.filter((one) => isOwn(one, caller))
  const found = closest(bare, own, nameOf) ?? closest(bare, all, nameOf)
  if (found) return [found]
  const owned = ofOwner(bare, all, persons)
  if (!owned) return []
  const theirs = owned.rest === '' ? null : closest(owned.rest, owned.theirs, nameOf)
  return owned.rest === '' ? owned.theirs : theirs ? [theirs] : []
}
