import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { createLog } from '../../server/kit/log.ts'
import type { NotificationMessage, PushTarget } from '../../server/modules/notifications/pushers.ts'
import type { PushProvider } from '../../server/modules/paired-devices/push-registration.contract.ts'
import { createPushers, type PushersDeps } from '../../server/modules/push/pushers.ts'
import { createVapidKeys } from '../../server/modules/push/vapid-keys.ts'

/** Keys of a house that is nowhere. */
export function vapidKeys(publicUrl: string | null = null) {
  let kept: string | undefined
  return createVapidKeys({
    secrets: {
      get: () => kept,
      set(values) {
        kept = values.VAPID_PRIVATE_KEY
      },
      fresh: () => '',
    },
    publicUrl: () => publicUrl,
  })
}

/** Pushers that reach nothing but what a test hands in. */
export function pushersWith(deps: Partial<PushersDeps>) {
  const nowhere = async () => {
    throw new Error('Nothing is there')
  }
  const onDeadToken = () => undefined
  return createPushers({ env: {}, vapid: vapidKeys(), fetch: nowhere, homeFetch: nowhere, onDeadToken, log: createLog('silent'), ...deps })
}

export const message = (more: Partial<NotificationMessage> = {}): NotificationMessage => ({
  id: randomUUID(),
  title: 'Tea',
  body: 'is ready',
  level: 'info',
  category: null,
  seq: 1,
  data: {},
  ...more,
})

export const device = (provider: PushProvider, token: string): PushTarget => ({ id: randomUUID(), push: { provider, token } })

/** All of a request's body, unpacked. */
export async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  return req.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
}

export function answer(res: ServerResponse, status: number, body: unknown = '', headers: Record<string, string> = {}): void {
  res.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
}
