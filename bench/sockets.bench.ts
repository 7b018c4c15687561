import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { cpuMicros, interleave, median, percentile, report, residentMb } from './support/measure.ts'
import { publishPacket, startMosquitto } from './support/mosquitto.ts'
import { startPeer } from './support/server-process.ts'

/**
 * Broadcasts over the sockets as the house does them (hello, pings, limits and all), against bare `ws` with the frame made once and
 * written to every connection, and against Mosquitto.
 */
const ROUNDS = 5
const MESSAGES = 200
const BYTES = 200
const STALLED = 10
const STALLED_ROUNDS = 3
const IDLE = 1_000

interface Peer {
  pid: number
  url: string
}
interface Run {
  /** Deliveries a second. */
  rate: number
  /** Server CPU microseconds for each delivery. */
  cpu: number
}

const start = (name: string) => startPeer(join(import.meta.dirname, 'support', `broadcast-${name}.ts`), 0)
let counter = 0

/** A client that only takes bytes, so that the load costs little beside the server. */
async function connect({ url }: Peer): Promise<Socket> {
  counter += 1
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  }
  const [, socket] = (await once(request(`${url}/ws?token=${counter}`, { headers }).end(), 'upgrade')) as [unknown, Socket]
  socket.on('error', () => undefined)
  return socket
}

async function subscriber(peer: Peer, topics: string[]): Promise<Socket> {
  const socket = await connect(peer)
  const text = JSON.stringify({ type: 'subscribe', payload: { topics } })
  const answered = once(socket, 'data')
  socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]))
  await answered
  return socket
}

/** Opens a few at a time: a listener's backlog is short. */
async function many(count: number, open: (at: number) => Promise<Socket>): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count)
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(50, count - sockets.length) }, (_, at) => open(sockets.length + at)))))
  return sockets
}

const publish = ({ url }: Peer, topic: string, count: number, bytes: number, pauseMs = 0) =>
  fetch(`${url}/publish?topic=${topic}&count=${count}&bytes=${bytes}&pauseMs=${pauseMs}`)

/** Measures one broadcast of many messages, from the first to the last byte at the last client. */
function broadcast(pid: number, sockets: Socket[], send: () => Promise<unknown>, messageBytes: number) {
  const total = () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
  for (const socket of sockets) socket.resume()
  return async (): Promise<Run> => {
    const deliveries = MESSAGES * sockets.length
    const wanted = total() + deliveries * messageBytes
    const cpuBefore = cpuMicros(pid)
    const startedAt = performance.now()
    await send()
    for (const deadline = performance.now() + 30_000; total() < wanted; await wait(2))
      if (performance.now() > deadline) throw new Error('Not everything arrived within 30 seconds')
    return { rate: deliveries / ((performance.now() - startedAt) / 1000), cpu: (cpuMicros(pid) - cpuBefore) / deliveries }
  }
}

const message = JSON.stringify({
  type: 'news',
  payload: { at: (performance.timeOrigin + performance.now()).toFixed(3), text: 'x'.repeat(BYTES) },
})
const webSocketBytes = message.length + 4
const mqtt = publishPacket('news', message)

const [hearth, bare, broker] = await Promise.all([start('hearth'), start('ws'), startMosquitto(0)])
const ratio = (over: Run[], under: Run[], of: (run: Run) => number) =>
  median(over.map((run, round) => of(run) / of(under[round] ?? { rate: Number.NaN, cpu: Number.NaN })))

/** How many milliseconds 99 of 100 messages take to arrive, while `stalling` others, who are sent much more, read nothing. */
async function slowest(peer: Peer, sockets: Socket[], stalling: number): Promise<number> {
  const stalled = await many(stalling, () => subscriber(peer, ['wide', 'news']))
  for (const socket of stalled) socket.pause()
  const took: number[] = []
  const listen = (data: Buffer) => {
    const now = performance.timeOrigin + performance.now()
    for (const [, at] of data.toString('latin1').matchAll(/"at":"([\d.]+)"/g)) took.push(now - Number(at))
  }
  const heard = sockets.filter((_, at) => at % 10 === 0)
  for (const socket of heard) socket.on('data', listen)
  await Promise.all([publish(peer, 'news', 100, BYTES, 20), publish(peer, 'wide', 100, 100_000, 20)])
  await wait(200)
  for (const socket of heard) socket.off('data', listen).resume()
  for (const socket of stalled) socket.destroy()
  return percentile(took, 0.99)
}

/** KB of resident memory for each socket that is open and silent. */
async function idle(peer: Peer): Promise<number> {
  const collected = () => fetch(`${peer.url}/collect`)
  await collected()
  const before = residentMb(peer.pid)
  const sockets = await many(IDLE, () => connect(peer))
  for (const socket of sockets) socket.resume()
  await wait(2_500) // past the hello that nobody says
  await collected()
  const kb = ((residentMb(peer.pid) - before) * 1024) / IDLE
  for (const socket of sockets) socket.destroy()
  return kb
}

const [idleHearth, idleBare] = [await idle(hearth), await idle(bare)]
await wait(500)

for (const count of [500, 1_000]) {
  const toHearth = await many(count, () => subscriber(hearth, ['news']))
  const toBare = await many(count, () => subscriber(bare, ['news']))
  const contenders: Record<string, () => Promise<Run>> = {
    hearth: broadcast(hearth.pid, toHearth, () => publish(hearth, 'news', MESSAGES, BYTES), webSocketBytes),
    bare: broadcast(bare.pid, toBare, () => publish(bare, 'news', MESSAGES, BYTES), webSocketBytes),
  }
  const toBroker = broker ? await many(count, (at) => broker.subscribe('news', `client-${count}-${at}`)) : []
  if (broker) {
    const send = async () => {
      for (let n = 0; n < MESSAGES; n++) {
        broker.publisher.write(mqtt)
        await turn()
      }
    }
    contenders.mosquitto = broadcast(broker.pid, toBroker, send, mqtt.length)
  }
  await interleave(1, contenders) // warms all of them up
  const { hearth: ours = [], bare: theirs = [], mosquitto } = await interleave(ROUNDS, contenders)
  report(`${count} sockets: deliveries a second`, median(ours.map(({ rate }) => rate)), '—')
  report(
    `${count} sockets: deliveries a second over bare ws, frame made once`,
    ratio(ours, theirs, ({ rate }) => rate),
    '≥ 0.95',
  )
  report(
    `${count} sockets: deliveries per CPU second over bare ws, frame made once`,
    ratio(theirs, ours, ({ cpu }) => cpu),
    '≥ 0.95',
  )
  if (mosquitto)
    report(
      `${count} sockets: CPU for each delivery over Mosquitto`,
      ratio(ours, mosquitto, ({ cpu }) => cpu),
      '≤ 1.5',
    )
  else process.stdout.write(`${count} sockets: not compared with Mosquitto, which is not installed here\n`)
  const { calm, stalled, bareStalled } = await interleave(STALLED_ROUNDS, {
    calm: () => slowest(hearth, toHearth, 0),
    stalled: () => slowest(hearth, toHearth, STALLED),
    bareStalled: () => slowest(bare, toBare, STALLED),
  })
  const over = (base: number[]) => median(stalled.map((ms, round) => ms / (base[round] ?? Number.NaN)))
  report(`${count} sockets, ten stalled: ms to arrival, 99 of 100`, median(stalled), '≤ 50')
  report(`${count} sockets, ten stalled: the same over none stalled`, over(calm), '≤ 1.2')
  report(`${count} sockets, ten stalled: the same over bare ws`, over(bareStalled), '≤ 1.2')
  for (const socket of [...toHearth, ...toBare, ...toBroker]) socket.destroy()
  await wait(500)
}
report('memory of an idle socket, KB', idleHearth, '—')
report('memory of an idle socket over bare ws', idleHearth / idleBare, '≤ 1.3')
await Promise.all([hearth.stop(), bare.stop(), broker?.stop()])
