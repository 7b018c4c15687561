import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { keysContract } from './keys.contract.ts'
import type { KeysService } from './keys.service.ts'

export function createKeys({ keys }: { keys: KeysService }): Module {
  return {
    name: 'keys',
    routes: [
      routes(keysContract, {
        list: () => keys.list(),
        create: ({ body }) => keys.create(body),
        revoke: ({ params }) => keys.revoke(params.id),
      }),
    ],
  }
}
