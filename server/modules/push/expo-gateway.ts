import type { Expo, ExpoPushMessage } from 'expo-server-sdk'
import { z } from 'zod'
import type { NotificationMessage, PushOutcome, PushTarget } from '../notifications/pushers.ts'
import { createExpoClient, EXPO_REST } from './expo-client.ts'
import { createExpoReceipts, ExpoVerdict } from './expo-receipts.ts'
import { type Gateway, NotConfiguredError } from './gateway.ts'
import type { Lanes } from './lanes.ts'
import { fitting, isUrgent, KEPT_SECONDS } from './push-payload.ts'
import type { Rests } from './rests.ts'

export interface ExpoGatewayDeps {
  accessToken: string | undefined
  /** In place of Expo’s own address. */
  baseUrl: string | undefined
  lanes: Lanes
  rests: Rests
  onDeadToken(device: PushTarget): void
  onFailed(error: unknown): void
  /** From sending to asking what became of it. */
  receiptsAfterMs: number
}

interface Parcel {
  device: PushTarget
  message: ExpoPushMessage
  done(outcome: PushOutcome): void
}

/** Of 4,096 bytes; the rest is for what Expo puts around it. */
const MAX_BYTES = 3_500
/** As many as Expo takes at once. */
const MAX_AT_ONCE = 100
/** Notifications for several phones mostly come together. */
const GATHER_MS = 20

const toMessage =
  (to: string) =>
  ({ id, title, body, level, category, seq, data = {} }: NotificationMessage): ExpoPushMessage => {
    const urgent = isUrgent({ level, category })
    return {
      to,
      title,
      body,
      data: { id, level, category, ...(seq !== undefined && { seq }), data },
      ...(category && { categoryId: category }),
      sound: 'default',
      priority: urgent ? 'high' : 'default',
      interruptionLevel: urgent ? 'time-sensitive' : 'active',
      ttl: KEPT_SECONDS,
      // A second try replaces the first on the device.
      collapseId: id,
      tag: id,
    }
  }

/** Whether it is the messages that were refused: one that Expo cannot take makes it refuse all that came along. */
const isRefusal = (error: unknown): boolean => {
  const status = z.object({ statusCode: z.number() }).safeParse(error).data?.statusCode ?? 0
  return status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status)
}

/** Expo’s push service, in batches. */
export function createExpoGateway({
  accessToken,
  baseUrl,
  lanes,
  rests,
  onDeadToken,
  onFailed,
  receiptsAfterMs,
}: ExpoGatewayDeps): Gateway {
  const client = createExpoClient({ accessToken: accessToken ?? '', baseUrl, rests })
  const receipts = createExpoReceipts({
    ask: (ids) => lanes.run('expo receipts', (signal) => client(signal, (expo) => expo.getPushNotificationReceiptsAsync(ids))),
    onDeadToken,
    onFailed,
    afterMs: receiptsAfterMs,
  })
  let gathered: Parcel[] = []
  let timer: NodeJS.Timeout | undefined

  function outcomeOf(ticket: unknown, device: PushTarget): PushOutcome {
    const { data } = ExpoVerdict.safeParse(ticket)
    if (data?.details?.error === 'DeviceNotRegistered') return 'dead-token'
    if (data?.status !== 'ok') return 'retry'
    if (data.id !== undefined) receipts.keep(data.id, device)
    return 'sent'
  }

  async function sendAll(expo: Expo, parcels: readonly Parcel[]): Promise<void> {
    try {
      const tickets: unknown[] = await expo.sendPushNotificationsAsync(parcels.map(({ message }) => message))
      for (const [at, { device, done }] of parcels.entries()) done(outcomeOf(tickets[at], device))
    } catch (error) {
      if (!isRefusal(error) || parcels.length === 1) throw error
      const middle = Math.ceil(parcels.length / 2)
      for (const half of [parcels.slice(0, middle), parcels.slice(middle)]) await sendAll(expo, half).catch(onFailed)
    }
  }

  async function send(parcels: readonly Parcel[]): Promise<void> {
    await lanes.run('expo', (signal) => client(signal, (expo) => sendAll(expo, parcels))).catch(onFailed)
    for (const { done } of parcels) done('retry') // says nothing to those who know already
  }

  function flush(): void {
    timer = undefined
    const parcels = gathered
    gathered = []
    for (let from = 0; from < parcels.length; from += MAX_AT_ONCE) void send(parcels.slice(from, from + MAX_AT_ONCE))
  }

  return {
    async push(device, notification) {
      if (!accessToken) throw new NotConfiguredError('PUSH_ACCESS_TOKEN')
      if (rests.isResting(EXPO_REST)) return 'retry'
      const message = fitting(notification, MAX_BYTES, toMessage(device.push.token))
      return new Promise((done) => {
        gathered.push({ device, message, done })
        timer ??= setTimeout(flush, GATHER_MS)
      })
    },

    async stop() {
      receipts.stop()
      clearTimeout(timer)
      flush() // the lanes are closed by now, so that each hears of it
    },
  }
}
