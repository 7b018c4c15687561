import { randomUUID } from 'node:crypto'
import type { ActionOrigin, ActionResult } from '../../server/kit/actions.ts'
import type { Caller } from '../../server/kit/caller.ts'
import type { House } from './house.ts'

export interface Speaker {
  deviceId: string
  scope?: Caller['scope']
  personId?: string | null
  origin?: ActionOrigin
}

/** Has an action done for somebody, as the chat does unless stated. */
export function runAs(
  house: House,
  { deviceId, scope = 'member', personId = null, origin = 'chat' }: Speaker,
): (name: string, params?: unknown) => Promise<ActionResult> {
  const userId = personId ?? randomUUID()
  const caller: Caller = { kind: 'device', scope, deviceId, userId, personId, sessionId: randomUUID(), via: 'bearer' }
  return (name, params = {}) => house.app.actions.run(name, params, { caller, origin, signal: new AbortController().signal })
}
