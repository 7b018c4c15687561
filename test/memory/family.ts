import { type Ask, readLink } from '../support/credentials.ts'
import { type Browser, type Device, type House, startHouse } from '../support/house.ts'

export interface Family {
  house: House
  owner: Browser
  /** Ids of the people, by name in small letters. */
  ids: { ada: string; ben: string; cleo: string }
  ada: Device
  ben: Device
  cleo: Device
  /** A tablet of nobody in particular. */
  shared: Device
  [Symbol.asyncDispose](): Promise<void>
}

/** A house of three people, each with a phone of member scope, and a tablet that they share. */
export async function startFamily(env: Record<string, string> = {}): Promise<Family> {
  const house = await startHouse({ env })
  const owner = await house.owner()
  const { household } = await owner.api.household.get()
  const person = (displayName: string, role: 'owner' | 'adult' | 'child') => ({ displayName, role, pronouns: '', aliases: [] })
  const { displayName, timezone, locale } = household
  const { persons } = await owner.api.household.replace({
    body: {
      displayName,
      timezone,
      locale,
      mode: 'multi',
      persons: [person('Ada', 'owner'), person('Ben', 'adult'), person('Cleo', 'child')],
    },
  })
  const idOf = (name: string) => persons.find((one) => one.displayName === name)?.id ?? ''
  const pair = async (name: string, personId?: string): Promise<Device> => {
    const { qr } = await owner.api.pairing.start({ body: { scope: 'member', ...(personId && { personId }) } })
    const { code, secret } = readLink(qr)
    const { device, accessToken, refreshToken } = await house
      .stranger()
      .api.pairing.complete({ body: { code, secret, deviceInfo: { name, type: 'phone' } } })
    return { id: device.id, accessToken, refreshToken, ...house.bearer(accessToken) }
  }
  const ids = { ada: idOf('Ada'), ben: idOf('Ben'), cleo: idOf('Cleo') }
  return {
    house,
    owner,
    ids,
    ada: await pair('Ada’s phone', ids.ada),
    ben: await pair('Ben’s phone', ids.ben),
    cleo: await pair('Cleo’s phone', ids.cleo),
    shared: await pair('Kitchen tablet'),
    [Symbol.asyncDispose]: () => house[Symbol.asyncDispose](),
  }
}

/** The status and code of an answer. */
export async function outcome(asked: ReturnType<Ask>): Promise<string> {
  const answer = await asked
  const { code = '' } = (await answer.json().catch(() => ({}))) as { code?: string }
  return `${answer.status} ${code}`.trim()
}
