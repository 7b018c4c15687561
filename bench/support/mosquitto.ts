import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pinned } from './server-process.ts'

const text = (words: string) => Buffer.concat([Buffer.from([words.length >> 8, words.length & 0xff]), Buffer.from(words)])

/** A packet of MQTT 3.1.1 by its first byte. */
function packet(first: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const head = [first]
  for (let left = body.length; ; left >>= 7) {
    head.push(left > 127 ? (left & 127) | 128 : left)
    if (left <= 127) return Buffer.concat([Buffer.from(head), body])
  }
}

export const publishPacket = (topic: string, payload: string) => packet(0x30, text(topic), Buffer.from(payload))

async function client(port: number, name: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(packet(0x10, text('MQTT'), Buffer.from([4, 2, 0, 0]), text(name)))
  await once(socket, 'data')
  return socket
}

export interface Mosquitto {
  pid: number
  publisher: Socket
  subscribe(topic: string, name: string): Promise<Socket>
  stop(): Promise<void>
}

/** Starts the broker on a port of its own; null where it is not installed. */
export async function startMosquitto(core: 0 | 1): Promise<Mosquitto | null> {
  const places = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  const command = places.map((place) => join(place, 'mosquitto')).find((path) => existsSync(path))
  if (!command) return null
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  const dir = mkdtempSync(join(tmpdir(), 'hearth-bench-mosquitto-'))
  const config = join(dir, 'mosquitto.conf')
  writeFileSync(config, `listener ${port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\nset_tcp_nodelay true\nlog_type none\n`)
  const child = spawn(...pinned(core, command, ['-c', config]), { stdio: 'ignore' })
  const exited = once(child, 'exit')
  const deadline = performance.now() + 10_000
  let publisher: Socket | undefined
  while (!publisher) {
    publisher = await client(port, 'publisher').catch(() => undefined)
    if (performance.now() > deadline) throw new Error('Mosquitto did not start')
    if (!publisher) await wait(50)
  }
  return {
    pid: child.pid ?? 0,
    publisher,
    async subscribe(topic, name) {
      const socket = await client(port, name)
      socket.write(packet(0x82, Buffer.from([0, 1]), text(topic), Buffer.from([0])))
      await once(socket, 'data')
      return socket
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
