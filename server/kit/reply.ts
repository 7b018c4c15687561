import type { ServerResponse } from 'node:http'
import type { AppError } from './errors.ts'

/** What a handler may do to its answer besides returning a value. */
export interface Reply {
  /** Overrides the declared success status. */
  status: number | null
  header(name: string, value: string): void
  /** Adds one Set-Cookie line. */
  cookie(line: string): void
  redirect(location: string): void
  /** Sends the head of a streamed body; write to and end what comes back. */
  open(contentType: string): ServerResponse
}

/** Headers that every answer of the API carries; nothing here may be framed, sniffed, kept or leaked by Referer. */
const API_HEADERS = [
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'same-origin',
  'content-security-policy',
  "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy',
  'same-origin',
]

/** One answer on a raw response. Written by hand rather than through Koa's: it halves the cost of a small JSON read. */
export function createReply(res: ServerResponse, requestId: string) {
  const headers: string[] = []
  let cached = false

  const head = (contentType: string | null, length: number | null): string[] => {
    const all = ['x-request-id', requestId, ...API_HEADERS, ...headers]
    if (!cached) all.push('cache-control', 'no-store')
    if (contentType) all.push('content-type', contentType)
    if (length !== null) all.push('content-length', String(length))
    return all
  }

  const reply: Reply = {
    status: null,
    header(name, value) {
      if (name === 'cache-control') cached = true
      headers.push(name, value)
    },
    cookie: (line) => void headers.push('set-cookie', line),
    redirect(location) {
      headers.push('location', location)
      res.writeHead(302, head(null, 0)).end()
    },
    open(contentType) {
      res.writeHead(reply.status ?? 200, head(contentType, null))
      return res
    },
  }

  return {
    reply,
    json(status: number, value: unknown): void {
      // A string leaves together with its head in one write, a buffer does not.
      const body = JSON.stringify(value)
      res.writeHead(status, head('application/json; charset=utf-8', Buffer.byteLength(body))).end(body)
    },
    empty: (status: number): void => void res.writeHead(status, head(null, null)).end(),
    /** The 401 is bare by contract, so that it tells nothing about what failed. */
    failure(error: AppError): void {
      for (const [name, value] of Object.entries(error.headers ?? {})) headers.push(name, value)
      const bare = error.status === 401 && error.code === 'unauthorized'
      const details = error.details ? { details: error.details } : {}
      this.json(error.status, bare ? { error: 'Unauthorized' } : { error: error.message, code: error.code, ...details, requestId })
    },
  }
}
