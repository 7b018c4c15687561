import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type House, startHouse } from '../support/house.ts'
import { CookieJar } from '../support/http.ts'
import { CLIENT, type FakeProvider, idpEnv, startFakeProvider, startRealProvider, tokenAnswer } from '../support/identity-provider.ts'
import {
  type Begun,
  begin as beginAt,
  callback as callbackAt,
  callbackOf,
  claimsFor as claimsOf,
  expectNoSession,
  hostOf,
  sessionIn,
} from '../support/provider-sign-in.ts'

let idp: FakeProvider
/** Lets in one address. */
let house: House
beforeAll(async () => {
  idp = await startFakeProvider()
  house = await startHouse({ env: { ...idpEnv(idp.issuer), SERVICE_ALLOWED_EMAILS: 'a@x.com' } })
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await idp[Symbol.asyncDispose]()
})

const begin = (at: House = house, query = '') => beginAt(at, query)
const callback = (query: Record<string, string>, cookie: string, at: House = house, headers: Record<string, string> = {}) =>
  callbackAt(at, query, cookie, headers)
const claimsFor = (begun: Begun, change: Parameters<typeof claimsOf>[2] = {}) => claimsOf(idp, begun, change)

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
  await expectNoSession(await callback({ code }, cookie), 'no state', [400])
  await expectNoSession(await callback({ code, state: '' }, cookie), 'empty state', [400])
  await expectNoSession(await callback({ code, state: 'x'.repeat(43) }, cookie), 'invented state', [400])
  await expectNoSession(await callback({ code, state: '__proto__' }, cookie), 'strange state', [400])
  await expectNoSession(await callback({ code, state: other.state }, cookie), 'state of another browser', [400])
  await expectNoSession(await callback({ code, state }, ''), 'no browser', [400])
  await expectNoSession(await callback({ code, state }, other.cookie), 'another browser', [400])
  await expectNoSession(await callback({ code, state }, 'hearth_login='), 'empty browser', [400])
  expect(idp.hits.slice(before)).not.toContain('/token')
  expect((await callback({ code, state }, cookie)).status).toBe(302)
  await expectNoSession(await callback({ code, state }, cookie), 'once more', [400])
  const twice = await house
    .stranger()
    .fetch(`/api/auth/callback?code=mine&state=${other.state}&state=${state}`, { headers: { host: hostOf(house), cookie } })
  await expectNoSession(twice, 'two states', [400])
})

test('the provider’s own refusals are told as such', async () => {
  const denied = await begin()
  await expectNoSession(
    await callback({ error: 'access_denied', error_description: '<script>alert(1)</script>', state: denied.state }, denied.cookie),
    'denied',
    [400],
  )
  const unknown = await begin()
  await expectNoSession(await callback({ code: 'unknown to the provider', state: unknown.state }, unknown.cookie), 'invalid_grant', [400])
  const none = await begin()
  await expectNoSession(await callback({ state: none.state }, none.cookie), 'no code', [400, 502])
  const mixed = await begin()
  await expectNoSession(
    await callback({ code: 'x', state: mixed.state, iss: 'https://evil.example' }, mixed.cookie),
    'another issuer',
    [400, 502],
  )
  const page = await begin()
  const shown = await callback({ error: 'access_denied', state: page.state }, page.cookie, house, { accept: 'text/html' })
  expect(shown.headers.get('location')).toBe('/login?reason=sign_in_failed')
  expect(sessionIn(shown)).toBeUndefined()
})

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
    await expectNoSession(replayed, 'the same callback again', [400])
    for (const name of ['bob', 'unverified']) await expectNoSession((await throughProvider(provider.url, real, name)).answer, name, [403])
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
