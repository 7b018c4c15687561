import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../db/database.ts'
import type { Household, Person } from './household.contract.ts'
import { HouseholdTable, InstanceTable, type PersonRow, PersonTable } from './household.table.ts'

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

export type HouseholdService = ReturnType<typeof createHouseholdService>

const toPerson = ({ position: _, ...person }: PersonRow): Person => person

/** The household and its people. */
export function createHouseholdService({ db }: { db: Database }) {
  let known: House | null = null
  /** Read by every prompt and many pages, written by this service alone. */
  let current: { household: Household; persons: Person[] } | null = null

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

    person(id: string): Person | null {
      const row = db.get(PersonTable, id)
      return row ? toPerson(row) : null
    },
  }
}
