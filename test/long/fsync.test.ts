import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Browser } from '../support/house.ts'
import { BY_ENVIRONMENT, dataRoot, type ServerProcess, startServer } from '../support/process.ts'

const hasStrace = spawnSync('strace', ['-V']).status === 0
const unless = hasStrace ? '' : ' (skipped: strace is not installed)'

const post = (body: unknown, method = 'POST'): RequestInit => ({
  method,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

/** One acknowledged write of every class that has to survive a power cut, one after the other; answers how many. */
async function writeEverything(server: ServerProcess, owner: Browser): Promise<number> {
  const password = BY_ENVIRONMENT.SERVICE_OWNER_PASSWORD
  let count = 0
  const asked = async (answer: Promise<Response>) => {
    const { status, body } = await answer.then(async (given) => ({ status: given.status, body: await given.text() }))
    expect(status, body).toBeLessThan(300)
    count += 1
    return body
  }
  const { qr } = JSON.parse(await asked(owner.fetch('/api/auth/pair/start', post({})))) as { qr: string }
  const { code, secret } = JSON.parse(Buffer.from(qr.split('d=')[1] ?? '', 'base64url').toString()) as Record<string, string>
  const paired = await asked(
    server.stranger().fetch('/api/auth/pair/complete', post({ code, secret, deviceInfo: { name: 'phone', type: 'phone' } })),
  )
  const { refreshToken, device } = JSON.parse(paired) as { refreshToken: string; device: { id: string } }
  await asked(server.stranger().fetch('/api/auth/refresh', { method: 'POST', headers: { authorization: `Bearer ${refreshToken}` } }))
  await asked(owner.fetch(`/api/paired-devices/${device.id}`, post({ name: 'other' }, 'PATCH')))
  await asked(owner.fetch('/api/keys', post({ label: 'key', scope: 'guest' })))
  await asked(owner.fetch('/api/settings', post({ SERVICE_ALLOWED_HOSTS: 'attic.lan' }, 'PATCH')))
  const said = await asked(owner.fetch('/api/chat', post({ message: 'Remember this' })))
  const { conversationId } = JSON.parse(said.slice(0, said.indexOf('\n'))) as { conversationId: string }
  await asked(owner.fetch(`/api/chat/conversations/${conversationId}`, post({ title: 'Kept' })))
  await asked(owner.fetch(`/api/chat/conversations/${conversationId}`, { method: 'DELETE' }))
  await asked(server.stranger().fetch('/api/auth/local', post({ password })))
  await asked(owner.fetch(`/api/paired-devices/${device.id}`, { method: 'DELETE' }))
  return count
}

type Call = 'wrote' | 'synced' | 'acknowledged'

/** What the process did to its data and to its sockets, in order. */
function callsIn(trace: string): Call[] {
  return trace.split('\n').flatMap((line): Call[] => {
    if (/\b(fsync|fdatasync)\(\d+<[^>]*(hearth\.sqlite-wal|settings\.json\.part)>/.test(line)) return ['synced']
    if (/\b(pwrite64|write)\(\d+<[^>]*(hearth\.sqlite-wal|settings\.json\.part)>/.test(line)) return ['wrote']
    if (/\b(write|writev|sendto)\(\d+<(socket|TCP)[^>]*>.*HTTP\/1\.1 20[014]/.test(line)) return ['acknowledged']
    return []
  })
}

test.skipIf(!hasStrace)(`every write is on the disk before it is acknowledged${unless}`, async () => {
  using root = dataRoot()
  const trace = root.file('trace')
  // -D: the process that we start is the server; strace watches from behind.
  const strace = ['strace', '-D', '-f', '-y', '-s', '64', '-o', trace, '-e', 'trace=fsync,fdatasync,pwrite64,write,writev,sendto']
  await using server = await startServer(root.path, { env: BY_ENVIRONMENT, through: strace })
  const owner = await server.owner()
  const before = readFileSync(trace, 'utf8').length
  const expected = await writeEverything(server, owner)
  await expect
    .poll(() => callsIn(readFileSync(trace, 'utf8').slice(before)).filter((call) => call === 'acknowledged').length)
    .toBe(expected)
  const calls = callsIn(readFileSync(trace, 'utf8').slice(before))
  let pending = false
  let synced = 0
  for (const call of calls) {
    if (call === 'wrote') pending = true
    if (call === 'synced') {
      pending = false
      synced += 1
    }
    if (call === 'acknowledged') {
      expect(pending, calls.join(' ')).toBe(false)
      expect(synced, calls.join(' ')).toBeGreaterThan(0)
      synced = 0
    }
  }
})

test.skipIf(!hasStrace)(
  `a disk that fails to sync: the write is not acknowledged, the server ends, and the next start is sound${unless}`,
  async () => {
    using root = dataRoot()
    await using server = await startServer(root.path, { env: BY_ENVIRONMENT })
    const owner = await server.owner()
    const label = (await owner.api.keys.create({ body: { label: 'before', scope: 'guest' } })).label
    const failing = spawn('strace', [
      '-f',
      '-p',
      String(server.pid),
      '-P',
      root.file('hearth.sqlite-wal'),
      '-e',
      'inject=fsync,fdatasync:error=EIO',
      '-o',
      root.file('trace'),
    ])
    await new Promise((resolve) => failing.stderr.once('data', resolve))
    await expect(owner.api.keys.create({ body: { label: 'lost', scope: 'guest' } })).rejects.toThrow()
    const exit = await server.exited
    expect([exit.status, exit.signal]).toEqual([74, null])
    expect(exit.stderr).toContain('SQLITE_IOERR_FSYNC')
    expect(readFileSync(root.file('trace'), 'utf8')).toContain('INJECTED')
    await using again = await startServer(root.path, { env: BY_ENVIRONMENT })
    expect((await again.stranger().api.status.get()).status).toBe('ok')
    expect((await (await again.owner()).api.keys.list()).map((key) => key.label)).toContain(label)
  },
)
