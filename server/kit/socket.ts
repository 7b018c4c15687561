import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { z } from 'zod'
import { type Caller, mayCall } from './caller.ts'
import { AppError, forbidden, invalid, notFound, saidOf, unauthorized } from './errors.ts'
import { checkHost, isSameOrigin } from './gate.ts'
import type { Authenticate } from './http.ts'
import type { OwnHosts } from './own-hosts.ts'
import type { RateLimit } from './rate-limit.ts'
import type { FactsReader, RequestFacts } from './request-facts.ts'
import { clientMessages, closeCodes, SocketFrame, socketLimits } from './socket.contract.ts'
import type { Greeting, MessageHandler, SendHere } from './socket-message.ts'
import { type SocketRegistry, sendMessage, sendText } from './socket-registry.ts'
import { createSocketTurns } from './socket-turns.ts'
import type { Topic } from './topic.ts'

/** How much of the time between pings the second one in a row that is missed is waited for: a peer gone dark is let go within 45 s. */
const LAST_WAIT = 0.2

export interface SocketDeps {
  authenticate: Authenticate
  /** Who a Bearer token stands for, here given by query or subprotocol. */
  bearerCaller(token: string): Caller | null | Promise<Caller | null>
  readFacts: FactsReader
  ownHosts: OwnHosts
  isSetUp(): boolean
  limit: RateLimit
  registry: SocketRegistry
  /** Whether the session behind a caller has not ended meanwhile, by time or by another process; asked at every ping. */
  isOpen(caller: Caller): boolean
  /** What clients may subscribe to. */
  topics: readonly Topic[]
  /** What modules do about the messages they declared. */
  handlers: readonly MessageHandler[]
  greeting: Greeting
  /** Told of a handler that failed otherwise than by an AppError. */
  onFault(error: unknown): void
  /** Between pings. */
  pingMs?: number
  /** A device's last socket may have closed. */
  onClosed(caller: Caller): void
}

/** Bearer token of an upgrade, from its query or its subprotocols; null where it has none. Throws 400 for two tokens. */
function tokenOf({ search, headers }: RequestFacts): string | null {
  const inQuery = new URLSearchParams(search).getAll('token')
  if (inQuery.length > 1) throw invalid([{ path: 'query.token', message: 'is given twice' }])
  if (inQuery[0] !== undefined) return inQuery[0]
  const offered = (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
  if (offered[0] === 'bearer' && offered[1]) return offered[1]
  return offered.length === 1 ? (offered[0] ?? null) : null
}

/** `bearer, <token>` is answered with `bearer`, a bare token with itself: browsers fail where nothing offered comes back. */
function answerProtocol(offered: Set<string>): string | false {
  const [first] = offered
  return first !== undefined && (first === 'bearer' || offered.size === 1) ? first : false
}

/** Answers an upgrade by HTTP, in the same words as the rest of the API. */
function refuse(socket: Duplex, error: unknown, requestId: string): void {
  const failure = error instanceof AppError ? error : new AppError(500, 'internal', 'Something went wrong.')
  const { status, code, message, headers } = failure
  const body = JSON.stringify(status === 401 ? { error: 'Unauthorized' } : { error: message, code, requestId })
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`,
    'connection: close',
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    `x-request-id: ${requestId}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

/** Counts messages a second; true once they were too many for five seconds on end. */
function createFloodGauge(now: () => number = () => performance.now()): () => boolean {
  let second = 0
  let count = 0
  let flooded = 0
  return () => {
    const current = Math.floor(now() / 1000)
    if (current !== second) {
      flooded = count > socketLimits.floodPerSecond && current === second + 1 ? flooded + 1 : 0
      second = current
      count = 0
    }
    count += 1
    return flooded >= socketLimits.floodSeconds
  }
}

/** Serves `/ws`: the upgrade with its credential checks, hello, ping, and the limits on what a client may do to us. */
export function createSocketServer(deps: SocketDeps) {
  const { authenticate, bearerCaller, readFacts, ownHosts, registry } = deps
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: socketLimits.frameBytes,
    perMessageDeflate: false,
    clientTracking: true,
    allowSynchronousEvents: false, // what one client sends at once lets others in between
    handleProtocols: answerProtocol,
    ...{ closeTimeout: socketLimits.closeMs }, // ws knows it, its types do not
  })
  const startedAt = Date.now().toString(36)
  let counter = 0

  async function admit(facts: RequestFacts): Promise<Caller> {
    if (facts.path !== '/ws') throw notFound('This socket')
    if (!deps.isSetUp()) throw new AppError(503, 'setup_required', 'This Hearth has to be set up first.')
    deps.limit.take(facts.address)
    const token = tokenOf(facts)
    if (token !== null) {
      const caller = await bearerCaller(token)
      if (!caller) throw unauthorized()
      return caller
    }
    checkHost(facts, ownHosts)
    const caller = await authenticate(facts)
    if (!caller) throw unauthorized()
    if (caller.via === 'cookie' && (facts.headers.origin === undefined || !isSameOrigin(facts)))
      throw forbidden('This has to come from a page of this Hearth.', 'cross_site')
    return caller
  }

  const topics = new Map(deps.topics.map((topic) => [topic.event.name, topic]))

  /** All or nothing: one unknown topic, or one beyond the caller's scope, and none is subscribed to. */
  function subscribe(socket: WebSocket, caller: Caller, wanted: readonly string[], id: string | undefined): void {
    const unknown = wanted.find((name) => !topics.has(name))
    const beyond = wanted.find((name) => !mayCall(topics.get(name)?.access ?? 'admin', caller))
    if (unknown !== undefined)
      return sendMessage(socket, 'error', { code: 'unknown_topic', message: 'This server does not know that topic.' })
    if (beyond !== undefined) return sendMessage(socket, 'error', { code: 'forbidden', message: `You may not subscribe to ${beyond}.` })
    registry.subscribe(socket, wanted)
    sendMessage(socket, 'result', { ok: true, ...(id !== undefined && { id }) })
  }

  const handlers = new Map(deps.handlers.map((handler) => [handler.message.type, handler]))

  /** Answers by `result` once it is done. */
  async function handle({ message, handle }: MessageHandler, socket: WebSocket, caller: Caller, frame: z.output<typeof SocketFrame>) {
    const answer = (ok: boolean, error?: string) =>
      sendMessage(socket, 'result', { ok, ...(frame.id !== undefined && { id: frame.id }), ...(error !== undefined && { error }) })
    // it may have waited its turn while its sender was shown out
    if (socket.readyState !== socket.OPEN && !deps.isOpen(caller)) return
    if (!mayCall(message.access, caller)) return answer(false, 'You may not do this.')
    const parsed = message.payload.safeParse(frame.payload)
    if (!parsed.success)
      return sendMessage(socket, 'error', { code: 'validation_failed', message: parsed.error.issues[0]?.message ?? 'is not valid' })
    try {
      await handle(parsed.data as never, caller)
      answer(true)
    } catch (error) {
      if (!(error instanceof AppError)) deps.onFault(error)
      answer(false, error instanceof AppError ? saidOf(error) : 'Something went wrong.')
    }
  }

  type Turns = ReturnType<typeof createSocketTurns>

  function receive(socket: WebSocket, caller: Caller, data: string, inTurn: Turns, greet: (lastSeq: number | null) => void): void {
    const frame = SocketFrame.safeParse(parseJson(data))
    if (!frame.success) return sendMessage(socket, 'error', { code: 'bad_message', message: 'Send one JSON object with a type.' })
    const { type, id, payload } = frame.data
    const handler = handlers.get(type)
    if (handler) return inTurn(() => handle(handler, socket, caller, frame.data))
    if (!Object.hasOwn(clientMessages, type))
      return sendMessage(socket, 'error', { code: 'unknown_type', message: 'This server does not know that type.' })
    const parsed = clientMessages[type as keyof typeof clientMessages].safeParse(payload)
    if (!parsed.success)
      return sendMessage(socket, 'error', { code: 'validation_failed', message: parsed.error.issues[0]?.message ?? 'is not valid' })
    if (type === 'hello') return greet((parsed.data as z.output<typeof clientMessages.hello>).lastSeq ?? null)
    if (type === 'ping') return sendMessage(socket, 'pong', {})
    const { topics: wanted } = parsed.data as { topics: string[] }
    if (type === 'subscribe') return subscribe(socket, caller, wanted, id)
    registry.unsubscribe(socket, wanted)
    sendMessage(socket, 'result', { ok: true, ...(id !== undefined && { id }) })
  }

  function serve(socket: WebSocket, caller: Caller, wire: Duplex): void {
    let greeted = false
    let unanswered = 0
    let lastWait: NodeJS.Timeout | undefined
    /** A hello that comes late is welcomed too; what was waiting for it is on its way already. */
    const greet = async (lastSeq: number | null) => {
      const isFirst = !greeted
      greeted = true
      try {
        sendMessage(socket, 'welcome', { deviceId: caller.deviceId, scope: caller.scope, seq: deps.greeting.seq(caller) })
        if (!isFirst) return
        const send: SendHere = ({ type }, payload) => new Promise((resolve) => sendText(socket, JSON.stringify({ type, payload }), resolve))
        await deps.greeting.welcomed(caller, lastSeq, send, (then) => socket.once('close', then))
      } catch (error) {
        deps.onFault(error)
      }
    }
    const isFlood = createFloodGauge()
    const inTurn = createSocketTurns(socket)
    const helloTimer = setTimeout(() => greeted || void greet(null), socketLimits.helloMs)
    const pingMs = deps.pingMs ?? socketLimits.pingMs
    const pingTimer = setInterval(() => {
      if (!deps.isOpen(caller)) return socket.close(closeCodes.revoked)
      unanswered += 1
      socket.ping()
      if (unanswered === 2) lastWait = setTimeout(() => socket.terminate(), pingMs * LAST_WAIT)
    }, pingMs)
    registry.add(socket, caller, wire)
    /** Whatever comes counts; false also once the socket is being closed, when what still comes is nobody's any more. */
    const isHeard = (): boolean => {
      if (socket.readyState !== socket.OPEN) return false
      const flood = isFlood()
      if (flood) socket.close(closeCodes.flood)
      return !flood
    }
    socket.on('ping', isHeard)
    socket.on('pong', () => {
      if (!isHeard()) return
      unanswered = 0
      clearTimeout(lastWait)
    })
    socket.on('message', (data, isBinary) => {
      if (!isHeard()) return
      receive(socket, caller, isBinary ? '' : String(data), inTurn, (lastSeq) => void greet(lastSeq))
    })
    // A protocol fault closes the socket by itself; without a listener it would end the process.
    socket.on('error', () => socket.terminate())
    socket.once('close', () => {
      clearTimeout(helloTimer)
      clearInterval(pingTimer)
      clearTimeout(lastWait)
      deps.onClosed(caller)
    })
  }

  return {
    async upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
      socket.on('error', () => socket.destroy())
      counter += 1
      const requestId = `${startedAt}-ws-${counter.toString(36)}`
      try {
        const caller = await admit(readFacts(req, requestId))
        server.handleUpgrade(req, socket, head, (client) => serve(client, caller, socket))
      } catch (error) {
        refuse(socket, error, requestId)
      }
    },

    /** Tells every client that the server goes away. */
    close(): void {
      for (const client of server.clients) client.close(1001)
    },
    /** Ends the sockets whose client did not answer that. */
    terminate(): void {
      for (const client of server.clients) client.terminate()
    },
    count: () => server.clients.size,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the caller answers what cannot be read
  }
}
