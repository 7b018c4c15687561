import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Endpoint {
  url: string
  /** Every path that was asked for. */
  hits: string[]
  handle: (req: IncomingMessage, res: ServerResponse) => void
  [Symbol.asyncDispose](): Promise<void>
}

/** An HTTP server on a free loopback port whose handler may be exchanged. */
export async function listen(handle: Endpoint['handle'], host = '127.0.0.1'): Promise<Endpoint> {
  const hits: string[] = []
  const server: Server = createServer((req, res) => {
    hits.push(req.url ?? '')
    endpoint.handle(req, res)
  })
  await new Promise<void>((resolve) => void server.listen(0, host, resolve))
  const endpoint: Endpoint = {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    hits,
    handle,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return endpoint
}
