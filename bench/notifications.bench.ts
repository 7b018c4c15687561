import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { WebSocket } from 'ws'
import { load } from './support/load.ts'
import { interleave, median, percentile, report } from './support/measure.ts'
import { credentials, startServer } from './support/server-process.ts'

/**
 * Notifications end to end: sent by request, made durable, brought to a device that is connected, acknowledged by it, and that made
 * durable too; against bare inserts of such a row, each with a commit of its own, on the same disk.
 */
const ROUNDS = 5
/** Shorter than the five seconds after which a socket with so many messages is closed as a flood. */
const MS = 2_000
const DEVICES = 8
const CONNECTIONS = 32
const MISSED = 500

const hearth = await startServer({ core: 0, env: { SERVICE_ACCESS_TOKEN_TTL_SECONDS: '86400' } })
const { key, api: owner } = await credentials(hearth)
const headers = { authorization: `Bearer ${key}` }

/** From the sending of each to its arrival; a title is when it was sent. */
const tookMs: number[] = []
let arrived = 0
let acknowledged = 0

async function pair(name: string): Promise<{ id: string; accessToken: string }> {
  const { qr } = await owner.pairing.start({ body: {} })
  const { code, secret } = JSON.parse(Buffer.from(qr.split('d=')[1] ?? '', 'base64url').toString()) as { code: string; secret: string }
  const { accessToken, device } = await owner.pairing.complete({ body: { code, secret, deviceInfo: { name, type: 'phone' } } })
  return { id: device.id, accessToken }
}

/** Connects, says hello and acknowledges whatever comes. */
async function connect({ accessToken }: { accessToken: string }): Promise<WebSocket> {
  const socket = new WebSocket(`${hearth.url.replace('http', 'ws')}/ws`, ['bearer', accessToken], { perMessageDeflate: false })
  socket.on('message', (data) => {
    const { type, payload } = JSON.parse(String(data)) as { type: string; payload: { id: string; title: string; ok: boolean } }
    if (type === 'result' && payload.ok) acknowledged += 1
    if (type !== 'notification.push') return
    arrived += 1
    tookMs.push(performance.now() - Number(payload.title))
    socket.send(`{"type":"notification.ack","payload":{"id":"${payload.id}","status":"delivered"}}`)
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  socket.send('{"type":"hello"}')
  return socket
}

async function until(isTrue: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 20_000; !isTrue(); await wait(1))
    if (performance.now() > deadline) throw new Error(`Of the notifications ${arrived} arrived, ${acknowledged} were acknowledged`)
}

const send = (deviceId: (n: number) => string, ms: number, connections = CONNECTIONS) => {
  const body = (n: number) =>
    JSON.stringify({ title: String(performance.now()), body: 'Somebody is at the door', level: 'warning', deviceId: deviceId(n) })
  return load({ url: `${hearth.url}/api/notifications/send`, pid: hearth.pid, connections, ms, method: 'POST', headers, body })
}

const devices = await Promise.all(Array.from({ length: DEVICES }, (_, at) => pair(`Phone ${at}`)))
const sockets = await Promise.all(devices.map(connect))

async function endToEnd(): Promise<number> {
  const before = acknowledged
  const startedAt = performance.now()
  const { latencies } = await send((n) => devices[n % DEVICES]?.id ?? '', MS)
  await until(() => acknowledged - before >= latencies.length)
  return latencies.length / ((performance.now() - startedAt) / 1000)
}

const dir = mkdtempSync(join(tmpdir(), 'hearth-bench-notifications-'))
const bare = new Database(join(dir, 'bare.sqlite'))
bare.pragma('journal_mode = WAL')
bare.pragma('synchronous = FULL')
bare.exec(`CREATE TABLE "notification" ("id" text PRIMARY KEY NOT NULL, "seq" integer NOT NULL, "title" text NOT NULL, "body" text NOT NULL,
  "deviceId" text NOT NULL, "status" text NOT NULL, "createdAt" text NOT NULL); CREATE UNIQUE INDEX "seq" ON "notification" ("seq")`)
const insert = bare.prepare(`INSERT INTO "notification" VALUES (?, ?, ?, 'Somebody is at the door', ?, 'pending', ?)`)
let seq = 0
async function bareInserts(): Promise<number> {
  const startedAt = performance.now()
  const first = seq
  while (performance.now() - startedAt < MS) insert.run(randomUUID(), seq++, 'A title', devices[0]?.id, new Date().toISOString())
  return (seq - first) / ((performance.now() - startedAt) / 1000)
}

/** How many a second a device gets and acknowledges of what it missed. */
async function missed(): Promise<number> {
  const device = await pair('Away')
  for (let sent = 0; sent < MISSED; )
    sent += (
      await Promise.all(Array.from({ length: 50 }, () => owner.notifications.send({ body: { title: '0', body: '', deviceId: device.id } })))
    ).length
  const before = acknowledged
  const startedAt = performance.now()
  const socket = await connect(device)
  await until(() => acknowledged - before >= MISSED)
  const rate = MISSED / ((performance.now() - startedAt) / 1000)
  socket.terminate()
  return rate
}

await interleave(1, { endToEnd, bareInserts }) // warms both up
tookMs.length = 0
const results = await interleave(ROUNDS, { endToEnd, bareInserts })
const ratio = median(results.endToEnd.map((rate, round) => rate / (results.bareInserts[round] ?? Number.NaN)))
report('notifications a second, sent, delivered and acknowledged', median(results.endToEnd), '—')
report('bare inserts a second, one commit each', median(results.bareInserts), '—')
report('notifications end to end over bare inserts', ratio, '≥ 0.1')
report('from the request to the device, ms, half of them', percentile(tookMs, 0.5), '—')
report('from the request to the device, ms, 99 of 100', percentile(tookMs, 0.99), '—')
const replayed = await interleave(3, { missed })
report('notifications a second that a device missed, until acknowledged', median(replayed.missed), '≥ 250')

for (const socket of sockets) socket.terminate()
bare.close()
rmSync(dir, { recursive: true, force: true })
await hearth.stop()
