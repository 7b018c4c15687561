import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HubRequest {
  method: string
  url: string
  range: string | undefined
  ifRange: string | undefined
  authorization: string | undefined
}

type Answer = (req: IncomingMessage, res: ServerResponse, content: Buffer) => void

export interface TestHub extends AsyncDisposable {
  url: string
  requests: HubRequest[]
  /** The files it has, by `owner/repo/file`. */
  files: Map<string, Buffer>
  /** What the storage does with the next GETs of content, one each; after them it behaves. */
  next: Answer[]
  /** What the hub says of its files before it sends to the storage; by default size and checksum. */
  announce: (content: Buffer) => Record<string, string>
  /** Takes it off the network and brings it back at the same address. */
  down(): Promise<void>
  up(): Promise<void>
}

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')
export const etagOf = (content: Buffer) => `"${sha256(content).slice(0, 16)}"`

/** The storage as it should be: ranges, and `If-Range` by etag. */
export const serve: Answer = (req, res, content) => {
  const etag = etagOf(content)
  const asked = /^bytes=(\d+)-$/.exec(req.headers.range ?? '')
  const fits = req.headers['if-range'] === undefined || req.headers['if-range'] === etag
  if (!asked || !fits) {
    res.writeHead(200, { 'content-length': content.length, etag, 'content-type': 'application/octet-stream' }).end(content)
    return
  }
  const from = Number(asked[1])
  if (from >= content.length) {
    res.writeHead(416, { 'content-range': `bytes */${content.length}` }).end()
    return
  }
  const range = `bytes ${from}-${content.length - 1}/${content.length}`
  res.writeHead(206, { 'content-length': content.length - from, 'content-range': range, etag }).end(content.subarray(from))
}

/** Sends as many bytes, then breaks the connection. */
export const cutAfter =
  (bytes: number): Answer =>
  (_req, res, content) => {
    res.writeHead(200, { 'content-length': content.length, etag: etagOf(content) })
    res.write(content.subarray(0, bytes), () => setTimeout(() => res.destroy(), 20))
  }

/** Sends as many bytes and then nothing more. */
export const hangAfter =
  (bytes: number): Answer =>
  (_req, res, content) => {
    res.writeHead(200, { 'content-length': content.length, etag: etagOf(content) })
    res.write(content.subarray(0, bytes))
  }

export const status =
  (code: number): Answer =>
  (_req, res) =>
    void res.writeHead(code).end()

/** A model hub on loopback whose files lie in a storage that it redirects to, as hubs do. */
export async function startHub(): Promise<TestHub> {
  const requests: HubRequest[] = []
  const files = new Map<string, Buffer>()
  const hub = { next: [] as Answer[] }

  function handle(req: IncomingMessage, res: ServerResponse): void {
    const { method = '', url = '' } = req
    const { range, 'if-range': ifRange, authorization } = req.headers
    requests.push({ method, url, range, ifRange: ifRange as string | undefined, authorization })
    const resolved = /^\/([^/]+\/[^/]+)\/resolve\/main\/(.+)$/.exec(url)
    const stored = /^\/storage\/(.+)$/.exec(url)
    const listed = /^\/api\/models\/([^/]+\/[^/]+)\/tree\/main$/.exec(url)
    if (listed) {
      const own = [...files].filter(([path]) => path.startsWith(`${listed[1]}/`))
      const tree = own.map(([path, content]) => ({
        path: path.slice((listed[1] as string).length + 1),
        size: content.length,
        lfs: { oid: sha256(content), size: content.length },
      }))
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tree))
      return
    }
    const key = resolved ? `${resolved[1]}/${resolved[2]}` : stored?.[1]
    const content = key === undefined ? undefined : files.get(key)
    if (!content) res.writeHead(404, { 'content-type': 'text/plain' }).end('Entry not found')
    else if (resolved) res.writeHead(302, { location: `/storage/${key}`, ...test.announce(content) }).end()
    else ((method === 'GET' && hub.next.shift()) || serve)(req, res, content)
  }

  let server = createServer(handle)
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo

  const test: TestHub = {
    url: `http://127.0.0.1:${port}`,
    requests,
    files,
    next: hub.next,
    announce: (content) => ({ 'x-linked-etag': `"${sha256(content)}"`, 'x-linked-size': String(content.length) }),
    async down() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
    async up() {
      server = createServer(handle)
      await listen(port)
    },
    async [Symbol.asyncDispose]() {
      await test.down()
    },
  }
  return test
}
