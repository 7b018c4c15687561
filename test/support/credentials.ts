import type { Scope } from '../../server/modules/paired-devices/paired-devices.contract.ts'
import type { House, Person } from './house.ts'
import type { SendOptions } from './http.ts'

/** A way to ask with one credential. */
export type Ask = (path: string, init?: RequestInit, options?: SendOptions) => Promise<Response>

/** Asks as a page of this server does in a browser that holds `cookie`. */
export function askWithCookie(house: House, cookie: string): Ask {
  return (path, init = {}, options = {}) => {
    const headers = { cookie, origin: house.url, 'sec-fetch-site': 'same-origin', ...Object.fromEntries(new Headers(init.headers)) }
    return house.stranger().fetch(path, { ...init, headers }, options)
  }
}

/** JSON as a request body. */
export const json = (value: unknown, method = 'POST'): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

/** What a pairing link carries. */
export interface Link {
  v: number
  code: string
  secret: string
  servers: string[]
  name: string
}

/** Reads the payload of a pairing link, either form. */
export const readLink = (link: string): Link => JSON.parse(Buffer.from(link.split('d=')[1] ?? '', 'base64url').toString()) as Link

/** `hearth_device=…` of a browser newly paired with this scope. */
export async function pairBrowser(house: House, name: string, scope: Scope = 'member'): Promise<string> {
  const owner = await house.residentOwner()
  const { qr } = await owner.api.pairing.start({ body: { scope } })
  const { code, secret } = readLink(qr)
  const answer = await house.stranger().fetch('/api/auth/pair/browser', json({ code, secret, deviceInfo: { name, type: 'tablet' } }))
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

export const CREDENTIALS = [
  'none',
  'guest token',
  'member token',
  'admin token',
  'guest cookie',
  'member cookie',
  'admin cookie',
  'guest key',
  'member key',
  'admin key',
  'owner cookie',
] as const
export type Credential = (typeof CREDENTIALS)[number]

/** One caller of every kind of this house. */
export async function everyCredential(house: House): Promise<Record<Credential, Ask>> {
  const owner = await house.owner()
  const asks: Partial<Record<Credential, Ask>> = { none: house.stranger().fetch, 'owner cookie': owner.fetch }
  for (const scope of ['guest', 'member', 'admin'] as const) {
    const person: Person = await house.pair(`${scope} phone`, scope)
    const { key } = await owner.api.keys.create({ body: { label: scope, scope } })
    asks[`${scope} token`] = person.fetch
    asks[`${scope} cookie`] = askWithCookie(house, await pairBrowser(house, `${scope} browser`, scope))
    asks[`${scope} key`] = house.bearer(key).fetch
  }
  return asks as Record<Credential, Ask>
}
