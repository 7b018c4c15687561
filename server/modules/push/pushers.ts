import type { Environment } from '../../config.ts'
import type { GuardedFetch } from '../../kit/guarded-fetch.ts'
import type { Logger } from '../../kit/log.ts'
import type { Pushers, PushTarget } from '../notifications/pushers.ts'
import type { PushProvider } from '../paired-devices/push-registration.contract.ts'
import { createExpoGateway } from './expo-gateway.ts'
import { createFcmGateway, type FcmGatewayDeps } from './fcm-gateway.ts'
import { type Gateway, NotConfiguredError } from './gateway.ts'
import { createLanes } from './lanes.ts'
import { createRests } from './rests.ts'
import type { VapidKeys } from './vapid-keys.ts'
import { createWebPushGateway } from './web-push-gateway.ts'

export interface PushersDeps {
  env: Pick<Environment, 'PUSH_ACCESS_TOKEN' | 'EXPO_BASE_URL' | 'CLOUD_MESSAGING_SERVICE_ACCOUNT'>
  vapid: VapidKeys
  /** Reaches the internet alone. */
  fetch: GuardedFetch
  /** Reaches the home network too, where a push server of one’s own may stand. */
  homeFetch: GuardedFetch
  /** Told of a token that turned out later to reach nobody. */
  onDeadToken(device: PushTarget): void
  log: Logger
  fcm?: FcmGatewayDeps['connection']
  /** For one push; 10 s unless stated. */
  waitMs?: number
  /** When Expo is asked what became of a push; 15 minutes unless stated. */
  receiptsAfterMs?: number
}

/** Under way at a time to one gateway, or to one push service of those that devices name. */
const PER_GATEWAY = 8
const MAX_REASON = 200
/** A shorter token tells nobody anything, and may be a word. */
const TELLING = 8

/** All gateways, each with limits of its own: none waits for another, and none is waited for longer than 10 s. */
export function createPushers({ env, vapid, fetch, homeFetch, onDeadToken, log, fcm, waitMs = 10_000, ...deps }: PushersDeps) {
  const lanes = createLanes({ limit: PER_GATEWAY, waitMs })
  const rests = createRests()
  const missing = new Set<string>()

  const gateways: Record<PushProvider, Gateway> = {
    expo: createExpoGateway({
      accessToken: env.PUSH_ACCESS_TOKEN,
      baseUrl: env.EXPO_BASE_URL,
      lanes,
      rests,
      onDeadToken,
      onFailed: (error) => tell('expo', error),
      receiptsAfterMs: deps.receiptsAfterMs ?? 15 * 60_000,
    }),
    fcm: createFcmGateway({
      serviceAccountPath: env.CLOUD_MESSAGING_SERVICE_ACCOUNT,
      lanes,
      rests,
      ...(fcm && { connection: fcm }),
    }),
    webpush: createWebPushGateway({ provider: 'webpush', fetch, lanes, rests, vapid }),
    unifiedpush: createWebPushGateway({ provider: 'unifiedpush', fetch: homeFetch, lanes, rests, vapid }),
  }

  /** What a gateway says may quote the token, or be a book. What is missing is said once. */
  function tell(provider: PushProvider, error: unknown, token?: string): void {
    const said = (error instanceof Error ? error.message : String(error)).slice(0, 10_000)
    if (error instanceof NotConfiguredError) {
      if (missing.has(provider)) return
      missing.add(provider)
    }
    const why = (token && token.length >= TELLING ? said.replaceAll(token, '[token]') : said).replaceAll(
      /Expo(nent)?PushToken\[[^\]]*\]/g,
      '[token]',
    )
    log.warn({ provider, why: why.slice(0, MAX_REASON) }, 'a push did not go out')
  }

  return {
    async push(device, notification) {
      try {
        return await gateways[device.push.provider].push(device, notification)
      } catch (error) {
        tell(device.push.provider, error, device.push.token)
        return 'retry'
      }
    },

    /** Gives up what is under way; whoever waits for it hears `retry`. */
    async stop(): Promise<void> {
      lanes.stop()
      for (const gateway of Object.values(gateways)) await gateway.stop?.()
    },
  } satisfies Pushers & { stop(): Promise<void> }
}
