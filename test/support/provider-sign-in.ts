import type { JWTPayload } from 'jose'
import { expect } from 'vitest'
import type { House } from './house.ts'
import { CLIENT, type FakeProvider, tokenAnswer } from './identity-provider.ts'

/** The name under which the provider sends browsers back. */
export const hostOf = (at: House): string => `localhost:${new URL(at.url).port}`
export const callbackOf = (at: House): string => `http://${hostOf(at)}/api/auth/callback`

export interface Begun {
  state: string
  nonce: string
  /** `hearth_login=…` of the browser that began. */
  cookie: string
  location: URL
}

/** Sends a browser to the provider. */
export async function begin(at: House, query = ''): Promise<Begun> {
  const answer = await at.stranger().fetch(`/api/auth/login${query}`, { headers: { host: hostOf(at) } })
  expect(answer.status, await answer.clone().text()).toBe(302)
  const location = new URL(answer.headers.get('location') ?? '', at.url)
  const { searchParams } = location
  return {
    location,
    state: searchParams.get('state') ?? '',
    nonce: searchParams.get('nonce') ?? '',
    cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '',
  }
}

/** Brings a browser back from it. */
export function callback(
  at: House,
  query: Record<string, string>,
  cookie: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const all = { host: hostOf(at), ...(cookie && { cookie }), ...headers }
  return at.stranger().fetch(`/api/auth/callback?${new URLSearchParams(query)}`, { headers: all })
}

export const nowSec = (): number => Math.floor(Date.now() / 1000)

/** Claims of an ID token with nothing wrong but what `change` changes; undefined takes a claim out. */
export function claimsFor(idp: FakeProvider, begun: Begun, change: JWTPayload | Record<string, undefined> = {}): JWTPayload {
  const good = { iss: idp.issuer, aud: CLIENT.id, sub: 'somebody', nonce: begun.nonce, iat: nowSec(), exp: nowSec() + 300 }
  return JSON.parse(JSON.stringify({ ...good, email: 'a@x.com', email_verified: true, ...change })) as JWTPayload
}

export type MakeIdToken = (begun: Begun) => Promise<string | undefined> | string | undefined

/** Goes through a sign-in in which the provider answers with the ID token that `make` gives. */
export async function signInWith(idp: FakeProvider, at: House, make: MakeIdToken, headers: Record<string, string> = {}): Promise<Response> {
  const begun = await begin(at)
  const code = `code ${begun.state}`
  idp.tokens.set(code, tokenAnswer(await make(begun)))
  return callback(at, { code, state: begun.state }, begun.cookie, headers)
}

/** The line that sets the owner's cookie, if one does. */
export const sessionIn = (answer: Response): string | undefined =>
  answer.headers.getSetCookie().find((line) => /^(__Host-)?hearth_session=[^;]/.test(line))

/** Refused: no session, no stack, no redirect, and an answer that names the failure. */
export async function expectNoSession(answer: Response, about: string, statuses: number[]): Promise<void> {
  expect(sessionIn(answer), about).toBeUndefined()
  const text = await answer.text()
  expect(statuses, `${about}: ${text}`).toContain(answer.status)
  expect(JSON.parse(text), about).toMatchObject({ error: expect.any(String), code: expect.any(String), requestId: expect.any(String) })
  expect(text, about).not.toMatch(/\n\s+at |node_modules|id_token|client_secret/)
}
