import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'

export interface SendOptions {
  /** Source address on the loopback network, such as 127.0.3.1: limits count per address. */
  from?: string
  /** The request target as it stands, for paths that `fetch` would tidy up. */
  target?: string
}

/** A form becomes its bytes with the type that names their boundary; anything else its text. */
async function bodyOf(init: RequestInit): Promise<{ body: string | Buffer | null; type: Record<string, string> }> {
  if (!(init.body instanceof FormData)) return { body: init.body === undefined || init.body === null ? null : String(init.body), type: {} }
  const encoded = new Response(init.body)
  return { body: Buffer.from(await encoded.arrayBuffer()), type: { 'content-type': encoded.headers.get('content-type') ?? '' } }
}

/**
 * `fetch` over node:http, so that a test can choose its source address, its Host header and an untidy target. Redirects are
 * not followed.
 */
export async function send(url: string, init: RequestInit = {}, { from, target }: SendOptions = {}): Promise<Response> {
  const { hostname, port, pathname, search } = new URL(url)
  const { body, type } = await bodyOf(init)
  const headers = { ...Object.fromEntries(new Headers(init.headers)), ...type }
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        path: target ?? pathname + search,
        method: init.method ?? 'GET',
        headers: { ...headers, ...(body !== null && { 'content-length': Buffer.byteLength(body) }) },
        ...(from && { localAddress: from }),
        ...(init.signal && { signal: init.signal }),
        agent: false,
      },
      (incoming) => resolve(toResponse(incoming)),
    )
    outgoing.on('error', reject)
    outgoing.end(body ?? undefined)
  })
}

function toResponse(incoming: IncomingMessage): Response {
  const headers = new Headers()
  for (let at = 0; at < incoming.rawHeaders.length; at += 2)
    headers.append(incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? '')
  const status = incoming.statusCode ?? 500
  const empty = status === 204 || status === 304
  if (empty) incoming.resume()
  return new Response(empty ? null : (Readable.toWeb(incoming) as ReadableStream), { status, headers })
}

let next = 0
/** A fresh source address, so that one test's tries do not count against another's. */
export function freshAddress(): string {
  next += 1
  return `127.9.${Math.floor(next / 250) % 250}.${(next % 250) + 1}`
}

/** Cookies of one browser, as `name=value` by name. */
export class CookieJar {
  private readonly cookies = new Map<string, string>()

  take(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const name = pair.slice(0, pair.indexOf('='))
      if (/max-age=0/i.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, pair)
    }
  }

  header(): string {
    return [...this.cookies.values()].join('; ')
  }

  get(name: string): string | undefined {
    return this.cookies.get(name)?.slice(name.length + 1)
  }
}
