import type { Response } from 'undici'
import { z } from 'zod'
import { createJourney, guardedConnector, type Lookup, type Reach, refusalIn } from '../../../kit/guarded-connect.ts'

/** What went wrong with a hub; the message says so in plain words. */
export class HubFault extends Error {
  /** `again`: it may go better later. `restart`: what came so far is of no use, it may go better from the start. */
  readonly kind: 'again' | 'restart' | 'final' | 'absent' | 'too-large'

  constructor(kind: HubFault['kind'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'HubFault'
    this.kind = kind
  }
}

/** What a hub says of a file; null where it does not say. */
export interface HubFile {
  totalBytes: number | null
  sha256: string | null
}

export interface HubDownload extends HubFile {
  /** Where in the file the body begins: where asked for, or 0 if it cannot begin there. */
  from: number
  /** By which it is known again; null where it has none that is exact. */
  etag: string | null
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
}

export interface Hub {
  /** Asks for a file's size and checksum without fetching it. Rejects with {@link HubFault}. */
  look(path: string, signal: AbortSignal): Promise<HubFile>
  /** Begins to fetch a file; from `at.from` on if it is still the same. Rejects with {@link HubFault}. */
  open(path: string, at: { from: number; etag: string | null }, signal: AbortSignal): Promise<HubDownload>
}

export const MOST_BYTES = 200_000_000_000
const MOST_REDIRECTS = 5
const MOST_LIST_BYTES = 4_000_000
const SHA256 = /^[0-9a-f]{64}$/

const Tree = z.array(
  z.object({ path: z.string(), size: z.number().optional(), lfs: z.object({ oid: z.string(), size: z.number() }).nullish() }),
)

const unreachable = (cause?: unknown) => new HubFault('again', 'The hub cannot be reached.', cause)
export const tooLarge = () => new HubFault('too-large', 'This file is larger than 200 GB.')

const numberOf = (value: string | null | undefined) => (value && /^\d{1,15}$/.test(value) ? Number(value) : null)
const bare = (etag: string | null) => etag?.replace(/^W\//, '').replaceAll('"', '') ?? ''
const exact = (etag: string | null) => (etag?.startsWith('"') ? etag : null)

function refusal(status: number, elsewhere: boolean): HubFault {
  if (status === 408 || status === 429 || status >= 500) return new HubFault('again', `The hub is busy or out of order (${status}).`)
  // links to where files lie are good for a while only; the hub gives a new one
  if (elsewhere) return new HubFault('again', `The hub’s storage refused the file (${status}).`)
  if (status === 404 || status === 410) return new HubFault('absent', 'The hub has no such file.')
  if (status === 401 || status === 403)
    return new HubFault('final', 'The hub gives this file only to those who signed in there and agreed to its terms.')
  return new HubFault('final', `The hub refused the file (${status}).`)
}

interface Followed {
  response: Response
  /** What the hub itself said on the way. */
  linked: HubFile
  elsewhere: boolean
}

const linkedOf = ({ headers }: Response): HubFile => {
  const etag = bare(headers.get('x-linked-etag'))
  return { totalBytes: numberOf(headers.get('x-linked-size')), sha256: SHA256.test(etag) ? etag : null }
}

/** Where a redirect leads. Throws {@link HubFault} for what is no address, or one that gives up the encryption. */
export function nextAddress(from: URL, location: string | null): URL {
  const to = location && URL.canParse(location, from) ? new URL(location, from) : null
  if (!to || !/^https?:$/.test(to.protocol)) throw new HubFault('final', 'The hub sends to an address that makes no sense.')
  if (from.protocol === 'https:' && to.protocol !== 'https:') throw new HubFault('final', 'The hub sends to an address without encryption.')
  return to
}

export interface HubReach extends Pick<Reach, 'isPublic'> {
  lookup?: Lookup
}

/** With the first download: it is large. */
const loadUndici = () => import('undici')

/** Asks along a chain of redirects: a hub may lie at home, but one on the internet sends nobody there. */
async function createAsker({ isPublic, lookup }: HubReach) {
  const { Agent, buildConnector, fetch } = await loadUndici()
  const journey = createJourney({ isPublic, isNear: () => true })
  const dispatcher = new Agent({ connect: guardedConnector(buildConnector, journey, lookup) })
  return {
    async ask(url: URL, method: 'GET' | 'HEAD', headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
      try {
        const sent = { 'user-agent': 'Hearth', 'accept-encoding': 'identity', ...headers }
        return await fetch(url, { method, redirect: 'manual', headers: sent, signal, dispatcher })
      } catch (error) {
        if (signal.aborted) throw signal.reason
        throw refusalIn(error) ? new HubFault('final', 'The hub sends to an address inside the home network.', error) : unreachable(error)
      }
    },
    /** What is being received goes on, and hears of it by itself where that fails. */
    end: () => void dispatcher.close().catch(() => undefined),
  }
}

type Asker = Awaited<ReturnType<typeof createAsker>>

/** Follows redirects by hand, so that each is looked at; no credential is ever sent, so none can be carried elsewhere. */
async function followed(
  { ask }: Asker,
  address: URL,
  method: 'GET' | 'HEAD',
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Followed> {
  let at = address
  const linked: HubFile = { totalBytes: null, sha256: null }
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await ask(at, method, headers, signal)
    const said = linkedOf(response)
    linked.totalBytes ??= said.totalBytes
    linked.sha256 ??= said.sha256
    if (response.status < 300 || response.status >= 400) return { response, linked, elsewhere: at.host !== address.host }
    await response.body?.cancel()
    // its size and checksum are all that was asked for
    if (method === 'HEAD' && linked.totalBytes !== null) return { response, linked, elsewhere: false }
    at = nextAddress(at, response.headers.get('location'))
  }
  throw new HubFault('final', 'The hub sends from one address to the next without end.')
}

/** Holds on to the response: a body whose response was tidied away before anyone read it ends as if it were whole. */
async function* piecesOf(response: Response): AsyncGenerator<Uint8Array> {
  for await (const piece of response.body ?? []) yield piece
}

async function textUpTo(response: Response, limit: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength
    if (bytes > limit) return ''
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** The hub at an address that may change meanwhile, such as https://huggingface.co. */
export function createHub(base: () => string, reach: HubReach = {}): Hub {
  async function follow(address: URL, method: 'GET' | 'HEAD', headers: Record<string, string>, signal: AbortSignal): Promise<Followed> {
    const asker = await createAsker(reach)
    try {
      return await followed(asker, address, method, headers, signal)
    } finally {
      asker.end()
    }
  }

  const root = () => base().replace(/\/+$/, '')
  const addressOf = (path: string) => new URL(`${root()}/${path}`)

  /** The list of a repository's files tells the checksum where the file's own headers do not. */
  const listed = async (path: string, signal: AbortSignal): Promise<HubFile> => {
    const [, repo, file] = /^([^/]+\/[^/]+)\/resolve\/main\/(.+)$/.exec(path) ?? []
    const nothing = { totalBytes: null, sha256: null }
    if (!repo) return nothing
    const { response } = await follow(addressOf(`api/models/${repo}/tree/main`), 'GET', {}, signal)
    if (!response.ok || !/json/.test(response.headers.get('content-type') ?? '')) {
      await response.body?.cancel()
      return nothing
    }
    const text = await textUpTo(response, MOST_LIST_BYTES)
    const tree = Tree.safeParse(text.startsWith('[') ? JSON.parse(text) : [])
    const entry = tree.data?.find((one) => one.path === file)
    const oid = entry?.lfs?.oid ?? ''
    return { totalBytes: entry?.lfs?.size ?? entry?.size ?? null, sha256: SHA256.test(oid) ? oid : null }
  }

  /** A hub without such lists is no worse off. */
  const completed = async (file: HubFile, path: string, signal: AbortSignal): Promise<HubFile> => {
    if (file.sha256 !== null) return file
    const more = await listed(path, signal).catch(() => {
      signal.throwIfAborted()
      return { totalBytes: null, sha256: null }
    })
    return { totalBytes: file.totalBytes ?? more.totalBytes, sha256: more.sha256 }
  }

  const checked = async ({ response, elsewhere }: Followed) => {
    if (response.ok) {
      if (!/^text\/html\b/i.test(response.headers.get('content-type') ?? '')) return
      await response.body?.cancel()
      throw new HubFault('final', 'The hub answered with a web page instead of the file.')
    }
    await response.body?.cancel()
    throw refusal(response.status, elsewhere)
  }

  return {
    async look(path, signal) {
      const found = await follow(addressOf(path), 'HEAD', {}, signal)
      if (found.response.status >= 400 || found.response.ok) await checked(found)
      const { headers, ok } = found.response
      const totalBytes = found.linked.totalBytes ?? (ok ? numberOf(headers.get('content-length')) : null)
      if (totalBytes !== null && totalBytes > MOST_BYTES) throw tooLarge()
      return completed({ totalBytes, sha256: found.linked.sha256 }, path, signal)
    },

    async open(path, { from, etag }, signal) {
      const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-`, ...(etag && { 'if-range': etag }) } : {}
      const found = await follow(addressOf(path), 'GET', headers, signal)
      const { response, linked } = found
      if (response.status === 416) {
        await response.body?.cancel()
        throw new HubFault('restart', 'The hub’s file is another one than before.')
      }
      await checked(found)
      const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '')
      const partial = response.status === 206
      if (partial && (!range || Number(range[1]) !== from)) {
        await response.body?.cancel()
        throw new HubFault('restart', 'The hub sent another part of the file than the one asked for.')
      }
      const sent = partial ? numberOf(range?.[2]) : numberOf(response.headers.get('content-length'))
      const totalBytes = linked.totalBytes ?? sent
      const fault =
        totalBytes !== null && totalBytes > MOST_BYTES
          ? tooLarge()
          : totalBytes !== null && sent !== null && sent !== totalBytes
            ? new HubFault('again', 'The hub announced a file of another length than it sends.')
            : null
      if (fault) {
        await response.body?.cancel()
        throw fault
      }
      const known = await completed({ totalBytes, sha256: linked.sha256 }, path, signal)
      return {
        totalBytes,
        sha256: known.sha256,
        from: partial ? from : 0,
        etag: exact(response.headers.get('etag')),
        body: piecesOf(response),
      }
    },
  }
}
