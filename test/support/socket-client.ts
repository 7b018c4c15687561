import type { IncomingMessage } from 'node:http'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { freshAddress } from './http.ts'

export interface Message {
  type: string
  payload: Record<string, unknown>
}

export interface SocketClient {
  socket: WebSocket
  /** Everything the server sent so far. */
  messages: Message[]
  send(message: unknown): void
  /** The first message of this type, those that came already included; rejects after `waitMs`. */
  next(type: string, waitMs?: number): Promise<Message>
  /** Resolves with the close code. */
  closed: Promise<number>
}

/** An upgrade that was answered by HTTP. */
export interface Refusal {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

export interface OpenOptions {
  protocols?: string[]
  headers?: Record<string, string>
  from?: string
}

const WAIT_MS = 5_000

/** Connects to `url` (http:// or ws://), resolving to a client, or to what the server answered instead of upgrading. */
export function openSocket(
  url: string,
  { protocols = [], headers = {}, from = freshAddress() }: OpenOptions = {},
): Promise<SocketClient | Refusal> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocols, { headers, localAddress: from, perMessageDeflate: false })
  const client = clientOf(socket)
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(client))
    socket.once('unexpected-response', (_request, answer: IncomingMessage) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
      })
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }))
    })
    socket.once('error', reject)
  })
}

function clientOf(socket: WebSocket): SocketClient {
  const messages: Message[] = []
  const waiting = new Set<() => void>()
  socket.on('message', (data) => {
    messages.push(JSON.parse(String(data)) as Message)
    for (const look of waiting) look()
  })
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  return {
    socket,
    messages,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next: (type, waitMs = WAIT_MS) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(look)
          reject(new Error(`No ${type} came within ${waitMs} ms`))
        }, waitMs)
        const look = () => {
          const found = messages.find((message) => message.type === type)
          if (!found) return
          messages.splice(messages.indexOf(found), 1)
          waiting.delete(look)
          clearTimeout(timer)
          resolve(found)
        }
        waiting.add(look)
        look()
      }),
  }
}

/** Connects where nothing else than a socket is expected. */
export async function connectSocket(url: string, options: OpenOptions = {}): Promise<SocketClient> {
  const opened = await openSocket(url, options)
  if ('status' in opened) throw new Error(`The server answered ${opened.status} ${opened.body}`)
  return opened
}

/** Tries to connect where a refusal is expected. */
export async function refuseSocket(url: string, options: OpenOptions = {}): Promise<Refusal> {
  const opened = await openSocket(url, options)
  if ('status' in opened) return opened
  opened.socket.terminate()
  throw new Error('The server took the socket')
}

/** A socket that was greeted, and can talk. */
export async function talking(client: Promise<SocketClient>): Promise<SocketClient> {
  const opened = await client
  opened.send({ type: 'hello', payload: {} })
  await opened.next('welcome')
  return opened
}

/** Fails unless the server answers a ping. */
export async function expectTalking(client: SocketClient, about: string): Promise<void> {
  client.send({ type: 'ping' })
  expect(await client.next('pong'), about).toEqual({ type: 'pong', payload: {} })
}
