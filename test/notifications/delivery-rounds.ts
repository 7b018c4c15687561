import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import type { Browser } from '../support/house.ts'
import { BY_ENVIRONMENT, dataRoot, type ServerProcess, startServer } from '../support/process.ts'
import { connectSocket } from '../support/socket-client.ts'

export interface DeliveryReport {
  /** Notifications that were answered with 2xx. */
  sent: number
  /** How often one came again over a later connection, as one that was not acknowledged may. */
  again: number
  /** One line for each thing that must not be. */
  wrong: string[]
}

/** A push service of the household's own, which fails now and then unless it `isWell`; never twice in a row, so that no wait grows long. */
async function startPushService(): Promise<{ url: string; seen: Set<string>; isWell: boolean; close(): void }> {
  const seen = new Set<string>()
  const failed = new Set<string>()
  let isTaken = true
  const server = createServer(async (asked, answer) => {
    const { id } = JSON.parse(await text(asked)) as { id: string }
    isTaken = service.isWell || !isTaken || failed.has(id) || Math.random() > 0.05
    ;(isTaken ? seen : failed).add(id)
    answer.writeHead(isTaken ? 201 : 503).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const service = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/up`, seen, isWell: false, close: () => server.close() }
  return service
}

/** A device that keeps what it has by id, as every app has to. */
interface Listener {
  id: string
  token: string
  seen: Set<string>
  /** What the server answered `ok` to. */
  acknowledged: Set<string>
}

const DEVICES = 4
const SENDERS = 6
/** No round ends with less under way than this. */
const LEAST = 20
/** What is not done with: on nobody's way, neither acknowledged nor pushed, or still to be looked at. */
const OPEN = `SELECT COUNT(*) FROM "notification" WHERE "status" = 'pending' OR ("status" = 'sent' AND "pushedAt" IS NULL) OR "attemptAt" IS NOT NULL`
let counter = 0

async function pair(owner: Browser, server: ServerProcess, name: string, token?: string): Promise<Listener> {
  const { qr } = await owner.api.pairing.start({ body: {} })
  const { code, secret } = JSON.parse(Buffer.from(qr.split('d=')[1] ?? '', 'base64url').toString()) as { code: string; secret: string }
  const deviceInfo = { name, type: 'phone' as const, ...(token !== undefined && { push: { provider: 'unifiedpush' as const, token } }) }
  const { device, accessToken } = await server.stranger().api.pairing.complete({ body: { code, secret, deviceInfo } })
  return { id: device.id, token: accessToken, seen: new Set(), acknowledged: new Set() }
}

/** One connection, until it breaks or `isOver`: acknowledges most of what comes, and leaves now and then in the middle. */
async function listen(
  server: ServerProcess,
  listener: Listener,
  report: DeliveryReport,
  isOver: () => boolean,
  stays: boolean,
): Promise<void> {
  const client = await connectSocket(`${server.url}/ws?token=${listener.token}`).catch(() => null)
  if (!client) return
  const acknowledgedBefore = new Set(listener.acknowledged)
  const here = new Set<string>()
  const asked = new Map<string, string>()
  let last = 0
  const leaveAfter = stays ? Number.POSITIVE_INFINITY : 20 + Math.random() * 200
  client.socket.on('error', () => undefined) // it is killed under us
  client.socket.on('message', (data) => {
    const { type, payload } = JSON.parse(String(data)) as { type: string; payload: { id: string; seq: number; ok: boolean } }
    if (type === 'result' && payload.ok) listener.acknowledged.add(asked.get(payload.id) ?? '')
    if (type !== 'notification.push') return
    const { id, seq } = payload
    if (here.has(id)) report.wrong.push(`${id} came twice over one connection`)
    if (seq <= last) report.wrong.push(`${seq} came after ${last}`)
    if (acknowledgedBefore.has(id)) report.wrong.push(`${id} came again although it was acknowledged`)
    if (listener.seen.has(id) && !here.has(id)) report.again += 1
    here.add(id)
    listener.seen.add(id)
    last = seq
    if (!stays && Math.random() < 0.1) return // its acknowledgement is lost
    const ask = `a${counter++}`
    asked.set(ask, id)
    client.send({ type: 'notification.ack', id: ask, payload: { id, status: Math.random() < 0.2 ? 'read' : 'delivered' } })
    if (here.size > leaveAfter) client.socket.terminate()
  })
  client.send({ type: 'hello', payload: { lastSeq: last } })
  const watch = setInterval(() => isOver() && client.socket.terminate(), 20)
  await client.closed
  clearInterval(watch)
}

async function hasAny(api: Browser['api'], deviceId: string, status: 'pending' | 'sent'): Promise<boolean> {
  return (await api.notifications.list({ query: { deviceId, status, limit: 1 } })).length > 0
}

/**
 * Starts the server, sends to devices that acknowledge, break off and come back, and kills it at a random moment; `rounds` times on the
 * same data. At the end every device is there until nothing is open, and must have seen all that was ever answered with 2xx; one more is never there, and must have been
 * pushed to.
 */
export async function deliveryRounds(rounds: number): Promise<DeliveryReport> {
  using root = dataRoot()
  const report: DeliveryReport = { sent: 0, again: 0, wrong: [] }
  const sent = new Map<string, string>()
  const listeners: Listener[] = []
  const service = await startPushService()
  /** Never there: reached by push alone. */
  let away: Listener | undefined
  let port = '0'
  let owner: Browser | undefined
  for (let round = 0; round <= rounds; round++) {
    const env = { ...BY_ENVIRONMENT, SERVICE_PORT: port, SERVICE_ACCESS_TOKEN_TTL_SECONDS: '86400', SERVICE_FETCH_ALLOW_LOCAL: '1' }
    await using server = await startServer(root.path, { env })
    port = String(server.port)
    owner ??= await server.owner()
    const api = owner.api
    for (let at = listeners.length; at < DEVICES; at++) listeners.push(await pair(owner, server, `phone ${at}`))
    away ??= await pair(owner, server, 'phone that is away', service.url)
    const targets = [...listeners, away]
    let alive = true
    const isLast = round === rounds
    const listening = listeners.map(async (listener) => {
      while (alive) {
        await listen(server, listener, report, () => !alive, isLast)
        await wait(Math.random() * 30)
      }
    })
    if (isLast) {
      service.isWell = true
      const isOpen = async () => {
        const open = targets.flatMap(({ id }) => [hasAny(api, id, 'pending'), id !== away?.id && hasAny(api, id, 'sent')])
        return (await Promise.all(open)).includes(true)
      }
      for (const deadline = performance.now() + 90_000; (await isOpen()) && performance.now() < deadline; ) await wait(50)
      alive = false
      await Promise.all(listening)
      await server.stop()
      break
    }
    let here = 0
    const sending = Array.from({ length: SENDERS }, async () => {
      while (alive) {
        const deviceId = targets[Math.floor(Math.random() * targets.length)]?.id
        const body = {
          title: `title ${counter++}`,
          body: 'x'.repeat(200),
          ...(Math.random() < 0.8 && deviceId !== undefined && { deviceId }),
        }
        const answer = await api.notifications.send({ body }).catch((error: unknown) => {
          if (alive) report.wrong.push(`round ${round}: refused while it was alive: ${String(error)}`)
          return { items: [] }
        })
        for (const one of 'items' in answer ? answer.items : [answer]) {
          sent.set(one.id, one.deviceId)
          here += 1
        }
        await wait(1)
      }
    })
    for (const deadline = performance.now() + 10_000; here < LEAST && performance.now() < deadline; ) await wait(5)
    await wait(Math.random() * 400)
    alive = false
    await server.kill()
    await Promise.all([...sending, ...listening])
  }
  service.close()
  report.sent = sent.size
  for (const [id, deviceId] of sent) {
    const { seen } = listeners.find((listener) => listener.id === deviceId) ?? service
    if (!seen.has(id)) report.wrong.push(`${id} was never seen`)
  }
  const raw = new BetterSqlite3(root.file('hearth.sqlite'), { readonly: true })
  const open = raw.prepare(OPEN).pluck().get()
  const verdict = raw.pragma('integrity_check', { simple: true })
  raw.close()
  if (open !== 0) report.wrong.push(`${open} are still open`)
  if (verdict !== 'ok') report.wrong.push(String(verdict))
  return report
}
