import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { AppError, forbidden } from './errors.ts'
import { isPublicAddress } from './public-address.ts'

/** `dns.lookup` with `all`. */
export type Lookup = (
  host: string,
  options: { all: true },
  then: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

export interface Reach {
  /** Which addresses besides those of the internet may be reached; none unless stated. */
  isNear?: ((address: string) => boolean) | undefined
  /** Which addresses are of the internet. */
  isPublic?: ((address: string) => boolean) | undefined
}

export type Journey = ReturnType<typeof createJourney>

/** Follows one request over its redirects: once on the internet, it does not come back to what is near. */
export function createJourney({ isNear = () => false, isPublic = isPublicAddress }: Reach) {
  let hasBeenOutside = false
  return {
    mayReach: (address: string | undefined): boolean =>
      address !== undefined && (isPublic(address) || (!hasBeenOutside && isNear(address))),
    reached(address: string | undefined): void {
      hasBeenOutside ||= address !== undefined && isPublic(address)
    },
  }
}

export const addressBlocked = () => forbidden('This address may not be reached from here.', 'address_blocked')

/** Our own refusal inside of what the transport throws about it. */
export function refusalIn(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  if (error instanceof AggregateError) return error.errors.map(refusalIn).find(Boolean)
  return error instanceof Error && error.cause !== undefined ? refusalIn(error.cause) : undefined
}

const WAIT_MS = 10_000

/**
 * Connects only where the journey may go: every address behind a name is checked, the connection goes to one of these and is not resolved
 * again. Fails with 403 `address_blocked`.
 */
export function guardedConnector(
  build: typeof buildConnector,
  { mayReach, reached }: Journey,
  lookup: Lookup = systemLookup,
): buildConnector.connector {
  const checkedLookup: LookupFunction = (host, options, then) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || !first) then(error ?? new Error(`${host} has no address`), '')
      else if (!addresses.every(({ address }) => mayReach(address))) then(addressBlocked(), '')
      else if (options.all) then(null, addresses)
      else then(null, first.address, first.family)
    })
  }
  const connectTo = build({ lookup: checkedLookup, timeout: WAIT_MS })
  return (options, then) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) && !mayReach(host)) return void then(addressBlocked(), null)
    connectTo(options, (...outcome) => {
      const socket: Socket | null = outcome[1]
      if (socket && !mayReach(socket.remoteAddress)) {
        socket.destroy()
        return void then(addressBlocked(), null)
      }
      reached(socket?.remoteAddress)
      then(...outcome)
    })
  }
}
