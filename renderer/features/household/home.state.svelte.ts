import type { Household, Person } from '../../../server/modules/household/household.contract.ts'
import type { HearthClient } from '../../api.ts'
import { ownZone } from '../../messages/zone.ts'
import { Resource } from '../../ui/resource.svelte.ts'

/** The household as other pages need it: whose names there are, and by which clock it lives. */
export class Home {
  readonly read: Resource<{ household: Household; persons: Person[] }>

  constructor(client: HearthClient) {
    this.read = new Resource((signal) => client.household.get({}, { signal }))
  }

  /** The browser's own zone until the household's is known. */
  get zone(): string {
    return this.read.value?.household.timezone ?? ownZone()
  }

  get persons(): Person[] {
    return this.read.value?.persons ?? []
  }

  /** Null for somebody who is not, or no longer, of the household. */
  nameOf(personId: string | undefined): string | null {
    return this.persons.find(({ id }) => id === personId)?.displayName ?? null
  }

  /** Whether there are several people to tell apart. */
  get several(): boolean {
    return this.persons.length > 1
  }
}
