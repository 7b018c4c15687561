import { networkInterfaces } from 'node:os'
import { isPrivateAddress } from './request-facts.ts'

/** Where this server listens now. */
export interface Listening {
  host: string
  port: number
  secure: boolean
}

const isLinkLocal = (address: string) => /^(169\.254\.|fe80:)/i.test(address)
const inUrl = (address: string) => (address.includes(':') ? `[${address}]` : address)

/** IPv4 first, which every phone and TV speaks, and of each the LAN's first; link-local ones need a zone and are of no use in a link. */
function lanAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const usable = all.filter(({ internal, address }) => !internal && !isLinkLocal(address))
  return usable
    .sort((a, b) => a.family.localeCompare(b.family) || Number(isPrivateAddress(b.address)) - Number(isPrivateAddress(a.address)))
    .map(({ address }) => address)
}

/**
 * The addresses a device may try, best first: the public one, then the LAN's. Taken from this machine and its settings,
 * never from a request. A server bound to loopback can only be reached there.
 */
export function serverAddresses({ host, port, secure }: Listening, publicUrl: string | null): string[] {
  const scheme = secure ? 'https' : 'http'
  const everywhere = host === '0.0.0.0' || host === '::'
  const found = everywhere ? lanAddresses() : [host]
  const local = (found.length > 0 ? found : ['127.0.0.1']).map((address) => `${scheme}://${inUrl(address)}:${port}`)
  return publicUrl ? [publicUrl.replace(/\/+$/, ''), ...local] : local
}
