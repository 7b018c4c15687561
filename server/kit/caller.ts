import type { Access } from './endpoint.ts'

export type CallerScope = 'admin' | 'member' | 'guest'

/** Who asks, once their credential was verified. */
export interface Caller {
  kind: 'owner' | 'device' | 'key'
  scope: CallerScope
  /** The paired device, or the console's device id for the owner and API keys, but a guest's key, which is a device of its own. */
  deviceId: string
  /** A person's id, or the household's for a shared device. */
  userId: string
  /** The person, or null for a shared device. */
  personId: string | null
  /** Row id of the session or key behind the credential; what a revocation names. */
  sessionId: string
  via: 'cookie' | 'bearer'
}

const RANK = { guest: 1, member: 2, admin: 3 } as const

/** Whether a caller's scope reaches `access`; the audiences without a scope (public, lan, webhook) are not decided here. */
export function mayCall(access: Exclude<Access, 'public' | 'lan' | 'webhook'>, caller: Caller): boolean {
  return access === 'owner' ? caller.kind === 'owner' : RANK[caller.scope] >= RANK[access]
}
