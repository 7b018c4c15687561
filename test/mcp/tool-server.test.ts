import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { type ActionCall, type ActionRegistry, action, createActionRegistry } from '../../server/kit/actions.ts'
import { createLog } from '../../server/kit/log.ts'
import { toolName } from '../../server/modules/mcp/tool-names.ts'
import { createToolServer, type ToolServer } from '../../server/modules/mcp/tool-server.ts'
import { type StandIn, startStandIn, words } from './tool-server-stand-in.ts'

const LONG = { timeout: 20_000 }
const WAITS = { answerMs: 300, lookMs: 50, againMs: 20, mostMs: 100, listMs: 10, listMostMs: 30_000 }

let actions: ActionRegistry
let shed: StandIn
let server: ToolServer
const make = (waits: typeof WAITS) =>
  createToolServer({ address: { name: 'shed', url: shed.url, token: null }, actions, version: '1', log: createLog('silent'), waits })
beforeEach(async () => {
  actions = createActionRegistry({ audit: async () => async () => undefined })
  shed = await startStandIn()
  shed.tool({ name: 'one' }, () => words('Done.'))
  server = make(WAITS)
})
afterEach(async () => {
  await server.stop()
  await shed[Symbol.asyncDispose]()
})

const becomes = (status: string) => expect.poll(() => server.state().status, LONG).toBe(status)
const call: ActionCall = {
  caller: { kind: 'owner', scope: 'admin', deviceId: 'd', userId: 'u', personId: 'p', sessionId: 's', via: 'cookie' },
  origin: 'api',
  signal: new AbortController().signal,
}

test('a server that accepts and never answers is given up in time, tried again, and works once it answers', async () => {
  shed.misbehave(() => undefined)
  server.start()
  await becomes('error')
  expect(server.state()).toEqual({ status: 'error', error: 'It did not answer in time.', tools: [], leftOut: [] })
  const tries = shed.endpoint.hits.length
  await expect.poll(() => shed.endpoint.hits.length, LONG).toBeGreaterThan(tries)
  shed.misbehave(null)
  await becomes('connected')
  expect(actions.find('mcp.shed.one')).toBeDefined()
})

test.each(['http://127.0.0.1:1/mcp', 'http://127.0.0.1:9/mcp'])('of nobody at %s it is said that it cannot be reached', async (url) => {
  const address = { name: 'gone', url, token: null }
  const gone = createToolServer({ address, actions, version: '1', log: createLog('silent'), waits: WAITS })
  gone.start()
  await expect.poll(() => gone.state().error, LONG).toBe('It cannot be reached.')
  await gone.stop()
})

test('a server that asks without end keeps nobody busy, and works once it stops', async () => {
  let most = 0
  let open = 0
  const ping = (id: number) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n\n`
  shed.misbehave(async (req, res) => {
    open += 1
    most = Math.max(most, open)
    res.once('close', () => {
      open -= 1
    })
    let text = ''
    for await (const piece of req) text += String(piece)
    const asked = text === '' ? {} : (JSON.parse(text) as { method?: string; id?: number })
    if (req.method !== 'POST') return void res.writeHead(405).end()
    if (asked.method !== 'initialize') return // an answer of ours: it is never taken
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.end(Array.from({ length: 1_500 }, (_, id) => ping(id)).join(''))
  })
  server.start()
  await becomes('error')
  await expect.poll(() => most, LONG).toBeGreaterThan(1)
  expect(most).toBeLessThan(100)
  shed.misbehave(null)
  await becomes('connected')
})

test('a server that goes away is found out without a call', async () => {
  server.start()
  await becomes('connected')
  shed.misbehave((req) => req.socket.destroy())
  await becomes('error')
  expect(actions.find('mcp.shed.one')).toBeUndefined()
  shed.misbehave(null)
  await becomes('connected')
  expect(await actions.run('mcp.shed.one', {}, call)).toEqual({ output: 'Done.' })
})

test('a server that forgot the session gets a new one by itself', async () => {
  server.start()
  await becomes('connected')
  const before = shed.endpoint.hits.length
  await shed.forget()
  await expect.poll(() => shed.endpoint.hits.length, LONG).toBeGreaterThan(before + 3)
  await expect.poll(async () => (await actions.run('mcp.shed.one', {}, call).catch(() => null))?.output, LONG).toBe('Done.')
})

test('a server whose tools change without end is read ever more seldom, and what it offers in the end is found', async () => {
  server.start()
  await becomes('connected')
  for (let changes = 0; changes < 300; changes += 1) {
    shed.tool({ name: `changed_${changes % 5}` })
    await shed.announce()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await expect.poll(() => actions.find('mcp.shed.changed_4'), LONG).toBeDefined()
  expect(shed.listed).toBeLessThan(15) // each wait is twice the one before
})

test('a connection that comes again soon takes the list as it was, and reads it somewhat later', async () => {
  server = make({ ...WAITS, listMostMs: 3_000 })
  server.start()
  await becomes('connected')
  const before = shed.listed
  shed.misbehave((req) => req.socket.destroy())
  await becomes('error')
  shed.tool({ name: 'two' })
  shed.misbehave(null)
  await becomes('connected')
  expect([shed.listed, actions.find('mcp.shed.one') !== undefined]).toEqual([before, true])
  await expect.poll(() => actions.find('mcp.shed.two'), LONG).toBeDefined()
})

test('a server that was stopped offers nothing, at once and afterwards', async () => {
  server.start()
  await becomes('connected')
  const stopped = server.stop()
  expect(actions.find('mcp.shed.one')).toBeUndefined()
  await stopped
  const hits = shed.endpoint.hits.length
  shed.tool({ name: 'two' })
  await shed.announce()
  await new Promise((resolve) => setTimeout(resolve, 200)) // several looks would have been due
  expect([shed.endpoint.hits.length, actions.list(call.caller)]).toEqual([hits, []])
})

test('an action that exists keeps its name, and the server its other tools', async () => {
  actions.add(action({ name: 'mcp.shed.one', description: '', input: z.unknown(), risk: 'low', run: async () => ({ output: 'ours' }) }))
  shed.tool({ name: 'two' })
  server.start()
  await becomes('connected')
  expect(await actions.run('mcp.shed.one', {}, call)).toEqual({ output: 'ours' })
  expect(actions.find('mcp.shed.two')).toBeDefined()
})

test('names are plain, bounded and distinct', () => {
  const taken = new Set<string>()
  const name = (tool: string) => {
    const made = toolName('shed', tool, taken)
    taken.add(made)
    return made
  }
  expect([name('a b'), name('a/b'), name('a\u0000b'), name('')]).toEqual([
    'mcp.shed.a_b',
    'mcp.shed.a_b_2',
    'mcp.shed.a_b_3',
    'mcp.shed.tool',
  ])
  const long = [name('x'.repeat(500)), name('x'.repeat(501))]
  expect(new Set(long).size).toBe(2)
  expect(long.every(({ length }) => length === 200)).toBe(true)
})
