import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { onMessage } from '../../kit/socket-message.ts'
import { pushContract, pushRegister } from './push.contract.ts'
import type { PushTokensService } from './push-tokens.service.ts'
import type { VapidKeys } from './vapid-keys.ts'

export interface PushModuleDeps {
  pushers: { stop(): Promise<void> }
  tokens: PushTokensService
  vapid: VapidKeys
}

export function createPush({ pushers, tokens, vapid }: PushModuleDeps): Module {
  return {
    name: 'push',
    routes: [routes(pushContract, { vapid: () => ({ publicKey: vapid.publicKey() }) })],
    messages: [onMessage(pushRegister, (registration, caller) => tokens.register(caller, registration))],
    stop: () => pushers.stop(),
  }
}
