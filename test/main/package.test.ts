import { execFile, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { extractAll, listPackage, statFile } from '@electron/asar'
import { FuseV1Options, FuseVersion, getCurrentFuseWire } from '@electron/fuses'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'

const exec = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** In Electron's program: where its fuses are, their version and count, then one byte each. */
const FUSE_WIRE = Buffer.from('dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX\u0001\u000811111111', 'latin1')

/** What a fuse that is on is read back as. */
const FUSE_ON = '1'.charCodeAt(0)

let folder: string
let app: string
let archive: string
let files: string[]
let unpacked: string

/** A folder that looks to electron-builder like Electron's own. */
function writeStubElectron(into: string): void {
  mkdirSync(join(into, 'resources'), { recursive: true })
  writeFileSync(join(into, 'electron'), Buffer.concat([Buffer.from('#!/bin/sh\n'), FUSE_WIRE]))
  chmodSync(join(into, 'electron'), 0o755)
  for (const name of ['version', 'LICENSE', 'LICENSES.chromium.html', 'chrome-sandbox']) writeFileSync(join(into, name), '')
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-package-'))
  writeStubElectron(join(folder, 'electron'))
  await exec(process.execPath, ['scripts/hearth.mjs', 'build'], { cwd: root })
  const stubbed = [`-c.electronDist=${join(folder, 'electron')}`, '-c.npmRebuild=false', `-c.directories.output=${join(folder, 'out')}`]
  const builder = ['node_modules/electron-builder/cli.js', '--linux', 'dir', `--${process.arch}`, '--publish', 'never', ...stubbed]
  await exec(process.execPath, builder, { cwd: root, maxBuffer: 2 ** 24 })
  app = join(folder, 'out', process.arch === 'x64' ? 'linux-unpacked' : `linux-${process.arch}-unpacked`)
  archive = join(app, 'resources', 'app.asar')
  files = listPackage(archive, { isPack: false }).map((path) => path.replaceAll('\\', '/').slice(1))
  unpacked = join(folder, 'app')
  extractAll(archive, unpacked)
}, 180_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const isFile = (path: string) => 'size' in statFile(archive, path)
const isUnpacked = (path: string) => (statFile(archive, path) as { unpacked?: boolean }).unpacked === true

test('the package holds what is built, the resources and nothing else of the project', () => {
  const own = files.filter((path) => !path.startsWith('node_modules') && isFile(path))
  const bundles = own.filter((path) => /^dist\/(main|server)\//.test(path))
  expect(bundles.sort()).toEqual(
    expect.arrayContaining(['dist/main/main.js', 'dist/main/preload.cjs', 'dist/server/llama-host.js', 'dist/server/server.js']),
  )
  expect(bundles.filter((path) => !/\.c?js$/.test(path))).toEqual([])
  expect(own).toContain('dist/renderer/index.html')
  expect(own).toContain('resources/desktop/status.html')
  expect(own).toContain('resources/icon.png')
  expect(new Set(own.map((path) => path.split('/')[0]))).toEqual(new Set(['dist', 'resources', 'package.json']))
  expect(own.filter((path) => /\.(ts|svelte|stamp|env|sqlite|map)$/.test(path))).toEqual([])
})

test('it holds every package the server needs and none that only builds or tests', () => {
  const has = (name: string) => files.includes(`node_modules/${name}/package.json`)
  expect(Object.keys(dependencies).filter((name) => !has(name))).toEqual([])
  // Some, like a type package, are also brought along by one that the server needs.
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  expect(Object.keys(devDependencies).filter((name) => has(name) && packages[`node_modules/${name}`].dev)).toEqual([])
})

test('native parts lie beside the archive, for this platform alone', () => {
  const native = files.filter((path) => path.endsWith('.node') || /\.so(\.\d+)*$/.test(path))
  expect(native.filter((path) => !isUnpacked(path))).toEqual([])
  const prebuilt = native.filter((path) => path.startsWith('node_modules/better-sqlite3/prebuilds/'))
  expect(prebuilt.length).toBeGreaterThan(0)
  expect(prebuilt.filter((path) => !path.includes(`linux`) || !path.includes(process.arch))).toEqual([])
  const engines = new Set(native.filter((path) => path.startsWith('node_modules/@node-llama-cpp/')).map((path) => path.split('/')[2] ?? ''))
  expect([...engines].filter((name) => !name.startsWith(`linux-${process.arch}`))).toEqual([])
  expect(engines).toContain(`linux-${process.arch}`)
})

test('CUDA, the carried Node and what only compiles stay out', () => {
  const left = files.filter((path) =>
    /-cuda.*\/|gitRelease\.bundle|^node_modules\/node-(bin|linux|darwin|win)-|better-sqlite3\/(deps|src)\//.test(path),
  )
  expect(left).toEqual([])
})

test('the fuses are set as they should be', async () => {
  const wire = await getCurrentFuseWire(join(app, 'hearth'))
  expect(wire.version).toBe(FuseVersion.V1)
  const on = (option: FuseV1Options) => wire[option] === FUSE_ON
  expect({
    // The language model's process is this same program, run as Node.
    runAsNode: on(FuseV1Options.RunAsNode),
    cookieEncryption: on(FuseV1Options.EnableCookieEncryption),
    nodeOptions: on(FuseV1Options.EnableNodeOptionsEnvironmentVariable),
    nodeCliInspect: on(FuseV1Options.EnableNodeCliInspectArguments),
    asarIntegrity: on(FuseV1Options.EnableEmbeddedAsarIntegrityValidation),
    onlyLoadAppFromAsar: on(FuseV1Options.OnlyLoadAppFromAsar),
    fileProtocolPrivileges: on(FuseV1Options.GrantFileProtocolExtraPrivileges),
  }).toEqual({
    runAsNode: true,
    cookieEncryption: true,
    nodeOptions: false,
    nodeCliInspect: false,
    asarIntegrity: true,
    onlyLoadAppFromAsar: true,
    fileProtocolPrivileges: false,
  })
})

/** Starts the packed server on Node, hands its address to `use`, and ends it. */
async function withPackedServer(data: string, more: Record<string, string>, use: (url: string) => Promise<void>): Promise<void> {
  const env = {
    PATH: dirname(process.execPath),
    NODE_ENV: 'production',
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: '0',
    SERVICE_DISCOVERY: '0',
    ...more,
  }
  const options: SpawnOptions = { cwd: unpacked, env: { ...env, SERVICE_DATA_PATH: data }, stdio: ['ignore', 'pipe', 'inherit'] }
  const server = spawn(process.execPath, ['dist/server/server.js'], options)
  try {
    let url: string | undefined
    for await (const line of createInterface({ input: server.stdout as Readable })) {
      url = /Hearth ready on (\S+)/.exec(line)?.[1]
      if (url) break
    }
    if (!url) throw new Error('The packed server ended before it was ready')
    await use(url)
  } finally {
    server.kill()
    if (server.exitCode === null) await once(server, 'exit')
  }
}

/** The first thing a packed file says as a thread. */
const firstWord = async (file: string, workerData: object): Promise<unknown> => {
  const worker = new Worker(join(unpacked, 'dist', 'server', file), { workerData, execArgv: [], env: {} })
  try {
    const [word] = await once(worker, 'message')
    return word
  } finally {
    await worker.terminate()
  }
}

test('what was packed is enough: the server starts from it and the model library loads', async () => {
  await withPackedServer(join(folder, 'new'), {}, async (url) => {
    expect(await (await fetch(`${url}/api/status`)).json()).toMatchObject({ status: 'ok' })
    expect(await (await fetch(`${url}/setup`)).text()).toContain('<script type="module"')
  })
  // From a file: the library starts a process of its own with this one's arguments.
  writeFileSync(
    join(unpacked, 'load.mjs'),
    `import { getLlama } from 'node-llama-cpp'\nawait (await getLlama({ gpu: false, build: 'never' })).dispose()\n`,
  )
  await exec(process.execPath, ['load.mjs'], { cwd: unpacked, env: { PATH: dirname(process.execPath) } })
})

test('the packed server remembers, understands and answers over its socket, and its threads run', async () => {
  const data = join(folder, 'used')
  const password = 'a password for the packed'
  const household = { AUTH_SECRET: 'a'.repeat(32), SERVICE_OWNER_PASSWORD: password }
  await withPackedServer(data, household, async (url) => {
    const headers = { 'content-type': 'application/json', origin: url }
    const post = (path: string, body: object, cookie = '') =>
      fetch(`${url}${path}`, { method: 'POST', headers: { ...headers, cookie }, body: JSON.stringify(body) })
    const cookie = (await post('/api/auth/local', { password })).headers.get('set-cookie')?.split(';')[0] ?? ''
    const kept = await post('/api/memory/chunks', { content: 'The spare key hangs behind the boiler.', source: 'manual' }, cookie)
    expect(kept.status).toBe(201)
    const found = await fetch(`${url}/api/memory/chunks?q=where is the spare key`, { headers: { cookie } })
    expect(JSON.stringify(await found.json())).toContain('behind the boiler')
    expect(await (await post('/api/chat', { message: 'What is 6 times 7?' }, cookie)).text()).toContain('42')
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { cookie, origin: url } })
    const [frame] = await once(socket, 'message')
    expect(JSON.parse(String(frame))).toMatchObject({ type: 'welcome' })
    socket.close()
  })
  const calendar = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//test', 'END:VCALENDAR', ''].join('\r\n')
  expect(await firstWord('ics-worker.js', { body: Buffer.from(calendar), zone: 'UTC' })).toMatchObject({ kind: 'all' })
  const order = { databasePath: join(data, 'hearth.sqlite'), folder: join(data, 'graphs'), model: 'none', owner: null, changed: null }
  expect(await firstWord('graph-worker.js', order)).toEqual({ kind: 'none' })
})
