import type { Browser, House } from './house.ts'

export interface Family {
  owner: Browser
  /** The person ids. */
  ada: string
  ben: string
}

/** Makes the house that of Ada, who set it up, and Ben, in a zone. */
export async function makeFamily(house: House, timezone = 'Europe/Berlin'): Promise<Family> {
  const owner = await house.residentOwner()
  const { persons } = await owner.api.household.replace({
    body: { displayName: 'Home', timezone, locale: 'en-GB', mode: 'multi', persons: [{ displayName: 'Ada' }, { displayName: 'Ben' }] },
  })
  const idOf = (name: string) => persons.find(({ displayName }) => displayName === name)?.id ?? ''
  return { owner, ada: idOf('Ada'), ben: idOf('Ben') }
}
