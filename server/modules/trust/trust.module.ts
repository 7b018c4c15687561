import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import type { Authority } from './authority.service.ts'
import { trustContract } from './trust.contract.ts'

export function createTrust({ authority }: { authority: Authority }): Module {
  return {
    name: 'trust',
    routes: [
      routes(trustContract, {
        get: () => authority.describe(),
        async enable() {
          await authority.enable()
          return authority.describe()
        },
        disable: () => authority.disable(),
      }),
    ],
    start: () => authority.start(),
    stop: () => authority.stop(),
  }
}
