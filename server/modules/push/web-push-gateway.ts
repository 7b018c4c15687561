import type { GuardedFetch } from '../../kit/guarded-fetch.ts'
import { buttons } from '../notifications/notifications.contract.ts'
import type { NotificationMessage } from '../notifications/pushers.ts'
import { type PushEndpoint, type PushProvider, readEndpoint } from '../paired-devices/push-registration.contract.ts'
import type { Gateway } from './gateway.ts'
import type { Lanes } from './lanes.ts'
import { fitting, isUrgent, KEPT_SECONDS } from './push-payload.ts'
import type { Rests } from './rests.ts'
import type { VapidKeys } from './vapid-keys.ts'

export interface WebPushGatewayDeps {
  provider: Extract<PushProvider, 'webpush' | 'unifiedpush'>
  fetch: GuardedFetch
  lanes: Lanes
  rests: Rests
  vapid: VapidKeys
}

/** A push service takes 4,096 bytes, of which the encryption needs 103. */
const MAX_BYTES = 3_900
const MAX_ANSWER_BYTES = 64 * 1024

/** What the service worker shows and its buttons are drawn from. */
const toJson = ({ id, title, body, level, category, seq, data }: NotificationMessage) => ({
  id,
  title,
  body,
  level,
  category,
  actions: category ? buttons[category] : [],
  ...(seq !== undefined && { seq }),
  ...(data !== undefined && { data }),
})

/** Posts to the endpoint that a browser or a UnifiedPush app was given, encrypted for it (RFC 8030, 8291, 8292). */
export function createWebPushGateway({ provider, fetch, lanes, rests, vapid }: WebPushGatewayDeps): Gateway {
  async function sealed({ endpoint, keys }: PushEndpoint, text: string) {
    if (!keys) return { headers: { 'content-type': 'application/json' }, body: text }
    const { encryptNotification, vapidHeaders } = await import('@block65/webcrypto-web-push')
    const subscription = { endpoint, keys, expirationTime: null }
    const body = await encryptNotification(subscription, Buffer.from(text)).catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'DataError') return null // keys that are no point of the curve
      throw error
    })
    if (!body) return null
    const signed = endpoint.startsWith('https:') ? (await vapidHeaders(subscription, vapid.signer())).headers : {}
    return { headers: { ...signed, 'content-type': 'application/octet-stream', 'content-encoding': 'aes128gcm' }, body }
  }

  return {
    async push({ push: { token } }, notification) {
      const known = readEndpoint(provider, token)
      if (!known) return 'dead-token'
      if (rests.isResting(token)) return 'retry'
      const url = new URL(known.endpoint)
      return lanes.run(`${provider} ${url.origin}`, async (signal) => {
        const message = await sealed(known, JSON.stringify(fitting(notification, MAX_BYTES, toJson)))
        if (!message) return 'dead-token' // keys that are none
        const answer = await fetch(url.href, {
          method: 'POST',
          headers: {
            ...message.headers,
            ttl: String(KEPT_SECONDS),
            urgency: isUrgent(notification) ? 'high' : 'normal',
            topic: notification.id.replaceAll('-', ''), // a second try replaces the first where that is still on its way
          },
          body: message.body,
          maxBytes: MAX_ANSWER_BYTES,
          signal,
        })
        rests.heard(token, answer.status, answer.headers['retry-after'])
        if (answer.status === 404 || answer.status === 410) return 'dead-token'
        // Who sends us elsewhere may have been asked there without the message.
        return answer.status >= 200 && answer.status < 300 && answer.url === url.href ? 'sent' : 'retry'
      })
    },
  }
}
