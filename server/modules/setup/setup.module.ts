import { conflict } from '../../kit/errors.ts'
import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { ownerCookie } from '../auth/cookies.ts'
import type { OwnerService } from '../auth/owner.service.ts'
import type { OwnerSessions } from '../auth/owner-sessions.ts'
import { setupContract } from './setup.contract.ts'
import type { SetupService } from './setup.service.ts'
import type { SetupPin } from './setup-pin.ts'

export interface SetupModuleDeps {
  setup: SetupService
  pin: SetupPin
  owner: OwnerService
  sessions: OwnerSessions
  /** Opens the server to the home network; the answer waits for it, so that whoever gets it can call at once. */
  onDone(): Promise<void>
}

export function createSetup({ setup, pin, owner, sessions, onDone }: SetupModuleDeps): Module {
  return {
    name: 'setup',
    routes: [
      routes(setupContract, {
        state: () => ({ required: !setup.isDone() }),
        async complete({ body }, { request, reply }) {
          if (setup.isDone()) throw conflict('already_set_up', 'This Hearth is set up already.')
          pin.check(body.pin)
          await setup.complete(body)
          reply.cookie(ownerCookie(request, await sessions.open(request)))
          await onDone()
          return { user: owner.user() }
        },
      }),
    ],
    async start() {
      if (setup.isDone()) await setup.adoptEnvironment()
      else pin.start()
    },
  }
}
