import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import ipaddr from 'ipaddr.js'

/** What the server believes of a request: the socket's word, and a proxy's only where that proxy is trusted. */
export interface RequestFacts {
  id: string
  method: string
  /** The path as sent, without the query. */
  path: string
  /** The query as sent, without its question mark. */
  search: string
  headers: IncomingMessage['headers']
  /** Address of the client, IPv4-mapped forms unwrapped. */
  address: string
  secure: boolean
  /** The Host header in lower case, port included; empty where there is none. */
  host: string
  /** A forwarding header came from a peer that is no trusted proxy, or from one that does not say who the client is. */
  untrustedForwarding: boolean
}

export type FactsReader = (req: IncomingMessage, id: string) => RequestFacts

const MAX_HOPS = 20

type Cidr = ReturnType<typeof ipaddr.parseCIDR>

const FORWARDING = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'] as const

/** Whether a proxy says that it stands between, be it trusted or not. */
export const wasForwarded = (headers: IncomingMessage['headers']): boolean => FORWARDING.some((name) => headers[name] !== undefined)

function unmapped(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

/** An address as some proxies write it: `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(address: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address
}

function inRanges(address: string, ranges: Cidr[]): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return ranges.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits))
}

/** Makes the reader for one set of trusted proxies, given as CIDRs. */
export function createFactsReader(trustedProxies: string[]): FactsReader {
  const trusted = trustedProxies.map((cidr) => ipaddr.parseCIDR(cidr))

  function behindProxy(headers: IncomingMessage['headers'], peer: string) {
    // The rightmost entries were added last, by proxies; a client may have sent thousands more.
    const chain = String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .slice(-MAX_HOPS)
      .map((part) => unmapped(withoutPort(part.trim())))
    const client = chain.findLast((address) => !inRanges(address, trusted))
    // What a proxy wrote in a form of its own hides everything left of it, which the client itself may have written.
    const isNamed = client === undefined || isIP(client) !== 0
    return {
      address: isNamed ? (client ?? peer) : peer,
      namesClient: isNamed,
      proto: String(headers['x-forwarded-proto'] ?? '')
        .slice(0, 16)
        .split(',')[0]
        ?.trim(),
    }
  }

  return (req, id) => {
    const url = req.url ?? '/'
    const mark = url.indexOf('?')
    const headers = req.headers
    const peer = unmapped(req.socket.remoteAddress ?? '')
    const forwarded = wasForwarded(headers)
    const believed = forwarded && trusted.length > 0 && inRanges(peer, trusted)
    const proxy = believed ? behindProxy(headers, peer) : undefined
    return {
      id,
      method: req.method ?? 'GET',
      path: mark < 0 ? url : url.slice(0, mark),
      search: mark < 0 ? '' : url.slice(mark + 1),
      headers,
      address: proxy?.address ?? peer,
      secure: proxy?.proto ? proxy.proto === 'https' : (req.socket as Partial<TLSSocket>).encrypted === true,
      host: (headers.host ?? '').toLowerCase(),
      untrustedForwarding: forwarded && !proxy?.namesClient,
    }
  }
}

/** Whether an address is this machine itself. */
export function isLoopback(address: string): boolean {
  return address === '::1' || (ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback')
}

/** Whether an address belongs to a home network: private, link-local, unique local or loopback. */
export function isPrivateAddress(address: string): boolean {
  if (!ipaddr.isValid(address.split('%')[0] ?? '')) return false
  return ['private', 'linkLocal', 'uniqueLocal', 'loopback'].includes(ipaddr.process(address.split('%')[0] ?? '').range())
}

/** The host name of a Host header: without port, brackets kept off. Empty where it cannot be one. */
export function hostName(host: string): string {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/.exec(host)
  return match?.[1] ?? match?.[2] ?? ''
}

/** Whether a Host header names the loopback interface. */
export function isLoopbackHost(host: string): boolean {
  return ['localhost', '127.0.0.1', '::1'].includes(hostName(host))
}
