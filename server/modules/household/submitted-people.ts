import { randomUUID } from 'node:crypto'
import { conflict, type Detail, invalid } from '../../kit/errors.ts'
import type { SubmittedPerson } from './household.contract.ts'
import type { PersonRow } from './household.table.ts'

export interface People {
  /** As they are to be stored, in the order in which they were submitted. */
  kept: PersonRow[]
  /** Stored ones that were not submitted. */
  removed: PersonRow[]
}

const nameKey = (name: string) => name.trim().replaceAll(/\s+/g, ' ').normalize('NFC').toLowerCase()
const idKey = (id: string) => id.toLowerCase()

/** One detail for each key that an earlier one of the list has too. */
function repeated(keys: (string | undefined)[], field: string, message: string): Detail[] {
  return keys.flatMap((key, at) => (key !== undefined && keys.indexOf(key) < at ? [{ path: `body.persons.${at}.${field}`, message }] : []))
}

function checkList(stored: PersonRow[], submitted: SubmittedPerson[]): void {
  const ids = submitted.map(({ id }) => id && idKey(id))
  const unknown = ids.flatMap((id, at) =>
    id && !stored.some((person) => person.id === id) ? [{ path: `body.persons.${at}.id`, message: 'is nobody of this household' }] : [],
  )
  const names = submitted.map(({ displayName }) => nameKey(displayName))
  const faults = [...unknown, ...repeated(ids, 'id', 'is given twice'), ...repeated(names, 'displayName', 'is given twice')]
  if (faults.length > 0) throw invalid(faults)
}

const FIRST_BIRTH = '1900-01-01'
/** Anywhere on earth it is not later than this day. */
const lastDay = () => new Date(Date.now() + 14 * 3_600_000).toISOString().slice(0, 10)

/** A birth date that changes has to be a likely one; what was stored before may stay. */
function checkBirths(kept: PersonRow[], stored: PersonRow[]): void {
  const faults = kept.flatMap(({ id, birthDate }, at): Detail[] => {
    if (birthDate === null || stored.find((person) => person.id === id)?.birthDate === birthDate) return []
    const path = `body.persons.${at}.birthDate`
    if (birthDate < FIRST_BIRTH) return [{ path, message: 'is before 1900' }]
    return birthDate > lastDay() ? [{ path, message: 'is in the future' }] : []
  })
  if (faults.length > 0) throw invalid(faults)
}

function checkOwner({ kept, removed }: People, stored: PersonRow[]): void {
  const owner = stored.find(({ role }) => role === 'owner')
  if (removed.some(({ id }) => id === owner?.id)) throw conflict('owner_required', 'The owner cannot be removed from the household.')
  if (kept.find(({ id }) => id === owner?.id)?.role !== 'owner') throw conflict('owner_required', 'The household needs its owner.')
  const second = kept.findIndex(({ id, role }) => role === 'owner' && id !== owner?.id)
  if (second >= 0) throw invalid([{ path: `body.persons.${second}.role`, message: 'can be owner for one person only' }])
}

/**
 * Whom a submitted list leaves in the household: known by id, else by name. Throws 400 for an unknown or repeated one or an unlikely birth date, 409 `owner_required`
 * where the owner would go.
 */
export function peopleAfter(stored: PersonRow[], submitted: SubmittedPerson[], householdId: string): People {
  checkList(stored, submitted)
  const claimed = new Set(submitted.flatMap(({ id }) => (id ? [idKey(id)] : [])))
  const byName = new Map(stored.filter(({ id }) => !claimed.has(id)).map((person) => [nameKey(person.displayName), person]))
  const kept = submitted.map(({ id, displayName, ...given }, position): PersonRow => {
    const before = id ? stored.find((person) => person.id === idKey(id)) : byName.get(nameKey(displayName))
    return {
      id: before?.id ?? randomUUID(),
      householdId,
      displayName,
      pronouns: given.pronouns ?? before?.pronouns ?? '',
      role: given.role ?? before?.role ?? 'adult',
      aliases: given.aliases ?? before?.aliases ?? [],
      birthDate: given.birthDate === undefined ? (before?.birthDate ?? null) : given.birthDate,
      position,
    }
  })
  const people = { kept, removed: stored.filter(({ id }) => !kept.some((person) => person.id === id)) }
  checkBirths(kept, stored)
  checkOwner(people, stored)
  return people
}
