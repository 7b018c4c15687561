import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../db/database.ts'
import { conflict } from '../../kit/errors.ts'
import type { Household, Person, SubmittedHousehold } from './household.contract.ts'
import { HouseholdTable, InstanceTable, type PersonRow, PersonTable } from './household.table.ts'
import { peopleAfter } from './submitted-people.ts'

/** The ids that everything of this house hangs on; they never change once made. */
export interface House {
  instanceId: string
  consoleDeviceId: string
  householdId: string
  ownerPersonId: string
}

export interface NewHouse {
  ownerName: string
  displayName: string
  timezone: string
  locale: string
}

/** Lets go of what hangs on a person who leaves, inside the same write. */
export type OnPersonRemoved = (tx: Transaction, personId: string) => void

export type HouseholdService = ReturnType<typeof createHouseholdService>

/** Throws 409 where people would be lost: they are removed first, then the mode may change. */
function checkMode(mode: Household['mode'], storedPeople: number, submittedPeople: number): void {
  if (mode === 'single' && Math.max(storedPeople, submittedPeople) > 1)
    throw conflict('household_has_members', 'A household of several people cannot be for one alone. Remove the others first.')
}

const toPerson = ({ position: _, ...person }: PersonRow): Person => person

/** The household and its people. */
export function createHouseholdService({ db }: { db: Database }) {
  let known: House | null = null
  /** Read by every prompt and many pages, written by this service alone. */
  let current: { household: Household; persons: Person[] } | null = null
  const removedHooks: OnPersonRemoved[] = []

  function read(): House | null {
    const instance = db.find(InstanceTable, {}, { limit: 1 })[0]
    const household = db.find(HouseholdTable, {}, { limit: 1 })[0]
    const owner = household && db.first(PersonTable, { householdId: household.id, role: 'owner' })
    if (!instance || !household || !owner) return null
    return { instanceId: instance.id, consoleDeviceId: instance.consoleDeviceId, householdId: household.id, ownerPersonId: owner.id }
  }

  return {
    /** Null until this Hearth is set up. */
    house(): House | null {
      known ??= read()
      return known
    },

    /** The ids of the house; throws before it is set up, which no admitted request can meet. */
    mustHaveHouse(): House {
      known ??= read()
      if (!known) throw new Error('This Hearth is not set up')
      return known
    },

    /** Makes the household (mode single) and its first person, the owner, inside a write. */
    found(tx: Transaction, { ownerName, ...settings }: NewHouse): House {
      const at = new Date().toISOString()
      const house = { instanceId: randomUUID(), consoleDeviceId: randomUUID(), householdId: randomUUID(), ownerPersonId: randomUUID() }
      tx.insert(InstanceTable, { id: house.instanceId, consoleDeviceId: house.consoleDeviceId, createdAt: at })
      tx.insert(HouseholdTable, { id: house.householdId, mode: 'single', createdAt: at, updatedAt: at, ...settings })
      tx.insert(PersonTable, {
        id: house.ownerPersonId,
        householdId: house.householdId,
        displayName: ownerName,
        pronouns: '',
        role: 'owner',
        aliases: [],
        birthDate: null,
        position: 0,
      })
      return house
    },

    get(): { household: Household; persons: Person[] } {
      if (current) return current
      const { householdId } = this.mustHaveHouse()
      const row = db.get(HouseholdTable, householdId)
      if (!row) throw new Error('The household has no row')
      const { createdAt: _, updatedAt: __, ...household } = row
      current = { household, persons: db.find(PersonTable, { householdId }, { order: 'position asc' }).map(toPerson) }
      return current
    },

    /**
     * Takes the whole state that was submitted. Throws 400, 409 `household_has_members` and 409 `owner_required`, and changes nothing then.
     */
    replace({ persons, ...settings }: SubmittedHousehold): Promise<{ household: Household; persons: Person[] }> {
      return db.write((tx) => {
        const { householdId } = this.mustHaveHouse()
        const stored = db.find(PersonTable, { householdId }, { order: 'position asc' })
        checkMode(settings.mode, stored.length, persons.length)
        const { kept, removed } = peopleAfter(stored, persons, householdId)
        tx.update(HouseholdTable, householdId, { ...settings, updatedAt: new Date().toISOString() })
        for (const { id } of removed) {
          tx.remove(PersonTable, { id })
          for (const hook of removedHooks) hook(tx, id)
        }
        for (const person of kept) if (!tx.update(PersonTable, person.id, person)) tx.insert(PersonTable, person)
        tx.afterCommit(() => {
          current = null
        })
        return { household: { id: householdId, ...settings }, persons: kept.map(toPerson) }
      })
    },

    onPersonRemoved: (hook: OnPersonRemoved) => void removedHooks.push(hook),

    person(id: string): Person | null {
      const row = db.get(PersonTable, id)
      return row ? toPerson(row) : null
    },
  }
}
