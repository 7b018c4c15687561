import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { freshAddress } from '../support/http.ts'
import { BY_ENVIRONMENT, dataRoot, type ServerProcess, startServer } from '../support/process.ts'
import { startSlowModel } from '../support/slow-model.ts'

vi.setConfig({ testTimeout: 120_000 })

/** Sends `text` as it stands and leaves without a word after `afterMs`. */
async function sendAndLeave(server: ServerProcess, text: string, afterMs: number): Promise<void> {
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.resume()
  socket.write(text)
  await wait(afterMs)
  socket.destroy()
}

test.runIf(process.platform === 'linux')(
  'clients that leave at any moment of a reply, a request or a socket leave nothing running and nothing open',
  async () => {
    using root = dataRoot()
    await using model = await startSlowModel({ everyMs: 5 })
    await using server = await startServer(root.path, { env: { ...BY_ENVIRONMENT, SERVICE_LLM_BASE_URL: model.url } })
    const owner = await server.owner()
    const cookie = owner.jar.header()
    const body = '{"message":"Go on and on"}'
    const request = `POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\norigin: ${server.url}\r\ncookie: ${cookie}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const openSocket = async (afterMs: number) => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, {
        headers: { cookie, origin: server.url },
        localAddress: freshAddress(),
      })
      socket.on('error', () => undefined)
      await wait(afterMs)
      socket.terminate()
    }
    const handles = () => readdirSync(`/proc/${server.pid}/fd`).length

    await sendAndLeave(server, request, 400)
    await expect.poll(() => model.open(), { timeout: 10_000 }).toBe(0)
    const before = handles()
    const leaving = Array.from({ length: 60 }, (_, at) => {
      const afterMs = Math.random() * 400
      if (at % 3 === 0) return openSocket(afterMs)
      const whole = at % 3 === 1
      return sendAndLeave(server, whole ? request : request.slice(0, Math.ceil(Math.random() * (request.length - 1))), afterMs)
    })
    await Promise.all(leaving)
    const leftAt = performance.now()
    await expect.poll(() => model.open(), { timeout: 10_000 }).toBe(0)
    expect(performance.now() - leftAt).toBeLessThan(5_000)
    await expect.poll(handles, { timeout: 10_000 }).toBeLessThanOrEqual(before + 2)
    expect((await owner.api.status.get()).status).toBe('ok')
    const kept = await owner.api.chat.list({ query: { limit: 500 } })
    for (const { id } of kept) {
      const { messages } = await owner.api.chat.get({ params: { id } })
      expect(messages.map(({ role, status }) => `${role} ${status}`)).toEqual(['user complete', 'assistant aborted'])
    }
    expect(kept.length).toBeGreaterThan(0)
    expect((await server.stop()).status).toBe(0)
  },
)

test('a client that breaks off while it is answered is no fault in the log', async () => {
  using root = dataRoot()
  await using server = await startServer(root.path, { env: { ...BY_ENVIRONMENT, SERVICE_LOG_LEVEL: 'debug' } })
  const request = `GET /api/openapi.json HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\n\r\n`
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(request.repeat(100)) // more than the network holds, so that an answer is on its way
  await new Promise((resolve) => socket.once('readable', resolve))
  await wait(500)
  socket.resetAndDestroy()
  await expect.poll(() => server.stderr(), { timeout: 20_000 }).toContain('a client broke off')
  await server.stop()
  expect(server.stderr().match(/^.*"level":"(?:error|fatal)".*$/gm) ?? []).toEqual([])
})
