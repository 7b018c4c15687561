import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface ListenerDeps {
  handle(req: IncomingMessage, res: ServerResponse): void
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void
  tls: TlsIdentity | null
}

/** PEM texts; with them the port answers TLS and plain HTTP alike. */
export interface TlsIdentity {
  cert: string
  key: string
}

export interface Listener {
  /** Listens; answers the port. Listening again moves to another address and leaves open connections be. */
  listen(port: number, host: string): Promise<number>
  /** Stops accepting, waits for open requests up to `graceMs`, then ends them. */
  close(graceMs: number): Promise<void>
  /** Answers TLS with another certificate from the next connection on, or with none. Throws where it cannot be used, and keeps the old one. */
  setTls(tls: TlsIdentity | null): void
}

/** How many connections are held open at once, in all and of one address, which may be a proxy's. */
export const connectionLimits = { inAll: 8_000, perAddress: 1_500 }

const HEADERS_MS = 15_000
const REQUEST_MS = 6 * 3_600_000 // a large upload over a slow line; headers and idle lines have limits of their own
const LEFTOVER_MS = 30_000
const TLS_HANDSHAKE = 0x16
const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'
const limits = {
  headersTimeout: HEADERS_MS,
  requestTimeout: REQUEST_MS,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  connectionsCheckingInterval: 5_000,
}

/** Tells of each connection whether its address may have one more. */
function createPlaces(): (socket: Socket) => boolean {
  const taken = new Map<string, number>()
  return (socket) => {
    const address = socket.remoteAddress ?? ''
    const count = (taken.get(address) ?? 0) + 1
    if (count > connectionLimits.perAddress) return false
    taken.set(address, count)
    socket.once('close', () => {
      const left = (taken.get(address) ?? 1) - 1
      if (left > 0) taken.set(address, left)
      else taken.delete(address)
    })
    return true
  }
}

/** Sends each connection to the server that its first byte asks for; `secure` says which one speaks TLS, if any does now. */
function splitByFirstByte(plain: Server, secure: () => Server | null): void {
  const [servePlain] = plain.listeners('connection') as ((socket: Socket) => void)[]
  const hasPlace = createPlaces()
  plain.removeAllListeners('connection')
  plain.on('connection', (socket: Socket) => {
    if (!hasPlace(socket)) return socket.destroy()
    if (!secure()) return servePlain?.call(plain, socket)
    socket.setTimeout(HEADERS_MS, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.once('readable', () => {
      const first: Buffer | null = socket.read(1)
      if (!first) return socket.destroy()
      socket.setTimeout(0)
      socket.removeAllListeners('timeout')
      socket.unshift(first)
      const secureNow = first[0] === TLS_HANDSHAKE ? secure() : null
      if (!secureNow) return servePlain?.call(plain, socket)
      // A server of HTTP leaves its sockets half open; a client that does not trust the certificate would stay for ever.
      socket.allowHalfOpen = false
      secureNow.emit('connection', socket)
    })
  })
}

/** Two Host headers: whoever stands between may have believed the other one (RFC 9112, 3.2). */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts += 1
  return hosts > 1
}

/** Lets go of a client that has its answer and goes on sending the body that nobody reads. */
function limitLeftover(req: IncomingMessage, res: ServerResponse): void {
  if (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined) return
  res.once('finish', () => {
    if (req.complete) return
    const timer = setTimeout(() => req.socket.destroy(), LEFTOVER_MS)
    req.once('close', () => clearTimeout(timer))
  })
}

/** The one port: HTTP, upgrades, and TLS beside it where there is a certificate. Rejects with the system's error, such as EADDRINUSE. */
export function createListener({ handle: serve, upgrade: serveUpgrade, tls }: ListenerDeps): Listener {
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    if (hasTwoHosts(req)) return void res.writeHead(400, { connection: 'close' }).end()
    limitLeftover(req, res)
    serve(req, res)
  }
  const upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) =>
    hasTwoHosts(req) ? void socket.end(BAD_REQUEST) : serveUpgrade(req, socket, head)
  const plain = createHttpServer(limits, handle)
  plain.maxConnections = connectionLimits.inAll
  plain.on('upgrade', upgrade)
  let secure: HttpsServer | null = null
  let isSecureOn = false
  splitByFirstByte(plain, () => (isSecureOn ? secure : null))
  const servers = (): (Server | HttpsServer)[] => (secure ? [plain, secure] : [plain])

  function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    const status =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? '431 Request Header Fields Too Large'
        : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
          ? '408 Request Timeout'
          : '400 Bad Request'
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    else socket.destroy()
  }
  plain.on('clientError', refuse)

  function createSecure(identity: TlsIdentity): HttpsServer {
    const server = createHttpsServer({ ...limits, ...identity }, handle)
    server.on('upgrade', upgrade)
    server.on('clientError', refuse)
    return server
  }

  function setTls(identity: TlsIdentity | null): void {
    if (identity && secure) secure.setSecureContext(identity)
    else if (identity) {
      secure = createSecure(identity)
      if (plain.listening) watchSlowHeaders()
    }
    isSecureOn = identity !== null
  }

  /** The TLS server never listens itself; this starts the watch over slow headers that listening would. */
  const watchSlowHeaders = () => secure?.emit('listening')

  setTls(tls)

  return {
    async listen(port, host) {
      if (plain.listening) plain.close()
      await new Promise<void>((resolve, reject) => {
        plain.once('error', reject)
        plain.listen(port, host, () => {
          plain.removeListener('error', reject)
          resolve()
        })
      })
      watchSlowHeaders()
      return (plain.address() as AddressInfo).port
    },

    async close(graceMs) {
      const closed = new Promise<void>((resolve) => plain.close(() => resolve()))
      for (const server of servers()) server.closeIdleConnections()
      const timer = setTimeout(() => {
        for (const server of servers()) server.closeAllConnections()
      }, graceMs)
      await closed
      clearTimeout(timer)
    },

    setTls,
  }
}
