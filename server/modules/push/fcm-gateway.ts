import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Agent } from 'node:http'
import type { App, Credential } from 'firebase-admin/app'
import type { Messaging, TokenMessage } from 'firebase-admin/messaging'
import { z } from 'zod'
import type { NotificationMessage, PushOutcome, PushTarget } from '../notifications/pushers.ts'
import { type Gateway, NotConfiguredError } from './gateway.ts'
import type { Lanes } from './lanes.ts'
import { fitting, isUrgent, KEPT_SECONDS } from './push-payload.ts'
import type { Rests } from './rests.ts'

export interface FcmGatewayDeps {
  /** Of the service account’s JSON file. */
  serviceAccountPath: string | undefined
  lanes: Lanes
  rests: Rests
  /** Leads elsewhere than to Google; with a credential no service account is needed. */
  connection?: { httpAgent: Agent; credential?: Credential; projectId?: string }
}

/** Of 4,096 bytes; the rest is for what phones need beside it. */
const MAX_BYTES = 3_400

const ServiceAccount = z.object({ project_id: z.string(), client_email: z.string(), private_key: z.string() })

/** The id of its project. Throws without a word of what is in the file. */
async function checkServiceAccount(path: string): Promise<string> {
  try {
    return ServiceAccount.parse(JSON.parse(await readFile(path, 'utf8'))).project_id
  } catch {
    throw new Error('The file that CLOUD_MESSAGING_SERVICE_ACCOUNT names cannot be read as a service account')
  }
}

const Failure = z.object({
  code: z.string(),
  message: z.string().catch(''),
  httpResponse: z
    .object({ status: z.number(), headers: z.record(z.string(), z.unknown()) })
    .optional()
    .catch(undefined),
})

function toMessage({ id, title, body, level, category, seq, data = {} }: NotificationMessage) {
  return {
    notification: { title, body },
    // FCM carries texts only, and reserves names; data has a name of its own.
    data: { id, level, ...(category && { category }), ...(seq !== undefined && { seq: String(seq) }), data: JSON.stringify(data) },
  }
}

/** The second of two with one id replaces the first on the device. */
function toTokenMessage(token: string, notification: NotificationMessage): TokenMessage {
  const { id, category } = notification
  const urgent = isUrgent(notification)
  return {
    token,
    ...fitting(notification, MAX_BYTES, toMessage),
    android: {
      priority: urgent ? 'high' : 'normal',
      ttl: KEPT_SECONDS * 1000,
      notification: { tag: id, defaultSound: true, ...(category && { clickAction: category }) },
    },
    apns: {
      headers: {
        'apns-priority': urgent ? '10' : '5',
        'apns-collapse-id': id,
        'apns-expiration': String(Math.floor(Date.now() / 1000) + KEPT_SECONDS),
      },
      payload: { aps: { sound: 'default', 'interruption-level': urgent ? 'time-sensitive' : 'active', ...(category && { category }) } },
    },
  }
}

/** Firebase Cloud Messaging. */
export function createFcmGateway({ serviceAccountPath: path, lanes, rests, connection }: FcmGatewayDeps): Gateway {
  let connected: Promise<Messaging> | null = null
  let app: App | null = null
  const underWay = new Map<string, Promise<PushOutcome>>()

  async function connect(): Promise<Messaging> {
    if (!connection?.credential && !path) throw new NotConfiguredError('CLOUD_MESSAGING_SERVICE_ACCOUNT')
    const projectId = path && (await checkServiceAccount(path))
    const { cert, initializeApp } = await import('firebase-admin/app')
    const { getMessaging } = await import('firebase-admin/messaging')
    const account = path && projectId && { projectId, credential: cert(path, connection?.httpAgent) }
    app = initializeApp({ ...connection, ...(account || {}) }, `hearth-${randomUUID()}`)
    return getMessaging(app)
  }

  /** The file may be mended meanwhile, so a failure is not kept. */
  function messaging(): Promise<Messaging> {
    connected ??= connect().catch((error: unknown) => {
      connected = null
      throw error
    })
    return connected
  }

  async function send({ push: { token } }: PushTarget, notification: NotificationMessage): Promise<PushOutcome> {
    const gateway = await messaging()
    try {
      await gateway.send(toTokenMessage(token, notification))
      return 'sent'
    } catch (error) {
      const { code, message, httpResponse } = Failure.parse(error)
      if (httpResponse) rests.heard(token, httpResponse.status, String(httpResponse.headers['retry-after'] ?? ''))
      const isDead =
        code === 'messaging/registration-token-not-registered' ||
        (code.startsWith('messaging/invalid-') && /registration token/i.test(message))
      if (isDead) return 'dead-token'
      throw error
    }
  }

  /** The library goes on trying for a while after it was given up: the same one is then waited for, not sent twice. */
  function sendOnce(device: PushTarget, notification: NotificationMessage): Promise<PushOutcome> {
    const key = `${notification.id} ${device.push.token}`
    const known = underWay.get(key)
    if (known) return known
    const sending = send(device, notification).finally(() => underWay.delete(key))
    underWay.set(key, sending)
    return sending
  }

  return {
    async push(device, notification) {
      if (rests.isResting(device.push.token)) return 'retry'
      return lanes.run('fcm', () => sendOnce(device, notification))
    },

    async stop() {
      if (!app) return
      const { deleteApp } = await import('firebase-admin/app')
      await deleteApp(app)
      app = null
      connected = null
    },
  }
}
