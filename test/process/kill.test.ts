import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { killRounds } from '../support/kill-rounds.ts'
import { BY_ENVIRONMENT, dataRoot, run, type ServerProcess, startServer } from '../support/process.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { startSlowModel } from '../support/slow-model.ts'

vi.setConfig({ testTimeout: 120_000 })

test('killed again and again under writes from many clients, it loses nothing that it acknowledged', async () => {
  const { acknowledged, lost, readyMs } = await killRounds(10)
  expect(lost).toEqual([])
  expect(acknowledged).toBeGreaterThanOrEqual(100)
  expect(Math.min(...readyMs)).toBeLessThan(5_000)
})

/** Talks until some text has arrived; answers what did. */
async function hearSome(server: ServerProcess, message: string, atLeast: number): Promise<{ conversationId: string; text: string }> {
  const owner = await server.owner()
  const answer = await owner.fetch('/api/chat', {
    method: 'POST',
    body: JSON.stringify({ message }),
    headers: { 'content-type': 'application/json' },
  })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let heard = ''
  while (heard.length < atLeast) heard += (await reader?.read())?.value ?? ''
  const end = heard.indexOf('\n')
  void reader?.cancel().catch(() => undefined)
  return { conversationId: (JSON.parse(heard.slice(0, end)) as { conversationId: string }).conversationId, text: heard.slice(end + 1) }
}

test('killed in the middle of a reply, what had been streamed is there, marked as broken off, and can be found', async () => {
  using root = dataRoot()
  await using model = await startSlowModel({ everyMs: 5 })
  const env = { ...BY_ENVIRONMENT, SERVICE_LLM_BASE_URL: model.url }
  await using server = await startServer(root.path, { env })
  const { conversationId, text } = await hearSome(server, 'Tell me something', 300)
  await server.kill()
  await using again = await startServer(root.path, { env })
  const owner = await again.owner()
  const { messages } = await owner.api.chat.get({ params: { id: conversationId } })
  expect(messages).toMatchObject([
    { role: 'user', content: 'Tell me something', status: 'complete' },
    { role: 'assistant', status: 'aborted', content: expect.stringContaining(text) },
  ])
  expect((await owner.api.chat.search({ query: { q: 'word' } })).map(({ id }) => id)).toEqual([conversationId])
  const next = await owner.fetch('/api/chat', {
    method: 'POST',
    body: JSON.stringify({ message: 'Go on', conversationId }),
    headers: { 'content-type': 'application/json' },
  })
  expect(next.status).toBe(200)
  await next.body?.cancel()
})

const childrenOf = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')

test.runIf(process.platform === 'linux')('killed while a model of its own replies, the process of the model ends as well', async () => {
  using root = dataRoot()
  mkdirSync(root.file('models'))
  writeScriptedGguf(root.file('models', 'scripted.gguf'))
  await using server = await startServer(root.path, { env: BY_ENVIRONMENT })
  const { conversationId, text } = await hearSome(server, 'forever', 150)
  expect(text).toMatch(/^\s*round after lap/)
  const [child = ''] = childrenOf(server.pid)
  expect(existsSync(`/proc/${child}`)).toBe(true)
  await server.kill()
  await expect.poll(() => existsSync(`/proc/${child}`), { timeout: 5_000 }).toBe(false)
  await using again = await startServer(root.path, { env: { ...BY_ENVIRONMENT, SERVICE_LLM_BASE_URL: 'http://127.0.0.1:9/v1' } })
  const { messages } = await (await again.owner()).api.chat.get({ params: { id: conversationId } })
  expect(messages[1]).toMatchObject({ status: 'aborted', content: expect.stringContaining(text) })
})

test.each(['hearth.lock', 'hearth.sqlite', 'hearth.sqlite-wal'])(
  'killed in its very first start once there is %s, the next one finds nothing amiss',
  async (file) => {
    using root = dataRoot()
    await using first = run('server.ts', root.path)
    for (const deadline = performance.now() + 20_000; !existsSync(root.file(file)) && performance.now() < deadline; ) await setImmediate()
    await first.kill()
    await using server = await startServer(root.path)
    expect((await server.stranger().api.status.get()).status).toBe('ok')
    expect(readdirSync(root.path).filter((name) => name.includes('corrupt'))).toEqual([])
  },
)
