import type { EventBus } from '../../kit/events.ts'
import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { householdChanged, householdContract } from './household.contract.ts'
import type { HouseholdService } from './household.service.ts'

export function createHousehold({ household, events }: { household: HouseholdService; events: EventBus }): Module {
  return {
    name: 'household',
    routes: [
      routes(householdContract, {
        get: () => household.get(),
        async replace({ body }) {
          const replaced = await household.replace(body)
          events.publish(householdChanged, {})
          return replaced
        },
      }),
    ],
  }
}
