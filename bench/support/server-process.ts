import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { api } from '../../server/api.ts'
import { type Client, createClient } from '../../server/kit/client.ts'

const PASSWORD = 'a password for the bench'

export interface ServerProcess {
  pid: number
  url: string
  /** Milliseconds from the start of the process to its ready line. */
  readyMs: number
  dataPath: string
  stop(): Promise<void>
}

/** Pins a command to one core where `taskset` is there, so that server and load do not share one. */
export function pinned(core: 0 | 1, command: string, args: string[]): [string, string[]] {
  return process.platform === 'linux' ? ['taskset', ['-c', String(core), command, ...args]] : [command, args]
}

/** Resolves with the first line of a child's output that matches. */
export function firstLine(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) return reject(new Error('The child has no output to read'))
    const lines = createInterface({ input: child.stdout })
    lines.on('line', (line) => {
      const match = pattern.exec(line)
      if (match) resolve(match)
    })
    child.once('exit', (code) => reject(new Error(`The child ended with ${code} before it was ready`)))
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  await gone
}

/** Starts a Hearth of its own as built, set up by the environment, on a free loopback port. */
export async function startServer({ env = {}, core }: { env?: Record<string, string>; core?: 0 | 1 } = {}): Promise<ServerProcess> {
  const dataPath = mkdtempSync(join(tmpdir(), 'hearth-bench-'))
  const entry = join(import.meta.dirname, '..', '..', 'dist', 'server', 'server.js')
  const [command, args] = core === undefined ? [process.execPath, [entry]] : pinned(core, process.execPath, [entry])
  const startedAt = performance.now()
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'hearth-bench-compile-cache'),
      NODE_ENV: 'production',
      AUTH_SECRET: randomBytes(32).toString('hex'),
      SERVICE_OWNER_PASSWORD: PASSWORD,
      SERVICE_PORT: '0',
      SERVICE_HOST: '127.0.0.1',
      SERVICE_DATA_PATH: dataPath,
      SERVICE_DISCOVERY: '0',
      SERVICE_RATE_LIMIT: '0',
      SERVICE_LOG_LEVEL: 'warn',
      SERVICE_LLM_GPU: 'off',
      ...env,
    },
  })
  const [, url = ''] = await firstLine(child, /Hearth ready on (\S+)/)
  return {
    pid: child.pid ?? 0,
    url,
    readyMs: performance.now() - startedAt,
    dataPath,
    async stop() {
      await end(child)
      rmSync(dataPath, { recursive: true, force: true })
    },
  }
}

/** Starts a peer server (a script that prints `peer on <port>`) on the same core as ours. */
export async function startPeer(script: string, core: 0 | 1): Promise<{ pid: number; url: string; stop(): Promise<void> }> {
  const child = spawn(...pinned(core, process.execPath, [script]), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
  })
  // A bench that breaks off leaves none behind; one that ended cannot be killed again.
  process.once('exit', () => child.exitCode ?? child.kill('SIGTERM'))
  const [, port = ''] = await firstLine(child, /peer on (\d+)/)
  return { pid: child.pid ?? 0, url: `http://127.0.0.1:${port}`, stop: () => end(child) }
}

/** An owner's API key and a paired phone's access token for a server started here. */
export async function credentials({ url }: ServerProcess): Promise<{ key: string; accessToken: string; api: Client<typeof api> }> {
  let cookie = ''
  const client = createClient(api, async (path, init) => {
    const response = await fetch(url + path, { ...init, headers: { ...init.headers, cookie, origin: url } })
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
    return response
  })
  await client.auth.local({ body: { password: PASSWORD } })
  const { key } = await client.keys.create({ body: { label: 'bench', scope: 'admin' } })
  const { qr } = await client.pairing.start({ body: {} })
  const { code, secret } = JSON.parse(Buffer.from(qr.split('d=')[1] ?? '', 'base64url').toString()) as { code: string; secret: string }
  const { accessToken } = await client.pairing.complete({ body: { code, secret, deviceInfo: { name: 'Bench', type: 'phone' } } })
  return { key, accessToken, api: client }
}
