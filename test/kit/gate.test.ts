import type { IncomingHttpHeaders } from 'node:http'
import { expect, test } from 'vitest'
import type { Caller } from '../../server/kit/caller.ts'
import { type Access, type EndpointSpec, nothing } from '../../server/kit/endpoint.ts'
import { checkAccess, checkHost, checkSetup, checkSite, isLanPeer, isLocalPeer, isSameOrigin } from '../../server/kit/gate.ts'
import type { RequestFacts } from '../../server/kit/request-facts.ts'

const facts = (values: Partial<Omit<RequestFacts, 'headers'>> & { headers?: IncomingHttpHeaders } = {}): RequestFacts => ({
  id: 'id',
  method: 'GET',
  path: '/api/x',
  search: '',
  headers: {},
  address: '127.0.0.1',
  secure: false,
  host: 'localhost:7420',
  untrustedForwarding: false,
  ...values,
})
const spec = (values: Partial<EndpointSpec> = {}): EndpointSpec => ({
  method: 'GET',
  path: '/api/x',
  access: 'public',
  summary: '',
  returns: nothing,
  ...values,
})
const caller = (values: Partial<Caller> = {}): Caller => ({
  kind: 'device',
  scope: 'member',
  deviceId: 'd',
  userId: 'u',
  personId: null,
  sessionId: 's',
  via: 'cookie',
  ...values,
})
/** The code of the refusal, or null where there is none. */
function refusal(check: () => void): string | null {
  try {
    check()
    return null
  } catch (error) {
    return (error as { code: string }).code
  }
}

test('a local peer is this machine, by a loopback name, with nothing in between', () => {
  expect(isLocalPeer(facts())).toBe(true)
  expect(isLocalPeer(facts({ address: '::1', host: '[::1]:7420' }))).toBe(true)
  expect(isLocalPeer(facts({ address: '192.168.1.5' }))).toBe(false)
  expect(isLocalPeer(facts({ host: 'evil.example' }))).toBe(false)
  expect(isLocalPeer(facts({ host: '' }))).toBe(false)
  for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'])
    expect(isLocalPeer(facts({ headers: { [name]: '127.0.0.1' } })), name).toBe(false)
})

test('a peer at home is one with a private address that did not come by the public name', () => {
  const home = facts({ address: '192.168.1.5', host: '192.168.1.2:7420' })
  expect(isLanPeer(home, null)).toBe(true)
  expect(isLanPeer(home, 'https://house.example')).toBe(true)
  expect(isLanPeer({ ...home, address: '8.8.8.8' }, null)).toBe(false)
  expect(isLanPeer({ ...home, untrustedForwarding: true }, null)).toBe(false)
  for (const host of ['house.example', 'house.example:443', 'house.example.', 'house.example.:443']) {
    expect(isLanPeer({ ...home, host }, 'https://house.example'), host).toBe(false)
  }
  expect(isLanPeer({ ...home, host: 'house.example:8443' }, 'https://house.example:8443/')).toBe(false)
  expect(isLanPeer({ ...home, host: 'not a host' }, 'https://house.example')).toBe(true)
})

test('same origin means the same scheme, name and port', () => {
  expect(isSameOrigin(facts({ headers: { origin: 'http://localhost:7420' } }))).toBe(true)
  for (const origin of [
    'https://localhost:7420',
    'http://localhost',
    'http://localhost:7421',
    'null',
    'http://localhost:7420.evil.example',
  ]) {
    expect(isSameOrigin(facts({ headers: { origin, 'sec-fetch-site': 'same-origin' } })), origin).toBe(false)
  }
  expect(isSameOrigin(facts({ secure: true, headers: { origin: 'https://localhost:7420' } }))).toBe(true)
  expect(isSameOrigin(facts({ headers: { 'sec-fetch-site': 'same-origin' } }))).toBe(true)
  expect(isSameOrigin(facts({ headers: { 'sec-fetch-site': 'none' } }))).toBe(true)
  for (const site of ['same-site', 'cross-site', '']) expect(isSameOrigin(facts({ headers: { 'sec-fetch-site': site } })), site).toBe(false)
  expect(isSameOrigin(facts())).toBe(false)
})

const COOKIE = { cookie: 'hearth_session=x' }

test('a write that carries a cookie needs the browser’s word that a page of ours made it', () => {
  const write = (headers: IncomingHttpHeaders, who: Caller | null = caller()) =>
    refusal(() => checkSite(spec({ method: 'POST' }), facts({ method: 'POST', headers }), who))
  expect(write({ ...COOKIE, origin: 'http://localhost:7420' })).toBeNull()
  expect(write({ ...COOKIE, 'sec-fetch-site': 'same-origin' })).toBeNull()
  expect(write(COOKIE)).toBe('cross_site')
  expect(write({ ...COOKIE, 'x-hearth-request': '1' })).toBe('cross_site')
  expect(write({ ...COOKIE, referer: 'http://localhost:7420/' })).toBe('cross_site')
  expect(write({ ...COOKIE, origin: 'http://evil.example' })).toBe('cross_site')
  expect(write({ origin: 'http://evil.example' }, null)).toBe('cross_site')
  expect(write({}, null)).toBeNull()
  expect(write({ ...COOKIE, authorization: 'Bearer t' }, caller({ via: 'bearer' }))).toBeNull()
  expect(refusal(() => checkSite(spec(), facts({ headers: COOKIE }), caller()))).toBeNull()
})

test('a read that changes something needs that word too, in whichever form browsers give it', () => {
  const read = (headers: IncomingHttpHeaders) => refusal(() => checkSite(spec({ changes: true }), facts({ headers }), caller()))
  expect(read(COOKIE)).toBe('cross_site')
  expect(read({ ...COOKIE, referer: 'http://localhost:7420/chat' })).toBeNull()
  expect(read({ ...COOKIE, referer: 'http://localhost:7420.evil.example/' })).toBe('cross_site')
  expect(read({ ...COOKIE, 'x-hearth-request': '1' })).toBeNull()
  expect(read({ ...COOKIE, 'sec-fetch-site': 'cross-site', 'x-hearth-request': '1' })).toBe('cross_site')
  expect(read({ ...COOKIE, 'sec-fetch-site': 'cross-site', referer: 'http://localhost:7420/chat' })).toBe('cross_site')
  expect(read({ ...COOKIE, 'sec-fetch-site': 'none' })).toBeNull()
})

test('a browser that came by a foreign name is refused, other clients are not', () => {
  const ownHosts = { has: (host: string) => host === 'localhost:7420' }
  const check = (values: Parameters<typeof facts>[0]) =>
    refusal(() => checkHost(facts({ host: 'rebound.example:7420', ...values }), ownHosts))
  expect(check({ headers: COOKIE })).toBe('unknown_host')
  expect(check({ method: 'POST', headers: { origin: 'http://rebound.example:7420' } })).toBe('unknown_host')
  expect(check({ headers: COOKIE, host: '' })).toBe('unknown_host')
  expect(check({ headers: COOKIE, host: 'localhost:7420' })).toBeNull()
  expect(check({ headers: { authorization: 'Bearer t' } })).toBeNull()
  expect(check({})).toBeNull()
})

test.each<[Access, (string | null)[]]>([
  ['public', [null, null, null, null, null]],
  ['webhook', [null, null, null, null, null]],
  ['lan', [null, null, null, null, null]],
  ['guest', ['unauthorized', null, null, null, null]],
  ['member', ['unauthorized', 'forbidden', null, null, null]],
  ['admin', ['unauthorized', 'forbidden', 'forbidden', null, null]],
  ['owner', ['unauthorized', 'forbidden', 'forbidden', 'forbidden', null]],
])('%s lets in: nobody, guest, member, admin, owner', (access, expected) => {
  const who = [null, caller({ scope: 'guest' }), caller(), caller({ scope: 'admin' }), caller({ kind: 'owner', scope: 'admin' })]
  expect(who.map((one) => refusal(() => checkAccess(spec({ access }), facts(), one, null)))).toEqual(expected)
})

test('what is for the home network or for this machine is refused to the rest of the world', () => {
  const away = facts({ address: '8.8.8.8', host: 'house.example' })
  expect(refusal(() => checkAccess(spec({ access: 'lan' }), away, caller(), null))).toBe('forbidden')
  expect(refusal(() => checkAccess(spec({ loopbackOnly: true }), facts({ address: '192.168.1.5' }), null, null))).toBe('forbidden')
  expect(refusal(() => checkAccess(spec({ loopbackOnly: true }), facts(), null, null))).toBeNull()
})

test('before set-up only this machine gets an answer, and only about that', () => {
  const away = facts({ address: '192.168.1.5', host: '192.168.1.2:7420' })
  expect(refusal(() => checkSetup(true, false, away))).toBeNull()
  expect(refusal(() => checkSetup(false, false, facts()))).toBe('setup_required')
  expect(refusal(() => checkSetup(false, true, away))).toBe('setup_loopback_only')
  expect(refusal(() => checkSetup(false, true, facts({ host: 'rebound.example' })))).toBe('setup_loopback_only')
  expect(refusal(() => checkSetup(false, true, facts()))).toBeNull()
})
