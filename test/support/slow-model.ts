import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SlowModel extends AsyncDisposable {
  /** For SERVICE_LLM_BASE_URL. */
  url: string
  /** Replies that are still being written. */
  open(): number
}

/** An OpenAI-compatible host on loopback that says `word 0 word 1 …`, a word every `everyMs`, and stops after `words`. */
export async function startSlowModel({ everyMs = 20, words = 100_000 } = {}): Promise<SlowModel> {
  const replies = new Set<ServerResponse>()

  function reply(res: ServerResponse): void {
    let said = 0
    replies.add(res)
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (event: unknown) => res.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    const timer = setInterval(() => {
      if (said < words) send({ choices: [{ delta: { content: `word ${said++} ` } }] })
      else {
        clearInterval(timer)
        send({ choices: [{ delta: {}, finish_reason: 'stop' }] })
        send('[DONE]')
        res.end()
      }
    }, everyMs)
    res.once('close', () => {
      clearInterval(timer)
      replies.delete(res)
    })
  }

  const server = createServer((req, res) => {
    req.resume()
    if (req.url === '/v1/chat/completions') reply(res)
    else res.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[{"id":"slow"}]}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    open: () => replies.size,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
