import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createServerRequests } from '../../main/server-requests.ts'
import { createSupervisor, type ServerProcess, type ServerReply, type ServerState, type SupervisorTimes } from '../../main/supervisor.ts'
import { texts } from '../../main/texts.ts'

const QUICK: SupervisorTimes = { backoffMs: [20, 40, 60, 80], healthyAfterMs: 60_000, stopGraceMs: 300 }
const READY = `process.send({ kind: 'ready', url: 'http://127.0.0.1:7420', setupPin: null })`
const STAY = 'setInterval(() => {}, 1000)'

let folder: string
const children: ChildProcess[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-supervisor-'))
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** A plain Node child in place of Electron's utility process; every start leaves its time in `<script>.starts`. */
function script(name: string, body: string): { fork: () => ServerProcess; starts: () => number[] } {
  const path = join(folder, `${name}.mjs`)
  const notes = `${path}.starts`
  writeFileSync(notes, '')
  writeFileSync(path, `import { appendFileSync } from 'node:fs'\nappendFileSync(${JSON.stringify(notes)}, Date.now() + '\\n')\n${body}`)
  return {
    starts: () => readFileSync(notes, 'utf8').trim().split('\n').filter(Boolean).map(Number),
    fork() {
      const child = fork(path, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
      children.push(child)
      return {
        post: (message) => void (child.connected && child.send(message)),
        kill: () => void child.kill('SIGKILL'),
        onMessage: (listener) => void child.on('message', listener),
        onExit: (listener) => void child.on('exit', listener),
      }
    },
  }
}

function supervise(server: Pick<ReturnType<typeof script>, 'fork'>, times: Partial<SupervisorTimes> = {}) {
  const seen: ServerState[] = []
  const replies: ServerReply[] = []
  const supervisor = createSupervisor({
    fork: server.fork,
    onState: (state) => seen.push(state),
    onReply: (reply) => replies.push(reply),
    times: { ...QUICK, ...times },
  })
  const until = (kind: ServerState['kind']) => vi.waitFor(() => expect(supervisor.state.kind).toBe(kind), { timeout: 10_000, interval: 5 })
  return { supervisor, seen, replies, until }
}

const lastPid = (): number => children.at(-1)?.pid ?? 0
const isAlive = (child: ChildProcess | undefined): boolean => child?.exitCode === null && child.signalCode === null

test('a server that keeps crashing is restarted ever more slowly, then given up with the reason', async () => {
  const server = script('crash', 'process.exit(3)')
  const { supervisor, seen, until } = supervise(server, { backoffMs: [30, 60, 120, 240] })
  supervisor.start()
  await until('gave-up')
  const starts = server.starts()
  expect(starts).toHaveLength(5)
  starts.slice(1).forEach((at, i) => {
    expect(at - (starts[i] ?? 0)).toBeGreaterThanOrEqual([30, 60, 120, 240][i] ?? 0)
  })
  expect(seen.map(({ kind }) => kind)).toEqual(['starting', 'restarting', 'restarting', 'restarting', 'restarting', 'gave-up'])
  expect(supervisor.state).toEqual({ kind: 'gave-up', reason: texts.crashedTooOften(5, 3) })
})

test('a given-up server is started again when asked', async () => {
  const { supervisor, until } = supervise(script('again', 'process.exit(3)'), { backoffMs: [] })
  supervisor.start()
  await until('gave-up')
  const before = children.length
  supervisor.start()
  await vi.waitFor(() => expect(children).toHaveLength(before + 1))
  await until('gave-up')
})

test('a crash after a healthy time starts the backoff afresh', async () => {
  const server = script('healthy', `${READY}; setTimeout(() => process.exit(3), 120)`)
  const { supervisor } = supervise(server, { backoffMs: [10], healthyAfterMs: 100 })
  supervisor.start()
  await vi.waitFor(() => expect(server.starts().length).toBeGreaterThanOrEqual(4), { timeout: 10_000 })
  expect(supervisor.state.kind).not.toBe('gave-up')
  await supervisor.stop()
})

test('a fatal message ends the attempts and is passed on in its words', async () => {
  const server = script('fatal', `process.send({ kind: 'fatal', reason: 'The database is from a newer Hearth.' }, () => process.exit(1))`)
  const { supervisor, until } = supervise(server)
  supervisor.start()
  await until('gave-up')
  expect(supervisor.state).toEqual({ kind: 'gave-up', reason: 'The database is from a newer Hearth.' })
  expect(server.starts()).toHaveLength(1)
})

test('a server that said fatal but stays is killed', async () => {
  const { supervisor, until } = supervise(script('fatal-stays', `process.send({ kind: 'fatal', reason: 'no' }); ${STAY}`))
  supervisor.start()
  await until('gave-up')
  expect(isAlive(children.at(-1))).toBe(false)
})

test.each([69, 73, 78] as const)('exit status %i is final and explained', async (status) => {
  const server = script(`exit-${status}`, `process.exit(${status})`)
  const { supervisor, until } = supervise(server)
  supervisor.start()
  await until('gave-up')
  expect(supervisor.state).toEqual({ kind: 'gave-up', reason: texts.exit[status] })
  expect(server.starts()).toHaveLength(1)
})

test('ready carries address and PIN, a later PIN replaces it, anything else on the channel is ignored', async () => {
  const body = `
    process.send({ kind: 'ready', url: 'http://127.0.0.1:7420', setupPin: '111111' })
    process.send({ kind: 'nonsense' })
    process.send('text')
    process.send({ kind: 'setup-pin', pin: null })
    ${STAY}`
  const { supervisor, seen } = supervise(script('ready', body))
  supervisor.start()
  await vi.waitFor(() => expect(supervisor.state).toEqual({ kind: 'ready', url: 'http://127.0.0.1:7420', setupPin: null }))
  expect(seen.map(({ kind }) => kind)).toEqual(['starting', 'ready', 'ready'])
  expect(seen[1]).toMatchObject({ setupPin: '111111' })
  await supervisor.stop()
})

test.each([
  ['http://0.0.0.0:7420', 'http://127.0.0.1:7420'],
  ['http://[::]:7420', 'http://[::1]:7420'],
  ['http://192.168.1.5:7420', 'http://192.168.1.5:7420'],
])('a server on %s is visited at %s', async (told, visited) => {
  const { supervisor, until } = supervise(script('address', `process.send({ kind: 'ready', url: '${told}', setupPin: null }); ${STAY}`))
  supervisor.start()
  await until('ready')
  expect(supervisor.state).toMatchObject({ url: visited })
  await supervisor.stop()
})

test('a killed server comes back', async () => {
  const { supervisor, seen, until } = supervise(script('killed', `${READY}; ${STAY}`))
  supervisor.start()
  await until('ready')
  const first = lastPid()
  process.kill(first, 'SIGKILL')
  await until('restarting')
  await until('ready')
  expect(lastPid()).not.toBe(first)
  expect(seen.map(({ kind }) => kind)).toEqual(['starting', 'ready', 'restarting', 'ready'])
  await supervisor.stop()
})

test('stop lets the server finish and does not restart it', async () => {
  const note = join(folder, 'graceful.done')
  const body = `
    process.on('message', (message) => {
      if (message.kind === 'stop') setTimeout(() => { appendFileSync(${JSON.stringify(note)}, 'flushed'); process.exit(0) }, 80)
    })
    ${READY}`
  const server = script('graceful', body)
  const { supervisor, until } = supervise(server)
  supervisor.start()
  await until('ready')
  await Promise.all([supervisor.stop(), supervisor.stop()])
  expect(readFileSync(note, 'utf8')).toBe('flushed')
  expect(supervisor.state).toEqual({ kind: 'stopped' })
  await new Promise((resolve) => setTimeout(resolve, 150))
  expect(server.starts()).toHaveLength(1)
})

test('a server deaf to stop and SIGTERM is killed after the grace', async () => {
  const { supervisor, until } = supervise(
    script('deaf', `process.on('SIGTERM', () => {}); process.on('message', () => {}); ${READY}; ${STAY}`),
  )
  supervisor.start()
  await until('ready')
  const child = children.at(-1)
  const asked = Date.now()
  await supervisor.stop()
  expect(Date.now() - asked).toBeGreaterThanOrEqual(QUICK.stopGraceMs - 5)
  expect(child?.signalCode).toBe('SIGKILL')
})

test('stop during the backoff cancels the restart', async () => {
  const server = script('stop-in-backoff', 'process.exit(3)')
  const { supervisor, until } = supervise(server, { backoffMs: [200] })
  supervisor.start()
  await until('restarting')
  await supervisor.stop()
  await new Promise((resolve) => setTimeout(resolve, 350))
  expect(server.starts()).toHaveLength(1)
  expect(supervisor.state).toEqual({ kind: 'stopped' })
})

test('resume during a slow stop waits for the old server to end', async () => {
  const body = `process.on('message', () => setTimeout(() => process.exit(0), 150)); ${READY}; ${STAY}`
  const server = script('resume', body)
  const { supervisor, until } = supervise(server)
  supervisor.start()
  await until('ready')
  const old = children.at(-1)
  void supervisor.stop()
  supervisor.start()
  await vi.waitFor(() => expect(server.starts()).toHaveLength(2), { timeout: 5_000 })
  expect(isAlive(old)).toBe(false)
  await until('ready')
  await supervisor.stop()
})

test('questions to the server get their own answers, in whatever order', async () => {
  const body = `
    const held = []
    process.on('message', (message) => {
      if (message.kind === 'stop') process.exit(0)
      held.push(message)
      if (held.length < 3) return
      for (const { kind, id, password } of held.reverse()) {
        if (kind === 'ticket') process.send({ kind: 'ticket', id, ticket: 'ticket-for-' + id })
        else process.send({ kind: 'password-reset', id, error: password.length < 10 ? 'too short' : null })
      }
    })
    ${READY}`
  const server = script('questions', body)
  const supervisor = createSupervisor({
    fork: server.fork,
    onState: () => undefined,
    onReply: (reply) => requests.settle(reply),
    times: QUICK,
  })
  const requests = createServerRequests({ post: supervisor.post })
  supervisor.start()
  await vi.waitFor(() => expect(supervisor.state.kind).toBe('ready'))
  const [ticket, short, long] = await Promise.all([
    requests.ticket(),
    requests.resetPassword('short'),
    requests.resetPassword('long enough now'),
  ])
  expect(ticket).toMatch(/^ticket-for-/)
  expect(short).toBe('too short')
  expect(long).toBeNull()
  await supervisor.stop()
  await expect(requests.ticket()).rejects.toThrow(texts.notRunning)
})

test('a question that is not answered fails after its time', async () => {
  const requests = createServerRequests({ post: () => true, timeoutMs: 30 })
  await expect(requests.ticket()).rejects.toThrow(texts.noAnswer)
})
