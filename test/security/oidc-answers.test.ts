import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../server/config.ts'
import { type House, startHouse } from '../support/house.ts'
import { CLIENT, type FakeProvider, idpEnv, startFakeProvider } from '../support/identity-provider.ts'
import { listen } from '../support/listener.ts'
import {
  type Begun,
  begin as beginAt,
  callback as callbackAt,
  claimsFor as claimsOf,
  expectNoSession,
  hostOf,
  type MakeIdToken,
  nowSec,
  sessionIn,
  signInWith,
} from '../support/provider-sign-in.ts'

let idp: FakeProvider
/** Lets in one address. */
let house: House
/** Lets in the owner's own. */
let open: House
beforeAll(async () => {
  idp = await startFakeProvider()
  house = await startHouse({ env: { ...idpEnv(idp.issuer), SERVICE_ALLOWED_EMAILS: 'a@x.com' } })
  open = await startHouse({ env: idpEnv(idp.issuer) })
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await open[Symbol.asyncDispose]()
  await idp[Symbol.asyncDispose]()
})

const begin = (at: House = house, query = '') => beginAt(at, query)
const callback = (query: Record<string, string>, cookie: string, at: House = house, headers: Record<string, string> = {}) =>
  callbackAt(at, query, cookie, headers)
const claimsFor = (begun: Begun, change: Parameters<typeof claimsOf>[2] = {}) => claimsOf(idp, begun, change)
const signIn = (make: MakeIdToken, at: House = house, headers: Record<string, string> = {}) => signInWith(idp, at, make, headers)

test('an ID token that is not exactly the one asked for lets nobody in', async () => {
  const secretKey = new TextEncoder().encode(CLIENT.secret.padEnd(32))
  const publicKey = new TextEncoder().encode(idp.publicPem)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const bad: Record<string, (begun: Begun) => Promise<string | undefined> | string | undefined> = {
    'another nonce': (begun) => idp.sign(claimsFor(begun, { nonce: 'x' })),
    'no nonce': ({ nonce: _, ...begun }) => idp.sign(claimsFor({ ...begun, nonce: undefined as never })),
    'another audience': (begun) => idp.sign(claimsFor(begun, { aud: 'somebody else' })),
    'two audiences': (begun) => idp.sign(claimsFor(begun, { aud: [CLIENT.id, 'other'], azp: 'other' })),
    'another issuer': (begun) => idp.sign(claimsFor(begun, { iss: 'https://evil.example' })),
    'an issuer with a slash more': (begun) => idp.sign(claimsFor(begun, { iss: `${idp.issuer}/` })),
    'no signature': (begun) => `${part({ alg: 'none' })}.${part(claimsFor(begun))}.`,
    'no signature, None': (begun) => `${part({ alg: 'None', kid: 'known' })}.${part(claimsFor(begun))}.`,
    'signed with the public key': (begun) => idp.sign(claimsFor(begun), { alg: 'HS256' }, publicKey),
    'signed with the client secret': (begun) => idp.sign(claimsFor(begun), { alg: 'HS256' }, secretKey),
    'signed by a stranger': (begun) => idp.sign(claimsFor(begun), {}, idp.strangersKey),
    'an unknown key': (begun) => idp.sign(claimsFor(begun), { kid: 'unknown' }, idp.strangersKey),
    over: (begun) => idp.sign(claimsFor(begun, { iat: nowSec() - 900, exp: nowSec() - 600 })),
    'without an end': (begun) => idp.sign(claimsFor(begun, { exp: undefined as never })),
    'without a subject': (begun) => idp.sign(claimsFor(begun, { sub: undefined as never })),
    'changed after signing': async (begun) => {
      const [head, , signature] = (await idp.sign(claimsFor(begun, { email: 'b@x.com' }))).split('.')
      return `${head}.${part(claimsFor(begun))}.${signature}`
    },
    'no JWT': () => 'x.y.z',
    empty: () => '',
    'none at all': () => undefined,
  }
  for (const [about, make] of Object.entries(bad)) await expectNoSession(await signIn(make), about, [400, 502])
})

test('only an address on the list that the provider verified gets in', async () => {
  const sent = (email: unknown, email_verified: unknown = true) => signIn((begun) => idp.sign(claimsFor(begun, { email, email_verified })))
  for (const email of ['a@x.com', 'A@X.COM', 'A@x.Com']) expect(sessionIn(await sent(email)), email).toBeDefined()
  const strangers = [
    'b@x.com',
    'a@x.com.evil',
    'aa@x.com',
    'a@xx.com',
    'a@x.com\n',
    ' a@x.com',
    'a@x.com ',
    'a@x.com,b@x.com',
    'a@x.com\0',
    '\u0430@x.com',
    'a@x.\u0441om',
    'a@\uff58.com',
    'a@xn--x-0ga.com',
    '"a"@x.com',
    'a+b@x.com',
    'a@x.com\u200b',
    '',
    'x.com',
    '@x.com',
    ['a@x.com'],
    { a: 'a@x.com' },
    null,
    true,
    1,
  ]
  for (const email of strangers) await expectNoSession(await sent(email), JSON.stringify(email), [403])
  for (const verified of [false, 'true', 1, null, 'false'])
    await expectNoSession(await sent('a@x.com', verified), `verified ${verified}`, [403])
  const { email_verified: _, ...rest } = claimsFor(await begin())
  await expectNoSession(await signIn((begun) => idp.sign({ ...rest, nonce: begun.nonce })), 'not said to be verified', [403])
  const page = await signIn((begun) => idp.sign(claimsFor(begun, { email: 'b@x.com' })), house, { accept: 'text/html' })
  expect(page.headers.get('location')).toBe('/login?reason=not_allowed')
})

test('without a list the first one at this machine becomes the owner’s address, and no other gets in', async () => {
  const as = (email: string, headers: Record<string, string> = {}) =>
    signIn((begun) => idp.sign(claimsFor(begun, { email })), open, headers)
  for (const header of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'])
    await expectNoSession(await as('far@x.com', { [header]: '127.0.0.1' }), header, [403])
  expect(sessionIn(await as('ada@x.com'))).toBeDefined()
  await expectNoSession(await as('eve@x.com'), 'another', [403])
  expect(sessionIn(await as('ADA@x.com', { 'x-forwarded-for': '203.0.113.1' }))).toBeDefined()
  expect(await (await open.owner()).api.auth.session()).toMatchObject({ user: { email: expect.stringMatching(/^ada@x\.com$/i) } })
})

test('a list that names nobody stops the start instead of letting everybody in', () => {
  for (const value of [' ', ',', ' , ', 'a@x.com,*', '*', 'everybody', '@x.com', 'a@x.com;b@x.com']) {
    expect(() => readConfig({ SERVICE_ALLOWED_EMAILS: value }, null), value).toThrow(/^SERVICE_ALLOWED_EMAILS /)
  }
  expect(() => readConfig({ AUTH_IDP_ID: 'x' }, null)).toThrow(ConfigError)
})

test('a provider that misbehaves is an upstream failure, soon, and nothing it points to is fetched', async () => {
  const trap = await listen((_req, res) => void res.end('{}'))
  const redirect = (res: ServerResponse) => void res.writeHead(302, { location: `${trap.url}/token` }).end()
  const huge = (res: ServerResponse) =>
    void res.writeHead(200, { 'content-type': 'application/json' }).end(`{"a":"${'x'.repeat(10_000_000)}"}`)
  const cut = (res: ServerResponse) => {
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 }).write('{')
    setTimeout(() => res.destroy(), 50)
  }
  const faults: Record<string, (res: ServerResponse) => void> = {
    redirect,
    huge,
    cut,
    'no JSON': (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
    'no object': (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('null'),
    'a fault': (res) => void res.writeHead(500).end('{"error":"boom"}'),
    gone: (res) => void res.destroy(),
  }
  for (const [about, fault] of Object.entries(faults)) {
    const begun = await begin()
    idp.tokens.set(about, (_form, res) => fault(res))
    await expectNoSession(await callback({ code: about, state: begun.state }, begun.cookie), `token, ${about}`, [400, 502])
  }
  const fresh = await startHouse({ env: idpEnv(idp.issuer) })
  try {
    for (const [about, fault] of Object.entries(faults)) {
      idp.discovery = fault
      await expectNoSession(
        await fresh.stranger().fetch('/api/auth/login', { headers: { host: hostOf(fresh) } }),
        `discovery, ${about}`,
        [502],
      )
    }
    idp.discovery = (res) =>
      void res.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          issuer: 'https://evil.example',
          token_endpoint: `${trap.url}/token`,
          authorization_endpoint: `${trap.url}/authorize`,
        }),
      )
    await expectNoSession(await fresh.stranger().fetch('/api/auth/login', { headers: { host: hostOf(fresh) } }), 'another issuer', [502])
    idp.discovery = null
    expect((await begin(fresh)).state).not.toBe('')
  } finally {
    idp.discovery = null
    await fresh[Symbol.asyncDispose]()
  }
  expect(trap.hits).toEqual([])
  await trap[Symbol.asyncDispose]()
})

test('a provider that never answers is given up within ten seconds, while the house goes on', async () => {
  const silent = await listen(() => undefined)
  const waiting = await startHouse({ env: idpEnv(silent.url) })
  const begun = await begin()
  idp.tokens.set('silence', () => undefined)
  const startedAt = performance.now()
  const answers = Promise.all([
    waiting.stranger().fetch('/api/auth/login', { headers: { host: hostOf(waiting) } }),
    callback({ code: 'silence', state: begun.state }, begun.cookie),
  ])
  expect((await house.stranger().fetch('/api/status')).status).toBe(200)
  for (const answer of await answers) await expectNoSession(answer, 'silence', [504])
  expect(performance.now() - startedAt).toBeLessThan(10_000)
  await waiting[Symbol.asyncDispose]()
  await silent[Symbol.asyncDispose]()
}, 15_000)
