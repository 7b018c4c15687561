import { execFileSync } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { startSocketServer } from '../support/socket-server.ts'

/**
 * Run in a network of its own: connects a client that answers every ping, lets the network swallow all that is sent over it, and prints as
 * JSON what server and client then know.
 */
const { url, registry } = await startSocketServer({ pingMs: 300 })
const client = new WebSocket(`${url.replace('http', 'ws')}/ws?token=guest.far`)
let pings = 0
await new Promise<void>((resolve) => client.on('ping', () => ++pings === 5 && resolve()))
const before = { isConnected: registry.isConnected('far'), connectedDevices: registry.connectedDevices() }
execFileSync('ip', ['link', 'set', 'lo', 'down'])
const darkSince = performance.now()
while (registry.isConnected('far') && performance.now() - darkSince < 15_000) await wait(10)
const after = { isConnected: registry.isConnected('far'), connectedDevices: registry.connectedDevices(), sockets: registry.size() }
process.stdout.write(JSON.stringify({ before, after, clientSawIt: client.readyState !== WebSocket.OPEN, pingsMeanwhile: pings - 5 }))
process.exit()
