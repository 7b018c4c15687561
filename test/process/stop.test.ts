import { existsSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { freshAddress } from '../support/http.ts'
import { BY_ENVIRONMENT, dataRoot, run, type ServerProcess, startServer } from '../support/process.ts'
import { startSlowModel } from '../support/slow-model.ts'

/** A socket of the owner's that was welcomed. */
async function openSocket(server: ServerProcess, cookie: string): Promise<{ closed: Promise<number> }> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, {
    headers: { cookie, origin: server.url },
    localAddress: freshAddress(),
  })
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  socket.on('open', () => socket.send(JSON.stringify({ type: 'hello' })))
  await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject))
  return { closed }
}

test('SIGTERM in the middle of a reply, with sockets and idle connections open: all end properly, and the log is played in', async () => {
  using root = dataRoot()
  await using model = await startSlowModel()
  await using server = await startServer(root.path, { env: { ...BY_ENVIRONMENT, SERVICE_LLM_BASE_URL: model.url } })
  const owner = await server.owner()
  const sockets = await Promise.all([1, 2, 3].map(() => openSocket(server, owner.jar.header())))
  const idle = connect(server.port, '127.0.0.1')
  idle.on('error', () => undefined)
  const answer = await owner.fetch('/api/chat', {
    method: 'POST',
    body: '{"message":"Tell me a story"}',
    headers: { 'content-type': 'application/json' },
  })
  const reader = answer.body?.getReader()
  await reader?.read()

  const stoppedAt = performance.now()
  const exit = await server.stop()
  expect(performance.now() - stoppedAt).toBeLessThan(5_000)
  expect([exit.status, exit.signal]).toEqual([0, null])
  expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([1001, 1001, 1001])
  const rest = (async () => {
    while (!(await reader?.read())?.done);
  })()
  await rest.catch(() => undefined) // ended or broken off, but not hanging
  for (const left of ['hearth.lock', 'hearth.sqlite-wal', 'hearth.sqlite-shm']) expect(existsSync(root.file(left)), left).toBe(false)
  await expect.poll(() => model.open()).toBe(0)

  await using again = await startServer(root.path, { env: BY_ENVIRONMENT })
  const [conversation] = await (await again.owner()).api.chat.list({ query: {} })
  const kept = await (await again.owner()).api.chat.get({ params: { id: conversation?.id ?? '' } })
  expect(kept.messages).toMatchObject([
    { role: 'user', content: 'Tell me a story' },
    { role: 'assistant', status: 'aborted', content: expect.stringMatching(/^word 0 /) },
  ])
})

test('a second signal ends it at once, whatever still hangs', async () => {
  using root = dataRoot()
  await using server = await startServer(root.path, { env: BY_ENVIRONMENT })
  // A request whose body never comes holds a stop up until its grace is over.
  const hanging = connect(server.port, '127.0.0.1')
  hanging.on('error', () => undefined)
  hanging.write('POST /api/auth/local HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{')
  await wait(300)
  server.signal('SIGTERM')
  await wait(700)
  const again = performance.now()
  server.signal('SIGTERM')
  const exit = await server.exited
  expect(performance.now() - again).toBeLessThan(4_000)
  expect(exit.status).toBe(1)
  hanging.destroy()
  await using next = await startServer(root.path, { env: BY_ENVIRONMENT })
  expect((await next.stranger().api.status.get()).status).toBe('ok')
})

test('a terminal that goes away stops it cleanly, and closed output does not end it', async () => {
  using root = dataRoot()
  await using server = await startServer(root.path, { env: { ...BY_ENVIRONMENT, SERVICE_LOG_LEVEL: 'trace' } })
  server.closeOutput()
  for (let at = 0; at < 5; at++) await server.stranger().fetch('/api/nothing')
  expect((await server.stranger().api.status.get()).status).toBe('ok')
  server.signal('SIGPIPE')
  await wait(100)
  expect((await server.stranger().api.status.get()).status).toBe('ok')
  server.signal('SIGHUP')
  expect(await server.exited).toMatchObject({ status: 0, signal: null })
  expect(existsSync(root.file('hearth.lock'))).toBe(false)
})

test('a second process on the data root is refused in one line and does not disturb the first', async () => {
  using root = dataRoot()
  await using server = await startServer(root.path, { env: BY_ENVIRONMENT })
  const exit = await run('server.ts', root.path, { env: BY_ENVIRONMENT }).exited
  expect(exit.stderr).toBe(`Another Hearth (process ${server.pid}) is using this data folder.\n`)
  expect([exit.status, exit.stdout]).toEqual([73, ''])
  expect((await server.stranger().api.status.get()).status).toBe('ok')
  await server.kill()
  expect(JSON.parse(readFileSync(root.file('hearth.lock'), 'utf8'))).toMatchObject({ pid: server.pid })
  await using next = await startServer(root.path, { env: BY_ENVIRONMENT })
  expect((await next.stranger().api.status.get()).status).toBe('ok')
})

test('with few file handles it refuses connections rather than end, serves those it has, and recovers', async () => {
  using root = dataRoot()
  await using server = await startServer(root.path, { env: BY_ENVIRONMENT, through: ['sh', '-c', 'ulimit -n 96; exec "$@"', 'sh'] })
  const owner = await server.owner()
  const agent = new Agent({ keepAlive: true, maxSockets: 3 })
  /** Asks over connections that are kept; answers the status. */
  const ask = (method: string, path: string, body = '') =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        cookie: owner.jar.header(),
        origin: server.url,
        ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
      }
      const asking = request({ agent, host: '127.0.0.1', port: server.port, method, path, headers }, (answer) => {
        answer.resume().once('error', reject)
        answer.once('end', () => resolve(answer.statusCode ?? 0))
      })
      asking.once('error', reject).end(body)
    })
  await Promise.all([1, 2, 3].map(() => ask('GET', '/api/status')))

  const crowd = Array.from({ length: 150 }, () => connect(server.port, '127.0.0.1').on('error', () => undefined))
  await wait(500)
  expect(await Promise.all([ask('GET', '/api/status'), ask('GET', '/api/keys'), ask('GET', '/chat'), ask('GET', '/icon.svg')])).toEqual([
    200, 200, 200, 200,
  ])
  for (const [method, path, body] of [
    ['POST', '/api/keys', '{"label":"key","scope":"guest"}'],
    ['PATCH', '/api/settings', '{"SERVICE_ALLOWED_HOSTS":"attic.lan"}'],
    ['POST', '/api/chat', '{"message":"Tell me a story"}'],
  ] as const) {
    expect([200, 201, 500, 503], path).toContain(await ask(method, path, body))
  }
  for (const one of crowd) one.destroy()
  agent.destroy()
  await expect.poll(() => owner.api.status.get().then(({ status }) => status), { timeout: 10_000 }).toBe('ok')
  const answer = await owner.fetch('/api/chat', {
    method: 'POST',
    body: '{"message":"Tell me a story"}',
    headers: { 'content-type': 'application/json' },
  })
  expect(answer.status).toBe(200)
  await answer.text()
  expect((await server.stop()).status).toBe(0)
})
