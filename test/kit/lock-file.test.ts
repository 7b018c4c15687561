import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LockedError, takeLock } from '../../server/kit/lock-file.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-lock-'))
  path = join(folder, 'hearth.lock')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A process of its own that takes the lock when told to, and says how that went. */
function racer() {
  const lockFile = join(import.meta.dirname, '..', '..', 'server', 'kit', 'lock-file.ts')
  const source = `import { takeLock } from ${JSON.stringify(lockFile)}
    import { existsSync } from 'node:fs'
    process.stdout.write('here ')
    while (!existsSync(${JSON.stringify(join(folder, 'go'))}));
    let said
    try { said = takeLock(${JSON.stringify(path)}).wasStale ? 'mine, stale' : 'mine' } catch (error) { said = error.message }
    gc() // nobody kept what came back: the lock must last all the same
    process.stdout.write(said)
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return {
    pid: child.pid,
    said: () => said,
    async end(signal: NodeJS.Signals) {
      child.kill(signal)
      await ended
    },
  }
}

/** Lets the processes loose at the same moment; answers what each said. */
async function race(racers: ReturnType<typeof racer>[]): Promise<string[]> {
  await expect.poll(() => racers.every(({ said }) => said() === 'here '), { timeout: 20_000 }).toBe(true)
  writeFileSync(join(folder, 'go'), '')
  await expect.poll(() => racers.every(({ said }) => said() !== 'here '), { timeout: 20_000 }).toBe(true)
  return racers.map(({ said }) => said().slice('here '.length))
}

test('a lock is taken, names its process and is given back', () => {
  const lock = takeLock(path)
  expect(lock.wasStale).toBe(false)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid })
  expect(() => takeLock(path)).toThrow(LockedError)
  lock.release()
  expect(existsSync(path)).toBe(false)
  const again = takeLock(path)
  lock.release()
  expect(existsSync(path)).toBe(true)
  expect(again.wasStale).toBe(false)
  again.release()
})

test('a lock of a live process names it; killed, it can be taken at once and was stale', async () => {
  const other = racer()
  expect(await race([other])).toEqual(['mine'])
  expect(() => takeLock(path)).toThrow(`Another Hearth (process ${other.pid}) is using this data folder.`)
  await other.end('SIGKILL')
  const lock = takeLock(path)
  expect(lock.wasStale).toBe(true)
  lock.release()
})

test.each([
  ['names this very process, as after a restart of a container', { pid: process.pid, startedAt: '2026-01-01T00:00:00.000Z' }],
  ['names a live process that came by its id later', { pid: process.ppid, startedAt: '2026-01-01T00:00:00.000Z' }],
])('a lock file left by a crash that %s is stale', (_what, holder) => {
  writeFileSync(path, JSON.stringify(holder))
  const lock = takeLock(path)
  expect(lock.wasStale).toBe(true)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid })
  lock.release()
})

test.each(['', '{"pid":', 'null', '\0\0\0\0'])('a lock file torn by a crash (%j) is stale', (content) => {
  writeFileSync(path, content)
  const lock = takeLock(path)
  expect(lock.wasStale).toBe(true)
  writeFileSync(path, content)
  expect(() => takeLock(path)).toThrow('Another Hearth is using this data folder.')
  lock.release()
})

test.each([
  ['no lock', null],
  ['a stale lock', JSON.stringify({ pid: 1, startedAt: '' })],
])('of several processes that start at once on %s exactly one gets it', async (_what, content) => {
  if (content !== null) writeFileSync(path, content)
  const racers = Array.from({ length: 4 }, racer)
  const outcomes = (await race(racers)).sort()
  expect(outcomes.slice(0, 3)).toEqual(Array(3).fill(expect.stringMatching(/^Another Hearth/)))
  expect(outcomes[3]).toBe(content === null ? 'mine' : 'mine, stale')
  await Promise.all(racers.map(({ end }) => end('SIGKILL')))
})
