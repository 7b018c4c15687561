import { isIP } from 'node:net'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { Agent, Dispatcher } from 'undici'
import { AppError, invalid } from './errors.ts'
import { addressBlocked, createJourney, guardedConnector, type Journey, type Lookup, refusalIn } from './guarded-connect.ts'
import { isPublicAddress } from './public-address.ts'

export interface GuardedRequest {
  /** GET unless stated. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** For all of it, redirects too; 10 s unless stated. */
  waitMs?: number
  /** Of the body, unpacked; 20 MiB unless stated. */
  maxBytes?: number
  signal?: AbortSignal
}

export interface GuardedResponse {
  /** Where the answer came from, after redirects. */
  url: string
  status: number
  /** By lower-case name; several of one name are joined by commas. */
  headers: Record<string, string>
  body: Buffer
}

export type GuardedFetch = (url: string, request?: GuardedRequest) => Promise<GuardedResponse>

export interface GuardedFetchOptions {
  /** Lets every address be reached, this machine's too. */
  allowLocal: boolean
  /** Which other addresses may be reached, such as those of the home network; not by a redirect from the internet. */
  isNear?: (address: string) => boolean
  /** Whether a host name is this server's own, however it resolves. */
  isOwnHost?: (host: string) => boolean
  lookup?: Lookup
  /** Which addresses may be reached; the public internet unless stated. */
  isPublic?: (address: string) => boolean
}

const WAIT_MS = 10_000
const MAX_BYTES = 20 * 1024 * 1024
const MAX_REDIRECTS = 5
const MAX_URL = 4096
/** Ports at which other protocols listen that could be talked into something (the Fetch standard's list, 2.10). */
const BAD_PORTS = new Set(
  `0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161 179 389 427
   465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566
   6665 6666 6667 6668 6669 6679 6697 10080`.split(/\s+/),
)
/** What the transport itself sets; from outside it could split or redirect a request. */
const OWN_HEADERS =
  /^(host|connection|keep-alive|transfer-encoding|content-length|upgrade|te|trailer|expect|accept-encoding|proxy-.*|http2-settings)$/
/** What may go along to another origin. */
const HARMLESS_HEADERS = /^(accept|accept-language|user-agent|content-type)$/
const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,100}$/

const failed = (why: string, cause?: unknown) => new AppError(502, 'upstream_failed', why, { cause })
const tooLarge = () => failed('The other server sends more than is taken.')
const tooSlow = () => new AppError(504, 'timeout', 'The other server took too long.')

/** Names and values as they may be sent. Throws 400. */
function checkHeaders(headers: Record<string, string>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const bad = entries.find(([name, value]) => !TOKEN.test(name) || OWN_HEADERS.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value))
  if (bad) throw invalid([{ path: `headers.${bad[0].slice(0, 50)}`, message: 'cannot be set' }])
  return Object.fromEntries(entries)
}

/** Throws 400 for what is no address of the web. */
function readUrl(text: string, base?: URL): URL {
  const url = text.length <= MAX_URL ? URL.parse(text, base) : null
  if (!url) throw invalid([{ path: 'url', message: 'is not an address' }])
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw addressBlocked()
  return url
}

async function readBody(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const unpackers = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) }

async function unpack(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase().replace('x-gzip', 'gzip')
  if (body.length === 0 || name === '' || name === 'identity') return body
  if (!Object.hasOwn(unpackers, name)) throw failed('The other server packs its answer in an unknown way.')
  try {
    return await unpackers[name as keyof typeof unpackers](body, { maxOutputLength: maxBytes })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : failed('The answer cannot be unpacked.', error)
  }
}

interface Hop {
  url: URL
  method: NonNullable<GuardedRequest['method']>
  headers: Record<string, string>
  body: GuardedRequest['body']
}

/** The request that a redirect asks for: credentials and all that may be one stay with their origin. */
function follow({ url, method, headers, body }: Hop, status: number, location: string): Hop {
  const next = readUrl(location, url)
  const toGet = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST'
  const kept = Object.entries(headers).filter(([name]) => next.origin === url.origin || HARMLESS_HEADERS.test(name))
  const unbodied = kept.filter(([name]) => !toGet || name !== 'content-type')
  return { url: next, method: toGet ? 'GET' : method, headers: Object.fromEntries(unbodied), body: toGet ? undefined : body }
}

interface Trip {
  journey: Journey
  dispatcher: Agent
  signal: AbortSignal
  maxBytes: number
}

type Undici = typeof import('undici')

/** With the first call: it is large, and a house that asks nobody outside never needs it. */
const loadUndici = (): Promise<Undici> => import('undici')

/**
 * Makes a fetch for addresses that come from outside: it reaches the public internet alone unless told otherwise, checks each redirect and each resolved address
 * anew, and bounds time and size. It throws 403 `address_blocked`, 502 `upstream_failed`, 504 `timeout`; any status is an answer.
 */
export function createGuardedFetch({
  allowLocal,
  isNear,
  isOwnHost,
  lookup,
  isPublic = isPublicAddress,
}: GuardedFetchOptions): GuardedFetch {
  const everywhere: Journey = { mayReach: () => true, reached: () => undefined }
  const begin = (): Journey => (allowLocal ? everywhere : createJourney({ isPublic, isNear }))

  function checkUrl(url: URL, { mayReach }: Journey): void {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (BAD_PORTS.has(url.port)) throw addressBlocked()
    if (isIP(host) ? !mayReach(host) : !allowLocal && isOwnHost?.(host.replace(/\.$/, ''))) throw addressBlocked()
  }

  async function ask({ url, method, headers, body }: Hop, dispatcher: Agent, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { request } = await loadUndici()
    const { username, password } = url
    const bare = new URL(url)
    bare.username = bare.password = ''
    const basic = username && `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`
    return request(bare, {
      dispatcher,
      method,
      signal,
      headers: { 'user-agent': 'Hearth', ...(basic && { authorization: basic }), ...headers, 'accept-encoding': 'gzip, deflate, br' },
      ...(body !== undefined && { body }),
    })
  }

  async function run(first: Hop, { journey, dispatcher, signal, maxBytes }: Trip): Promise<GuardedResponse> {
    let hop = first
    for (let redirects = 0; ; redirects += 1) {
      checkUrl(hop.url, journey)
      const { statusCode, headers, body } = await ask(hop, dispatcher, signal)
      const { location } = headers
      if (![301, 302, 303, 307, 308].includes(statusCode) || typeof location !== 'string') {
        const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
        if (hop.method !== 'HEAD' && Number(plain['content-length'] ?? 0) > maxBytes) throw tooLarge()
        const packed = await readBody(body, maxBytes)
        return {
          url: hop.url.href,
          status: statusCode,
          headers: plain,
          body: await unpack(packed, plain['content-encoding'] ?? '', maxBytes),
        }
      }
      body.on('error', () => undefined).destroy()
      if (redirects === MAX_REDIRECTS) throw failed('The other server sends from one address to the next.')
      hop = follow(hop, statusCode, location)
    }
  }

  return async (url, { method = 'GET', headers = {}, body, waitMs = WAIT_MS, maxBytes = MAX_BYTES, signal } = {}) => {
    const first = { url: readUrl(url), method, headers: checkHeaders(headers), body }
    const timeout = AbortSignal.timeout(waitMs)
    const ends = signal ? AbortSignal.any([signal, timeout]) : timeout
    const undici = await loadUndici()
    const journey = begin()
    // One for each call, so that no connection outlives the check of its address.
    const dispatcher = new undici.Agent({
      connect: guardedConnector(undici.buildConnector, journey, lookup),
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    try {
      const over = new Promise<never>((_, reject) => {
        if (ends.aborted) reject(tooSlow())
        ends.addEventListener('abort', () => reject(tooSlow()), { once: true })
      })
      return await Promise.race([run(first, { journey, dispatcher, signal: ends, maxBytes }), over])
    } catch (error) {
      if (ends.aborted) throw tooSlow()
      throw refusalIn(error) ?? failed('The other server cannot be reached.', error)
    } finally {
      dispatcher.destroy().catch(() => undefined) // the answer is there, or its failure on its way
    }
  }
}
