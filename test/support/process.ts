import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { api } from '../../server/api.ts'
import { createClient } from '../../server/kit/client.ts'
import type { Browser, Person } from './house.ts'
import { CookieJar, freshAddress, type SendOptions, send } from './http.ts'

const CHECKOUT = join(import.meta.dirname, '..', '..')
/** As the launcher sets it; a start costs a third of the processor time with it. */
const NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? join(CHECKOUT, 'node_modules', '.cache', 'compile')
const READY_MS = 20_000
const EXIT_MS = 12_000

export const PASSWORD = 'correct horse battery'

/** Sets a house up without the wizard. */
export const BY_ENVIRONMENT = { AUTH_SECRET: 'a'.repeat(64), SERVICE_OWNER_PASSWORD: PASSWORD }

/** Closed network, no model, quiet log. */
const BASE_ENV = {
  NODE_ENV: 'test',
  SERVICE_PORT: '0',
  SERVICE_HOST: '127.0.0.1',
  SERVICE_DISCOVERY: '0',
  SERVICE_RATE_LIMIT: '0',
  SERVICE_LOG_LEVEL: 'warn',
  SERVICE_LLM_GPU: 'off',
  SERVICE_LLM_THREADS: '1',
}

export interface Exit {
  status: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** Milliseconds from the start of the process. */
  afterMs: number
}

export interface Run {
  pid: number
  stdout(): string
  stderr(): string
  /** Writes to its standard input; null ends that. */
  type(text: string | null): void
  /** Closes our ends of its standard output and error, as a terminal that goes away does. */
  closeOutput(): void
  /** Resolves with the first match in standard output; rejects when it ends or stays silent for 20 s. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>
  signal(name: NodeJS.Signals): void
  /** SIGKILL, and waits for the end. */
  kill(): Promise<Exit>
  /** SIGTERM, and waits for the end; kills after 12 s. */
  stop(): Promise<Exit>
  exited: Promise<Exit>
  [Symbol.asyncDispose](): Promise<void>
}

export interface RunOptions {
  env?: Record<string, string>
  /** A command that runs what it is given after these words, such as `['nice']`. */
  through?: string[]
}

/** A data root of its own, removed at the end of its scope. */
export function dataRoot(parent: string = tmpdir()): Disposable & { path: string; file(...parts: string[]): string } {
  const path = mkdtempSync(join(parent, 'hearth-process-'))
  return {
    path,
    file: (...parts) => join(path, ...parts),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** Runs a script of `server/` as a process of its own, with nothing of our environment but the path. */
export function run(script: string, dataPath: string, { env = {}, through = [] }: RunOptions = {}): Run {
  const startedAt = performance.now()
  const [command = '', ...args] = [...through, process.execPath, join(CHECKOUT, 'server', script)]
  const passedOn = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_COMPILE_CACHE }
  const child = spawn(command, args, { env: { ...passedOn, ...BASE_ENV, SERVICE_DATA_PATH: dataPath, ...env }, stdio: 'pipe' })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  child.stdin.on('error', () => undefined) // it may end before it has read everything
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, signal) => resolve({ status, signal, stdout, stderr, afterMs: performance.now() - startedAt }))
  })
  const end = async (signal: NodeJS.Signals): Promise<Exit> => {
    child.kill(signal)
    const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_MS)
    return exited.finally(() => clearTimeout(timer))
  }

  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    type: (text) => void (text === null ? child.stdin.end() : child.stdin.write(text)),
    closeOutput() {
      child.stdout.destroy()
      child.stderr.destroy()
    },
    async waitFor(pattern) {
      for (const deadline = performance.now() + READY_MS; performance.now() < deadline; await wait(5)) {
        const match = pattern.exec(stdout)
        if (match) return match
        if (child.exitCode !== null || child.signalCode !== null) break
      }
      throw new Error(`${script} did not say ${pattern}; it exited with ${child.exitCode ?? child.signalCode}.\n${stdout}\n${stderr}`)
    },
    signal: (name) => void child.kill(name),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    exited,
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  }
}

export interface ServerProcess extends Run {
  /** How it is reached over the loopback network. */
  url: string
  port: number
  /** Somebody without a credential. */
  stranger(): Person
  /** The owner, signed in by password in a browser of their own. */
  owner(): Promise<Browser>
  /** Does what the wizard does, with the PIN from standard output. */
  setUp(): Promise<Browser>
}

/** Starts the server as a process and waits until it says that it is ready. */
export async function startServer(dataPath: string, options: RunOptions = {}): Promise<ServerProcess> {
  const child = run('server.ts', dataPath, options)
  const ready = await child.waitFor(/^Hearth ready on https?:\/\/\S+:(\d+)\n/m).catch(async (error: unknown) => {
    await child.kill()
    throw error
  })
  const port = Number(ready[1])
  const url = `http://127.0.0.1:${port}`

  const person = (headers: () => Record<string, string>, took: (response: Response) => void = () => undefined): Person => {
    const ask = async (path: string, init: RequestInit = {}, sent: SendOptions = {}) => {
      const all = { ...headers(), ...Object.fromEntries(new Headers(init.headers)) }
      const response = await send(url + path, { ...init, headers: all }, { from: freshAddress(), ...sent })
      took(response)
      return response
    }
    return { fetch: ask, api: createClient(api, ask) }
  }
  const browser = (): Browser => {
    const jar = new CookieJar()
    const headers = () => ({ ...(jar.header() && { cookie: jar.header() }), origin: url, 'sec-fetch-site': 'same-origin' })
    return { jar, ...person(headers, (response) => jar.take(response)) }
  }

  return {
    ...child,
    url,
    port,
    stranger: () => person(() => ({})),
    async owner() {
      const signedIn = browser()
      await signedIn.api.auth.local({ body: { password: PASSWORD } })
      return signedIn
    },
    async setUp() {
      const signedIn = browser()
      const pin = child.stdout().match(/^Setup PIN: (\d{6})$/m)?.[1] ?? ''
      await signedIn.api.setup.complete({ body: { pin, owner: { name: 'Ada', password: PASSWORD } } })
      return signedIn
    },
  }
}
