import { ApiError } from '../../../server/kit/client.ts'
import type { Household, Person } from '../../../server/modules/household/household.contract.ts'
import type { HearthClient } from '../../api.ts'
import { describeError } from '../../messages/describe-error.ts'
import { t } from '../../messages/messages.ts'
import { Home } from './home.state.svelte.ts'

export interface Whole {
  household: Household
  persons: Person[]
}

export type HomeEdit = Pick<Household, 'displayName' | 'timezone' | 'locale'>
export type PersonEdit = Pick<Person, 'displayName' | 'pronouns' | 'role' | 'aliases' | 'birthDate'>
type Submitted = Parameters<HearthClient['household']['replace']>[0]['body']

/** The household and its people; every change is one whole that is saved or not. */
export class HouseholdState {
  readonly home: Home
  readonly #client: HearthClient

  constructor(client: HearthClient) {
    this.#client = client
    this.home = new Home(client)
  }

  async homeNow(): Promise<Household> {
    return (await this.#client.household.get()).household
  }

  /** Null for somebody who is no longer there. */
  async personNow({ id }: Person): Promise<Person | null> {
    const { persons } = await this.#client.household.get()
    return persons.find((person) => person.id === id) ?? null
  }

  saveHome(changes: Partial<HomeEdit>): Promise<void> {
    return this.#replace((now) => ({ ...asSubmitted(now), ...changes }))
  }

  /** With a second person the household is one of several people. */
  addPerson(edit: PersonEdit): Promise<void> {
    return this.#replace((now) => ({ ...asSubmitted(now), mode: 'multi', persons: [...now.persons, edit] }))
  }

  /** Rejects with 404 for somebody who is no longer there. */
  savePerson({ id }: Person, changes: Partial<PersonEdit>): Promise<void> {
    return this.#replace((now) => {
      if (!now.persons.some((person) => person.id === id)) throw new ApiError(404, { code: 'not_found' })
      return { ...asSubmitted(now), persons: now.persons.map((person) => (person.id === id ? { ...person, ...changes } : person)) }
    })
  }

  removePerson({ id }: Person): Promise<void> {
    return this.#replace((now) => ({ ...asSubmitted(now), persons: now.persons.filter((person) => person.id !== id) }))
  }

  backToSingle(): Promise<void> {
    return this.#replace((now) => ({ ...asSubmitted(now), mode: 'single' }))
  }

  /** What is remembered of a person, as a file. */
  async memoryOf({ id }: Person): Promise<Blob> {
    return (await this.#client.memory.exportPerson({ params: { id } })).blob()
  }

  /** Where somebody is to be removed their conversations go too: nobody could open them any more. */
  async eraseMemoryOf({ id }: Person, { conversations = false } = {}): Promise<void> {
    await this.#client.memory.erasePerson({ params: { id }, query: conversations ? { conversations: 'true' } : {} })
  }

  /** Starts from what is there now, so that a change made elsewhere meanwhile is not lost. */
  async #replace(change: (now: Whole) => Submitted): Promise<void> {
    const now = await this.#client.household.get()
    this.home.read.value = await this.#client.household.replace({ body: change(now) })
  }
}

const asSubmitted = ({ household, persons }: Whole): Submitted => {
  const { displayName, timezone, locale, mode } = household
  return { displayName, timezone, locale, mode, persons }
}

/** A refusal of the household in its own words; else the general ones. */
export function householdFailure(error: unknown): { what: string; todo: string } {
  const code = error instanceof ApiError ? error.code : null
  if (code === 'household_has_members') return { what: t('household.hasMembers'), todo: t('household.hasMembersTodo') }
  if (code === 'owner_required') return { what: t('household.ownerRequired'), todo: t('household.ownerRequiredTodo') }
  return describeError(error)
}
