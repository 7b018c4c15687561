import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { isLoopback, isPrivateAddress } from './request-facts.ts'

/** Where this server listens now. */
export interface Listening {
  host: string
  port: number
  /** Whether the port speaks TLS too; it always speaks plain HTTP. */
  secure: boolean
}

/** Interfaces by name, as the system tells them. */
export type Interfaces = NodeJS.Dict<Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[]>

/** The machine as the network knows it; what a test may put in its place. */
export interface Machine {
  interfaces: Interfaces
  name: string
}

/** Of containers, virtual machines and tunnels: seldom reached by a phone at home. `br0` and `br-lan` are real bridges, `br-` and hex is Docker’s. */
const VIRTUAL =
  /^(docker|br-[0-9a-f]{12}$|veth|virbr|vnet|vmnet|vboxnet|vEthernet|lxc|lxd|podman|cni|flannel|cali|tun|tap|utun|wg|tailscale|zt|ppp)/i
const MAX_ADDRESSES = 8

const isLinkLocal = (address: string) => /^(169\.254\.|fe[89ab][0-9a-f]:)/i.test(address)
const inUrl = (address: string) => (address.includes(':') ? `[${address}]` : address)

/** This machine as the system describes it now. */
export const thisMachine = (): Machine => ({ interfaces: networkInterfaces(), name: hostname() })

/** The name under which machines that speak multicast DNS find this one; null where it has none to be found by. */
export function localName(name: string): string | null {
  const label = name.toLowerCase().split('.')[0] ?? ''
  return label !== 'localhost' && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label) ? `${label}.local` : null
}

/**
 * The addresses of the LAN, best first: real interfaces before virtual ones, IPv4, which every phone and TV speaks, before
 * IPv6, and of each the private ones. Link-local ones need a zone and are of no use in a link.
 */
export function lanAddresses(interfaces: Interfaces): string[] {
  const all = Object.entries(interfaces).flatMap(([name, list]) =>
    (list ?? []).map(({ address, family, internal }) => ({ address, internal, rank: rankOf(name, family, address) })),
  )
  const usable = all.filter(({ internal, address }) => !internal && !isLinkLocal(address))
  return [...new Set(usable.sort((a, b) => a.rank - b.rank).map(({ address }) => address))]
}

function rankOf(name: string, family: string, address: string): number {
  return Number(VIRTUAL.test(name)) * 4 + Number(family === 'IPv6') * 2 + Number(!isPrivateAddress(address))
}

/**
 * The addresses a device may try, best first: the public one, the LAN's, the machine's name. Over TLS they come once more
 * after those over plain HTTP, since a phone that does not trust our authority yet would stop at them. Taken from this
 * machine and its settings, never from a request. A server bound to one address can only be reached there.
 */
export function serverAddresses({ host, port, secure }: Listening, publicUrl: string | null, machine = thisMachine()): string[] {
  const everywhere = host === '0.0.0.0' || host === '::'
  const found = everywhere ? lanAddresses(machine.interfaces).filter((address) => host === '::' || !address.includes(':')) : [host]
  const hosts = (found.length > 0 ? found : ['127.0.0.1']).slice(0, MAX_ADDRESSES).map(inUrl)
  const name = everywhere && found.length > 0 ? localName(machine.name) : null
  const at = (scheme: string) => (place: string) => `${scheme}://${place}:${port}`
  const local = [...hosts.map(at('http')), ...(secure ? hosts.map(at('https')) : []), ...(name ? [at('http')(name)] : [])]
  return [...new Set(publicUrl ? [publicUrl.replace(/\/+$/, ''), ...local] : local)]
}

/** Whether others in the network can reach a server that listens at `host`. */
export const isOpenToNetwork = ({ host }: Listening): boolean => host !== 'localhost' && !isLoopback(host)
