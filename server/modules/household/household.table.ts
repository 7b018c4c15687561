import { id, integer, table, text, textOrNull } from '../../db/table.ts'
import type { Person } from './household.contract.ts'

/** One row: what this Hearth is, apart from the people in it. */
export interface InstanceRow {
  id: string
  /** The device id that the owner's browser sessions and API keys share. */
  consoleDeviceId: string
  createdAt: string
}
export const InstanceTable = table<InstanceRow>('instance', { id, consoleDeviceId: text, createdAt: text })

export interface HouseholdRow {
  id: string
  displayName: string
  mode: 'single' | 'multi'
  timezone: string
  locale: string
  createdAt: string
  updatedAt: string
}
export const HouseholdTable = table<HouseholdRow>('household', {
  id,
  displayName: text,
  mode: text,
  timezone: text,
  locale: text,
  createdAt: text,
  updatedAt: text,
})

export interface PersonRow {
  id: string
  householdId: string
  displayName: string
  pronouns: string
  role: Person['role']
  aliases: string[]
  birthDate: string | null
  /** Place in the list, from 0. */
  position: number
}
export const PersonTable = table<PersonRow>(
  'person',
  {
    id,
    householdId: text,
    displayName: text,
    pronouns: text,
    role: text,
    aliases: { type: 'simple-json' },
    birthDate: textOrNull,
    position: integer,
  },
  [{ name: 'person_household', columns: ['householdId', 'position'] }],
  [{ name: 'person_household_fk', columnNames: ['householdId'], target: 'household', referencedColumnNames: ['id'], onDelete: 'CASCADE' }],
)
