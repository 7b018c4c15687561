import type { Caller } from '../../kit/caller.ts'
import { forbidden } from '../../kit/errors.ts'
import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import type { WakeUp } from '../../kit/wake-up.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { createTimerActions } from './timers.actions.ts'
import { timersContract } from './timers.contract.ts'
import type { OwnedTimer, TimersService } from './timers.service.ts'
import { asSeen, mayChange, ownerOf } from './whose-timer.ts'

export interface TimersModuleDeps {
  timers: TimersService
  household: HouseholdService
  ringing: WakeUp
}

export function createTimers({ timers, household, ringing }: TimersModuleDeps): Module {
  const persons = () => household.get().persons
  const seen = (one: OwnedTimer, caller: Caller) => asSeen(one, caller, persons())

  /** Throws 404, and 403 for another's alarm. */
  function mustChange(id: string, caller: Caller): OwnedTimer {
    const one = timers.getOwned(id)
    const owner = ownerOf(one, persons())
    if (!mayChange(one, caller)) throw forbidden(`This is ${owner}’s alarm. Only ${owner} or an admin can change or end it.`)
    return one
  }

  return {
    name: 'timers',
    actions: createTimerActions({ timers, household }),
    routes: [
      routes(timersContract, {
        list: (_, { caller }) => timers.listOwned().map((one) => seen(one, caller)),
        create: async ({ body }, { caller }) => seen(timers.getOwned((await timers.create(caller, body)).id), caller),
        get: ({ params }, { caller }) => seen(timers.getOwned(params.id), caller),
        async update({ params, body }, { caller }) {
          const one = mustChange(params.id, caller)
          return seen({ ...one, timer: await timers.update(params.id, body) }, caller)
        },
        async remove({ params }, { caller }) {
          mustChange(params.id, caller)
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
