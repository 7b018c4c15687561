import { parseCookie, stringifySetCookie } from 'cookie'
import type { RequestFacts } from '../../kit/request-facts.ts'

const OWNER = 'hearth_session'
const DEVICE = 'hearth_device'
const LOGIN = 'hearth_login'
const DAY_SECONDS = 86_400

/** The prefix makes browsers refuse the cookie from a sibling host or without TLS; it cannot be set on plain HTTP. */
const ownerName = (secure: boolean) => (secure ? `__Host-${OWNER}` : OWNER)

const line = (name: string, value: string, maxAge: number, { secure }: RequestFacts, path = '/') =>
  stringifySetCookie({ name, value, maxAge, path, httpOnly: true, sameSite: 'lax', secure })

const read = ({ headers }: RequestFacts, name: string): string | null => {
  const { cookie } = headers
  return cookie?.includes(name) ? (parseCookie(cookie)[name] ?? null) : null
}

export const readOwnerCookie = (facts: RequestFacts) => read(facts, ownerName(facts.secure))
export const ownerCookie = (facts: RequestFacts, value: string) => line(ownerName(facts.secure), value, 30 * DAY_SECONDS, facts)
export const noOwnerCookie = (facts: RequestFacts) => line(ownerName(facts.secure), '', 0, facts)

export const readDeviceCookie = (facts: RequestFacts) => read(facts, DEVICE)
/** `days` is how long the session behind it lives without being used. */
export const deviceCookie = (facts: RequestFacts, value: string, days: number) => line(DEVICE, value, days * DAY_SECONDS, facts)
export const noDeviceCookie = (facts: RequestFacts) => line(DEVICE, '', 0, facts)

/** Binds a sign-in at the identity provider to the browser that began it. */
export const readLoginCookie = (facts: RequestFacts) => read(facts, LOGIN)
export const loginCookie = (facts: RequestFacts, value: string) => line(LOGIN, value, 600, facts, '/api/auth')
export const noLoginCookie = (facts: RequestFacts) => line(LOGIN, '', 0, facts, '/api/auth')
