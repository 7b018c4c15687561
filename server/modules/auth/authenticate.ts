import type { Caller } from '../../kit/caller.ts'
import type { RequestFacts } from '../../kit/request-facts.ts'
import type { KeysService } from '../keys/keys.service.ts'
import type { DeviceSessions } from '../paired-devices/device-sessions.ts'
import { readDeviceCookie } from './cookies.ts'
import type { OwnerSessions } from './owner-sessions.ts'

export interface AuthenticateDeps {
  sessions: OwnerSessions
  deviceSessions: DeviceSessions
  keys: KeysService
}

export type BearerCaller = (token: string) => Caller | null | Promise<Caller | null>

const BEARER = /^Bearer ([\w.~+/=-]{1,4096})$/

/** Who a Bearer token stands for: an API key or a device's access token. */
export function createBearerCaller({ deviceSessions, keys }: Pick<AuthenticateDeps, 'deviceSessions' | 'keys'>): BearerCaller {
  return (token) => (token.startsWith('hk_') ? keys.callerOf(token) : deviceSessions.callerOfAccessToken(token))
}

/**
 * Who asks. An Authorization header rules over cookies, and one that is not good is no reason to look at them; the owner's
 * session rules over a paired browser's.
 */
export function createAuthenticate({ sessions, deviceSessions, keys }: AuthenticateDeps) {
  const bearerCaller = createBearerCaller({ deviceSessions, keys })
  return (facts: RequestFacts): Caller | null | Promise<Caller | null> => {
    const { authorization, cookie } = facts.headers
    if (authorization !== undefined) {
      const token = BEARER.exec(authorization)?.[1]
      return token ? bearerCaller(token) : null
    }
    if (cookie === undefined) return null
    const owner = sessions.callerOf(facts)
    if (owner) return owner
    const device = readDeviceCookie(facts)
    return device ? deviceSessions.callerOfBrowser(device) : null
  }
}
