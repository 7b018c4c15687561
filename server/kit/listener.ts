import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface ListenerDeps {
  handle(req: IncomingMessage, res: ServerResponse): void
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** PEM texts; with them the port answers TLS and plain HTTP alike. */
  tls: { cert: string; key: string } | null
}

export interface Listener {
  /** Listens; answers the port. Listening again moves to another address and leaves open connections be. */
  listen(port: number, host: string): Promise<number>
  /** Stops accepting, waits for open requests up to `graceMs`, then ends them. */
  close(graceMs: number): Promise<void>
}

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

/** Sends each connection to the server that its first byte asks for. */
function splitByFirstByte(plain: Server, secure: Server): void {
  const [servePlain] = plain.listeners('connection') as ((socket: Socket) => void)[]
  plain.removeAllListeners('connection')
  plain.on('connection', (socket: Socket) => {
    socket.setTimeout(HEADERS_MS, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.once('readable', () => {
      const first: Buffer | null = socket.read(1)
      if (!first) return socket.destroy()
      socket.setTimeout(0)
      socket.removeAllListeners('timeout')
      socket.unshift(first)
      if (first[0] === TLS_HANDSHAKE) secure.emit('connection', socket)
      else servePlain?.call(plain, socket)
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
  plain.on('upgrade', upgrade)
  const secure = tls ? createHttpsServer({ ...limits, ...tls }, handle) : null
  secure?.on('upgrade', upgrade)
  if (secure) splitByFirstByte(plain, secure)
  const servers = secure ? [plain, secure] : [plain]
  for (const server of servers) {
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const status =
        error.code === 'HPE_HEADER_OVERFLOW'
          ? '431 Request Header Fields Too Large'
          : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
            ? '408 Request Timeout'
            : '400 Bad Request'
      if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
      else socket.destroy()
    })
  }

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
      // The TLS server never listens itself; this starts the watch over slow headers that listening would.
      secure?.emit('listening')
      return (plain.address() as AddressInfo).port
    },

    async close(graceMs) {
      const closed = new Promise<void>((resolve) => plain.close(() => resolve()))
      for (const server of servers) server.closeIdleConnections()
      const timer = setTimeout(() => {
        for (const server of servers) server.closeAllConnections()
      }, graceMs)
      await closed
      clearTimeout(timer)
    },
  }
}
