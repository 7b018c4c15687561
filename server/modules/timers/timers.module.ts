import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import type { WakeUp } from '../../kit/wake-up.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { createTimerActions } from './timers.actions.ts'
import { timersContract } from './timers.contract.ts'
import type { TimersService } from './timers.service.ts'

export interface TimersModuleDeps {
  timers: TimersService
  household: HouseholdService
  ringing: WakeUp
}

export function createTimers({ timers, household, ringing }: TimersModuleDeps): Module {
  return {
    name: 'timers',
    actions: createTimerActions({ timers, household }),
    routes: [
      routes(timersContract, {
        list: () => timers.list(),
        create: ({ body }, { caller }) => timers.create(caller, body),
        get: ({ params }) => timers.get(params.id),
        update: ({ params, body }) => timers.update(params.id, body),
        async remove({ params }) {
          await timers.remove(params.id)
        },
      }),
    ],
    async start() {
      ringing.start()
    },
    stop: () => ringing.stop(),
  }
}
