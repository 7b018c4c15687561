import { hostname, networkInterfaces } from 'node:os'
import { hostName } from './request-facts.ts'
import { localName } from './server-addresses.ts'

export interface OwnHosts {
  /** Whether a Host header names this server. */
  has(host: string): boolean
}

const LOOK_AGAIN_AFTER_MS = 15_000

/**
 * The names this server answers to: loopback, its interfaces' addresses, the machine's name, hearth.local and what its
 * owner added. Addresses are looked up again as networks change.
 */
export function createOwnHosts(added: () => { publicUrl: string | null; allowedHosts: string[] }, now: () => number = Date.now): OwnHosts {
  let names = new Set<string>()
  let readAt = Number.NEGATIVE_INFINITY

  function read(): Set<string> {
    const machine = hostname().toLowerCase()
    const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address.split('%')[0] ?? ''))
    return new Set([
      'localhost',
      '127.0.0.1',
      '::1',
      machine,
      `${machine}.local`,
      localName(machine) ?? machine,
      'hearth.local',
      ...addresses,
    ])
  }

  return {
    has(host) {
      const name = hostName(host)
      if (name === '') return false
      if (now() - readAt > LOOK_AGAIN_AFTER_MS) {
        names = read()
        readAt = now()
      }
      if (names.has(name)) return true
      const { publicUrl, allowedHosts } = added()
      return allowedHosts.includes(name) || (publicUrl !== null && new URL(publicUrl).hostname.replace(/^\[|\]$/g, '') === name)
    },
  }
}
