import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/** What the internet hands out; the rest of IPv6 maps, tunnels or embeds other addresses, or is reserved. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')
/** Documentation (RFC 9637), which the library does not know yet. */
const DOCUMENTATION = ipaddr.parseCIDR('3fff::/20')

const isOwn = (address: string) =>
  Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address.split('%')[0]?.toLowerCase() === address))

/**
 * Whether an address lies on a home network (RFC 1918, or fc00::/7), and is not this machine's. Link-local ones do not count: the keys of
 * rented machines are handed out there.
 */
export function isHomeAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  return ['private', 'uniqueLocal'].includes(address.range()) && !isOwn(address.toString())
}

/**
 * Whether an address lies on the public internet, and is not this machine's: not loopback, private, link-local, carrier-grade NAT, multicast
 * or reserved, nor any of these inside IPv6 (mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  if (address.kind() === 'ipv6' && (!address.match(GLOBAL_IPV6) || address.match(DOCUMENTATION))) return false
  return !isOwn(address.toString())
}
