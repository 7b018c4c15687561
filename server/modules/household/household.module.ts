import { notFound } from '../../kit/errors.ts'
import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { householdContract } from './household.contract.ts'
import type { HouseholdService } from './household.service.ts'

export function createHousehold({ household }: { household: HouseholdService }): Module {
  return {
    name: 'household',
    routes: [
      routes(householdContract, {
        get: () => household.get(),
        replace: () => {
          throw notFound()
        },
      }),
    ],
  }
}
