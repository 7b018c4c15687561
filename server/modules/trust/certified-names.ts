import { isIP } from 'node:net'
import { lanAddresses, localName, thisMachine } from '../../kit/server-addresses.ts'

export interface AddedNames {
  publicUrl(): string | null
  allowedHosts(): string[]
}

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?)*$/

const added = ({ publicUrl, allowedHosts }: AddedNames): string[] => [
  ...allowedHosts(),
  ...[URL.parse(publicUrl() ?? '')?.hostname ?? []].flat().map((host) => host.replace(/^\[|\]$/g, '')),
]

/** The host names of this server that a certificate can hold, the machine's own first. */
export function certifiedNames(names: AddedNames, { name } = thisMachine()): string[] {
  const own = [name.toLowerCase(), localName(name) ?? [], 'hearth.local', 'localhost'].flat()
  return [...new Set([...own, ...added(names)])].filter((host) => isIP(host) === 0 && HOST_NAME.test(host))
}

/** The addresses of this server that a certificate can hold. */
export function certifiedAddresses(names: AddedNames, { interfaces } = thisMachine()): string[] {
  return [...lanAddresses(interfaces), ...added(names).filter((host) => isIP(host) > 0)]
}
