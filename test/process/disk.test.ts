import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import type { Person } from '../support/house.ts'
import { BY_ENVIRONMENT, dataRoot, PASSWORD, run, type ServerProcess, startServer } from '../support/process.ts'
import { startSlowModel } from '../support/slow-model.ts'
import { needsSmallDisk, noSmallDisk, smallDisk } from '../support/small-disk.ts'

vi.setConfig({ testTimeout: 120_000 })

const say = (message: string): RequestInit => ({
  method: 'POST',
  body: JSON.stringify({ message }),
  headers: { 'content-type': 'application/json' },
})

/** Tries the writes of several areas at once; answers what each was answered. */
async function writeEverywhere(server: ServerProcess, owner: Person, further: Promise<Response>[] = []) {
  const post = (path: string, body: unknown, method = 'POST') => owner.fetch(path, { ...say(''), method, body: JSON.stringify(body) })
  const answers = await Promise.all([
    post('/api/keys', { label: 'one', scope: 'guest' }),
    post('/api/settings', { SERVICE_ALLOWED_HOSTS: 'a'.repeat(4_000) }, 'PATCH'),
    post('/api/auth/pair/start', {}),
    server.stranger().fetch('/api/auth/local', { ...say(''), body: JSON.stringify({ password: PASSWORD }) }),
    ...further,
  ])
  return Promise.all(
    answers.map(async (answer) => ({ status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() })),
  )
}

test.skipIf(noSmallDisk)(
  `a full disk: writes answer 507 in JSON, reads go on, and writes do again once there is room${needsSmallDisk}`,
  async () => {
    using disk = smallDisk(16)
    using root = dataRoot(disk.path)
    await using model = await startSlowModel({ everyMs: 5 })
    await using server = await startServer(root.path, { env: { ...BY_ENVIRONMENT, SERVICE_LLM_BASE_URL: model.url } })
    const owner = await server.owner()
    const streaming = await owner.fetch('/api/chat', say('Talk until the disk is full'))
    const reader = streaming.body?.getReader()
    await reader?.read()

    disk.fill()
    // The log has some room of its own left; talking uses it up.
    for (let tries = 0; tries < 200; tries++)
      if ((await owner.fetch('/api/keys', { ...say(''), body: '{"label":"filler","scope":"guest"}' })).status === 507) break
    for (const { status, type, body } of await writeEverywhere(server, owner, [owner.fetch('/api/chat', say('Hello'))])) {
      expect(body).toContain('"code":"disk_full"')
      expect([status, type]).toEqual([507, 'application/json; charset=utf-8'])
    }
    const broken = (async () => {
      while (!(await reader?.read())?.done);
    })()
    await expect(broken).rejects.toThrow() // not ended as if the reply were whole
    const reads = ['/api/status', '/api/keys', '/api/chat/conversations', '/api/household', '/api/settings', '/api/auth/session']
    for (const path of reads) expect((await owner.fetch(path)).status, path).toBe(200)

    disk.clear()
    const freedAt = performance.now()
    await expect
      .poll(() => owner.api.keys.create({ body: { label: 'after', scope: 'guest' } }).then(({ label }) => label), { timeout: 10_000 })
      .toBe('after')
    expect(performance.now() - freedAt).toBeLessThan(5_000)
    for (const { status, body } of await writeEverywhere(server, owner)) expect(status, body).toBeLessThan(300)

    disk.fill()
    expect((await server.stop()).status).toBe(0)
    const full = await run('server.ts', root.path, { env: BY_ENVIRONMENT }).exited
    // What was to be written in the background may have failed before, each told in the log.
    const plain = full.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
    expect(plain).toEqual([expect.stringMatching(/^(SERVICE_DATA_PATH|The database in) .*(ENOSPC|full|SQLITE_).*$/)])
    expect([74, 78]).toContain(full.status)
    disk.clear()
    await using again = await startServer(root.path, { env: BY_ENVIRONMENT })
    expect(await again.stranger().api.status.get()).toMatchObject({ status: 'ok' })
    expect((await (await again.owner()).api.keys.list()).map(({ label }) => label)).toContain('after')
  },
)

test('a damaged database: the server is up, says that it is not well, and the damaged file is still there', async () => {
  using root = dataRoot()
  {
    await using first = await startServer(root.path, { env: BY_ENVIRONMENT })
    await (await first.owner()).api.keys.create({ body: { label: 'before', scope: 'guest' } })
    await first.stop()
  }
  const damaged = Buffer.concat([Buffer.alloc(4096, 'z'), readFileSync(root.file('hearth.sqlite')).subarray(4096)])
  writeFileSync(root.file('hearth.sqlite'), damaged)
  await using server = await startServer(root.path, { env: BY_ENVIRONMENT })
  expect((await server.stranger().api.status.get()).status).toBe('degraded')
  expect(server.stderr()).toContain('the database was damaged and was set aside')
  const [aside = ''] = readdirSync(root.path).filter((name) => /\.corrupt\..*Z$/.test(name))
  expect(readFileSync(root.file(aside)).equals(damaged)).toBe(true)
  expect((await (await server.owner()).api.household.get()).persons).toHaveLength(1)
  await server.stop()
  truncateSync(root.file('hearth.sqlite'), 9_000)
  await using again = await startServer(root.path, { env: BY_ENVIRONMENT })
  expect((await again.stranger().api.status.get()).status).toBe('degraded')
  expect(readdirSync(root.path).filter((name) => /\.corrupt\..*Z$/.test(name))).toHaveLength(2)
})

test.runIf(process.getuid?.() === 0)(
  'a data root that this user may not write is told in one line, and nothing in it is touched',
  async () => {
    using root = dataRoot()
    writeFileSync(root.file('hearth.sqlite'), 'not mine')
    const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    const exit = await run('server.ts', root.path, { env: { ...BY_ENVIRONMENT, NODE_COMPILE_CACHE: '' }, through: asNobody }).exited
    expect(exit.stderr).toMatch(/^SERVICE_DATA_PATH .*\n$/)
    expect(exit.status).toBe(78)
    expect(readFileSync(root.file('hearth.sqlite'), 'utf8')).toBe('not mine')
    expect(readdirSync(root.path)).toEqual(['hearth.sqlite'])
  },
)
