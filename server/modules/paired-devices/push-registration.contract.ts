import { z } from 'zod'

export const PushProvider = z.enum(['expo', 'fcm', 'webpush', 'unifiedpush'])
export type PushProvider = z.output<typeof PushProvider>

const ExpoToken = z.string().regex(/^(Expo(nent)?PushToken\[[^\]\s]+\]|[a-z\d]{8}-([a-z\d]{4}-){3}[a-z\d]{12})$/i)

const isBare = (text: string) => {
  const url = URL.parse(text)
  return url !== null && url.hostname !== '' && url.username === '' && url.password === ''
}
const address = (protocol: RegExp) => z.url({ protocol }).max(2048).refine(isBare)

/** An uncompressed point of P-256 and 16 random bytes (RFC 8291), as browsers write them out. */
const Keys = z.object({ p256dh: z.string().regex(/^B[\w-]{86}=?$/), auth: z.string().regex(/^[\w-]{22}(==)?$/) })

/** Where a message is posted for a device to get it; encrypted for that device where there are keys. */
export interface PushEndpoint {
  endpoint: string
  keys?: z.output<typeof Keys> | undefined
}

const WebPushSubscription = z.object({ endpoint: address(/^https$/), keys: Keys })
const HomeAddress = address(/^https?$/)
const HomeSubscription = z.object({ endpoint: HomeAddress, keys: Keys.optional() })

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // refused by the schema
  }
}

/** What a token of Web Push or UnifiedPush stands for; null where it is none. */
export function readEndpoint(provider: PushProvider, token: string): PushEndpoint | null {
  if (provider === 'webpush') return WebPushSubscription.safeParse(parseJson(token)).data ?? null
  if (provider !== 'unifiedpush') return null
  if (token.startsWith('{')) return HomeSubscription.safeParse(parseJson(token)).data ?? null
  return HomeAddress.safeParse(token).success ? { endpoint: token } : null
}

function isToken(provider: PushProvider, token: string): boolean {
  if (provider === 'fcm') return true // Google calls it opaque
  return provider === 'expo' ? ExpoToken.safeParse(token).success : readEndpoint(provider, token) !== null
}

/** How a device is reached while it is not connected. */
export const PushRegistration = z
  .strictObject({
    provider: PushProvider,
    token: z
      .string()
      .min(1)
      .max(4096)
      .describe(
        'What the provider gave the device: `ExponentPushToken[…]`, a token of FCM, for webpush the PushSubscription as JSON, for unifiedpush the endpoint, or `{endpoint, keys}` as JSON.',
      ),
  })
  .refine(({ provider, token }) => isToken(provider, token), { path: ['token'], error: 'is no token of that provider' })
export type PushRegistration = z.output<typeof PushRegistration>
