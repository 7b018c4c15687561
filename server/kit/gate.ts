import { type Caller, mayCall } from './caller.ts'
import type { EndpointSpec } from './endpoint.ts'
import { AppError, forbidden, unauthorized } from './errors.ts'
import type { OwnHosts } from './own-hosts.ts'
import { isLoopback, isLoopbackHost, isPrivateAddress, type RequestFacts, wasForwarded } from './request-facts.ts'

/** Whether the peer is this machine, addresses it by a loopback name, and no proxy stands between, not even a trusted one. */
export function isLocalPeer({ address, host, headers }: RequestFacts): boolean {
  return isLoopback(address) && isLoopbackHost(host) && !wasForwarded(headers)
}

/** Whether a Host header is the one of `publicUrl`, its default port written out or not. */
function isPublicHost(host: string, publicUrl: string): boolean {
  const { protocol, host: known } = new URL(publicUrl)
  return URL.parse(`${protocol}//${host.replace(/\.(?=:|$)/, '')}`)?.host === known
}

/** Whether the peer is on the home network and did not come by the public address. */
export function isLanPeer({ address, host, untrustedForwarding }: RequestFacts, publicUrl: string | null): boolean {
  return isPrivateAddress(address) && !untrustedForwarding && (publicUrl === null || !isPublicHost(host, publicUrl))
}

const originOf = ({ secure, host }: RequestFacts) => `${secure ? 'https' : 'http'}://${host}`

/** Whether the browser says that a page of this server made the request. */
export function isSameOrigin(facts: RequestFacts): boolean {
  const { origin } = facts.headers
  if (origin !== undefined) return origin === originOf(facts)
  const site = facts.headers['sec-fetch-site']
  return site === 'same-origin' || site === 'none'
}

/** For GETs that change something: browsers omit Origin and Sec-Fetch-Site there on plain HTTP. */
function isAskedByPage(facts: RequestFacts): boolean {
  const { referer } = facts.headers
  const site = facts.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return isSameOrigin(facts) || facts.headers['x-hearth-request'] === '1' || (referer?.startsWith(`${originOf(facts)}/`) ?? false)
}

const crossSite = () => forbidden('This has to be done from a page of this Hearth.', 'cross_site')
const SAFE = new Set(['GET', 'HEAD'])

/** Refuses what another site may have made a browser send. Requests by Bearer token carry nothing a browser adds by itself. */
export function checkSite(spec: EndpointSpec, facts: RequestFacts, caller: Caller | null): void {
  if (caller?.via === 'bearer' || facts.headers.authorization !== undefined) return
  const cookie = facts.headers.cookie !== undefined
  if (spec.changes) {
    if (cookie && !isAskedByPage(facts)) throw crossSite()
  } else if (!SAFE.has(facts.method)) {
    const foreign = facts.headers.origin !== undefined || facts.headers['sec-fetch-site'] !== undefined
    if ((cookie || foreign) && !isSameOrigin(facts)) throw crossSite()
  }
}

/** Refuses browsers that reached this server by a name that is not its own (DNS rebinding). */
export function checkHost(facts: RequestFacts, ownHosts: OwnHosts): void {
  const fromBrowser = facts.headers.cookie !== undefined || (facts.headers.origin !== undefined && !SAFE.has(facts.method))
  if (fromBrowser && facts.headers.authorization === undefined && !ownHosts.has(facts.host)) {
    throw forbidden('This Hearth does not know itself by that name. Its owner can add it under Settings, Address.', 'unknown_host')
  }
}

/** Refuses callers outside the endpoint's audience: 401 without a credential, 403 with one that does not reach. */
export function checkAccess(spec: EndpointSpec, facts: RequestFacts, caller: Caller | null, publicUrl: string | null): void {
  if (spec.loopbackOnly && !isLocalPeer(facts)) throw forbidden('Only the machine that Hearth runs on may do this.')
  switch (spec.access) {
    case 'public':
    case 'webhook':
      return
    case 'lan':
      if (!isLanPeer(facts, publicUrl)) throw forbidden('Only devices at home may do this.')
      return
    default:
      if (!caller) throw unauthorized()
      if (!mayCall(spec.access, caller)) throw forbidden()
  }
}

export const setupLoopbackOnly = () => forbidden('Set Hearth up on the machine it runs on, at http://localhost.', 'setup_loopback_only')

/** While nobody set this Hearth up, only its own machine gets an answer, and only about that. */
export function checkSetup(isSetUp: boolean, beforeSetup: boolean, facts: RequestFacts): void {
  if (isSetUp) return
  if (!beforeSetup) throw new AppError(503, 'setup_required', 'This Hearth has to be set up first.')
  if (!isLocalPeer(facts)) throw setupLoopbackOnly()
}
