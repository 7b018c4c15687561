import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { JWTPayload } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../server/config.ts'
import { type House, startHouse } from '../support/house.ts'
import { CookieJar } from '../support/http.ts'
import { CLIENT, type FakeProvider, idpEnv, startFakeProvider, startRealProvider, tokenAnswer } from '../support/identity-provider.ts'
import { listen } from '../support/listener.ts'

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

/** The name under which the provider sends browsers back. */
const hostOf = (at: House) => `localhost:${new URL(at.url).port}`
const callbackOf = (at: House) => `http://${hostOf(at)}/api/auth/callback`

interface Begun {
  state: string
  nonce: string
  /** `hearth_login=…` of the browser that began. */
  cookie: string
  location: URL
}

async function begin(at: House = house, query = ''): Promise<Begun> {
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

function callback(
  query: Record<string, string>,
  cookie: string,
  at: House = house,
  headers: Record<string, string> = {},
): Promise<Response> {
  return at
    .stranger()
    .fetch(`/api/auth/callback?${new URLSearchParams(query)}`, { headers: { host: hostOf(at), ...(cookie && { cookie }), ...headers } })
}

const now = () => Math.floor(Date.now() / 1000)
const claimsFor = (begun: Begun, change: JWTPayload = {}): JWTPayload => ({
  iss: idp.issuer,
  aud: CLIENT.id,
  sub: 'somebody',
  nonce: begun.nonce,
  iat: now(),
  exp: now() + 300,
  email: 'a@x.com',
  email_verified: true,
  ...change,
})

/** Goes through a sign-in in which the provider answers with the ID token that `make` gives. */
async function signIn(
  make: (begun: Begun) => Promise<string | undefined> | string | undefined,
  at: House = house,
  headers: Record<string, string> = {},
): Promise<Response> {
  const begun = await begin(at)
  const code = `code ${begun.state}`
  idp.tokens.set(code, tokenAnswer(await make(begun)))
  return callback({ code, state: begun.state }, begun.cookie, at, headers)
}

const sessionIn = (answer: Response) => answer.headers.getSetCookie().find((line) => /^(__Host-)?hearth_session=[^;]/.test(line))

/** Refused: no session, no stack, no redirect, and an answer that names the failure. */
async function expectRefused(answer: Response, about: string, statuses: number[]): Promise<void> {
  expect(sessionIn(answer), about).toBeUndefined()
  const text = await answer.text()
  expect(statuses, `${about}: ${text}`).toContain(answer.status)
  expect(JSON.parse(text), about).toMatchObject({ error: expect.any(String), code: expect.any(String), requestId: expect.any(String) })
  expect(text, about).not.toMatch(/\n\s+at |node_modules|id_token|client_secret/)
}

test('the browser is sent to the provider with PKCE, state and nonce, and a redirect that no Host decides', async () => {
  const [one, two] = [await begin(), await begin()]
  for (const { location } of [one, two]) {
    const { searchParams } = location
    expect(location.origin + location.pathname).toBe(`${idp.issuer}/authorize`)
    expect(searchParams.get('code_challenge_method')).toBe('S256')
    expect(searchParams.get('code_challenge')).toMatch(/^[\w-]{43}$/)
    expect(searchParams.get('response_type')).toBe('code')
    expect(searchParams.get('redirect_uri')).toBe(callbackOf(house))
    expect(searchParams.get('state')).toMatch(/^[\w-]{22,}$/)
    expect(searchParams.get('nonce')).toMatch(/^[\w-]{22,}$/)
    expect(location.href).not.toContain(encodeURIComponent(CLIENT.secret))
  }
  for (const name of ['state', 'nonce', 'code_challenge'])
    expect(one.location.searchParams.get(name)).not.toBe(two.location.searchParams.get(name))
  const answer = await house.stranger().fetch('/api/auth/login', { headers: { host: hostOf(house) } })
  const [line = ''] = answer.headers.getSetCookie()
  for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Path=/api/auth']) expect(line).toContain(attribute)
  for (const host of ['evil.example', '127.0.0.1:1', `localhost.evil.example:${new URL(house.url).port}`]) {
    const elsewhere = await house.stranger().fetch('/api/auth/login', { headers: { host, 'x-forwarded-host': 'evil.example' } })
    expect(elsewhere.headers.get('location'), host).toBe('/login?reason=provider-elsewhere')
  }
})

test('the code is redeemed with the verifier of its challenge', async () => {
  const begun = await begin()
  let verifier = ''
  let redirect = ''
  idp.tokens.set('proof', async (form, res) => {
    verifier = form.get('code_verifier') ?? ''
    redirect = form.get('redirect_uri') ?? ''
    return tokenAnswer(await idp.sign(claimsFor(begun)))(form, res)
  })
  const answer = await callback({ code: 'proof', state: begun.state }, begun.cookie)
  expect(answer.status).toBe(302)
  expect(createHash('sha256').update(verifier).digest('base64url')).toBe(begun.location.searchParams.get('code_challenge'))
  expect(redirect).toBe(callbackOf(house))
})

test('a good sign-in opens a session and goes where it was meant to', async () => {
  const begun = await begin(house, '?returnTo=/chat')
  idp.tokens.set('good', tokenAnswer(await idp.sign(claimsFor(begun))))
  const answer = await callback({ code: 'good', state: begun.state }, begun.cookie)
  expect(answer.status).toBe(302)
  expect(answer.headers.get('location')).toBe('/chat')
  const line = sessionIn(answer) ?? ''
  for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Path=/']) expect(line).toContain(attribute)
  expect(answer.headers.getSetCookie().join()).toMatch(/hearth_login=;.*Max-Age=0/)
  const session = await house.stranger().fetch('/api/auth/session', { headers: { cookie: line.split(';')[0] ?? '', host: hostOf(house) } })
  expect(await session.json()).toMatchObject({ user: { email: 'a@x.com' } })

  for (const evil of ['//evil.example', '/..//evil.example', 'https:evil.example', '/\\evil.example', 'javascript:alert(1)']) {
    const astray = await begin(house, `?returnTo=${encodeURIComponent(evil)}`)
    idp.tokens.set(evil, tokenAnswer(await idp.sign(claimsFor(astray))))
    const back = await callback({ code: evil, state: astray.state }, astray.cookie)
    expect(new URL(back.headers.get('location') ?? '', house.url).origin, evil).toBe(house.url)
  }
})

test('a callback without state, with a wrong one, of another browser or a second time is refused', async () => {
  const begun = await begin()
  const other = await begin()
  idp.tokens.set('mine', tokenAnswer(await idp.sign(claimsFor(begun))))
  const { state, cookie } = begun
  const code = 'mine'
  const before = idp.hits.length
  await expectRefused(await callback({ code }, cookie), 'no state', [400])
  await expectRefused(await callback({ code, state: '' }, cookie), 'empty state', [400])
  await expectRefused(await callback({ code, state: 'x'.repeat(43) }, cookie), 'invented state', [400])
  await expectRefused(await callback({ code, state: '__proto__' }, cookie), 'strange state', [400])
  await expectRefused(await callback({ code, state: other.state }, cookie), 'state of another browser', [400])
  await expectRefused(await callback({ code, state }, ''), 'no browser', [400])
  await expectRefused(await callback({ code, state }, other.cookie), 'another browser', [400])
  await expectRefused(await callback({ code, state }, 'hearth_login='), 'empty browser', [400])
  expect(idp.hits.slice(before)).not.toContain('/token')
  expect((await callback({ code, state }, cookie)).status).toBe(302)
  await expectRefused(await callback({ code, state }, cookie), 'once more', [400])
  const twice = await house
    .stranger()
    .fetch(`/api/auth/callback?code=mine&state=${other.state}&state=${state}`, { headers: { host: hostOf(house), cookie } })
  await expectRefused(twice, 'two states', [400])
})

test('the provider’s own refusals are told as such', async () => {
  const denied = await begin()
  await expectRefused(
    await callback({ error: 'access_denied', error_description: '<script>alert(1)</script>', state: denied.state }, denied.cookie),
    'denied',
    [400],
  )
  const unknown = await begin()
  await expectRefused(await callback({ code: 'unknown to the provider', state: unknown.state }, unknown.cookie), 'invalid_grant', [400])
  const none = await begin()
  await expectRefused(await callback({ state: none.state }, none.cookie), 'no code', [400, 502])
  const mixed = await begin()
  await expectRefused(
    await callback({ code: 'x', state: mixed.state, iss: 'https://evil.example' }, mixed.cookie),
    'another issuer',
    [400, 502],
  )
  const page = await begin()
  const shown = await callback({ error: 'access_denied', state: page.state }, page.cookie, house, { accept: 'text/html' })
  expect(shown.headers.get('location')).toBe('/login?reason=sign_in_failed')
  expect(sessionIn(shown)).toBeUndefined()
})

test('an ID token that is not exactly the one asked for lets nobody in', async () => {
  const secretKey = new TextEncoder().encode(CLIENT.secret.padEnd(32))
  const publicKey = new TextEncoder().encode(idp.publicPem)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const bad: Record<string, (begun: Begun) => Promise<string | undefined> | string | undefined> = {
    'another nonce': (begun) => idp.sign(claimsFor(begun, { nonce: 'x' })),
    'no nonce': ({ nonce: _, ...begun }) => idp.sign(JSON.parse(JSON.stringify(claimsFor({ ...begun, nonce: undefined as never })))),
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
    over: (begun) => idp.sign(claimsFor(begun, { iat: now() - 900, exp: now() - 600 })),
    'without an end': (begun) => idp.sign(JSON.parse(JSON.stringify(claimsFor(begun, { exp: undefined as never })))),
    'without a subject': (begun) => idp.sign(JSON.parse(JSON.stringify(claimsFor(begun, { sub: undefined as never })))),
    'changed after signing': async (begun) => {
      const [head, , signature] = (await idp.sign(claimsFor(begun, { email: 'b@x.com' }))).split('.')
      return `${head}.${part(claimsFor(begun))}.${signature}`
    },
    'no JWT': () => 'x.y.z',
    empty: () => '',
    'none at all': () => undefined,
  }
  for (const [about, make] of Object.entries(bad)) await expectRefused(await signIn(make), about, [400, 502])
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
  for (const email of strangers) await expectRefused(await sent(email), JSON.stringify(email), [403])
  for (const verified of [false, 'true', 1, null, 'false'])
    await expectRefused(await sent('a@x.com', verified), `verified ${verified}`, [403])
  const { email_verified: _, ...rest } = claimsFor(await begin())
  await expectRefused(await signIn((begun) => idp.sign({ ...rest, nonce: begun.nonce })), 'not said to be verified', [403])
  const page = await signIn((begun) => idp.sign(claimsFor(begun, { email: 'b@x.com' })), house, { accept: 'text/html' })
  expect(page.headers.get('location')).toBe('/login?reason=not_allowed')
})

test('without a list the first one at this machine becomes the owner’s address, and no other gets in', async () => {
  const as = (email: string, headers: Record<string, string> = {}) =>
    signIn((begun) => idp.sign(claimsFor(begun, { email })), open, headers)
  for (const header of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'])
    await expectRefused(await as('far@x.com', { [header]: '127.0.0.1' }), header, [403])
  expect(sessionIn(await as('ada@x.com'))).toBeDefined()
  await expectRefused(await as('eve@x.com'), 'another', [403])
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
    await expectRefused(await callback({ code: about, state: begun.state }, begun.cookie), `token, ${about}`, [400, 502])
  }
  const fresh = await startHouse({ env: idpEnv(idp.issuer) })
  try {
    for (const [about, fault] of Object.entries(faults)) {
      idp.discovery = fault
      await expectRefused(
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
    await expectRefused(await fresh.stranger().fetch('/api/auth/login', { headers: { host: hostOf(fresh) } }), 'another issuer', [502])
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
  for (const answer of await answers) await expectRefused(answer, 'silence', [504])
  expect(performance.now() - startedAt).toBeLessThan(10_000)
  await waiting[Symbol.asyncDispose]()
  await silent[Symbol.asyncDispose]()
}, 15_000)

test('a real provider: sign-in from end to end, its profile, and a stranger', async () => {
  const provider = await startRealProvider()
  const real = await startHouse({ env: { ...idpEnv(provider.url), SERVICE_ALLOWED_EMAILS: 'ann@home.example' } })
  provider.serve(callbackOf(real))
  try {
    const ann = await throughProvider(provider.url, real, 'ann')
    expect(ann.answer.status).toBe(302)
    expect(ann.answer.headers.get('location')).toBe('/chat')
    const session = await real
      .stranger()
      .fetch('/api/auth/session', { headers: { cookie: sessionIn(ann.answer)?.split(';')[0] ?? '', host: hostOf(real) } })
    expect(await session.json()).toMatchObject({ user: { email: 'ann@home.example' } })
    const replayed = await real.stranger().fetch(ann.path, { headers: { cookie: ann.cookie, host: hostOf(real) } })
    await expectRefused(replayed, 'the same callback again', [400])
    for (const name of ['bob', 'unverified']) await expectRefused((await throughProvider(provider.url, real, name)).answer, name, [403])
  } finally {
    await real[Symbol.asyncDispose]()
    await provider[Symbol.asyncDispose]()
  }
})

/** Signs in at the real provider's own pages as `name` and comes back to the house. */
async function throughProvider(issuer: string, at: House, name: string): Promise<{ answer: Response; path: string; cookie: string }> {
  const begun = await begin(at, '?returnTo=/chat')
  const jar = new CookieJar()
  const ask = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const answer = await fetch(new URL(url, issuer), { redirect: 'manual', ...init, headers: { ...init.headers, cookie: jar.header() } })
    jar.take(answer)
    return answer
  }
  let answer = await ask(begun.location.href)
  for (let step = 0; step < 12; step += 1) {
    const location = answer.headers.get('location')
    if (location?.startsWith(callbackOf(at))) {
      const { pathname, search } = new URL(location)
      return {
        answer: await at.stranger().fetch(pathname + search, { headers: { host: hostOf(at), cookie: begun.cookie } }),
        path: pathname + search,
        cookie: begun.cookie,
      }
    }
    if (location) {
      answer = await ask(location)
      continue
    }
    const page = await answer.text()
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? ''
    const form = new URLSearchParams(prompt === 'login' ? { prompt, login: name, password: 'x' } : { prompt })
    answer = await ask(/action="([^"]+)"/.exec(page)?.[1] ?? '', { method: 'POST', body: form })
  }
  throw new Error('The provider did not send the browser back')
}
