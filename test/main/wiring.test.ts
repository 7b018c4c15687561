import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { STATUS_PAGE } from '../../main/local-pages.ts'
import { texts } from '../../main/texts.ts'
import { verbs } from '../../main/verbs.contract.ts'
import { desktop, ensureBuilt, server } from '../../scripts/build.mjs'

const root = join(import.meta.dirname, '..', '..')
const PASSWORD = 'a long enough password'

/** What the stand-in tells of. */
interface Told {
  window?: object
  load?: string
  cookie?: { name: string; httpOnly: boolean }
  tray?: string
  server?: number
  hidden?: boolean
  answer?: unknown
}

let data: string
const running: ChildProcess[] = []

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'hearth-wiring-'))
  for (const part of [server, desktop]) await ensureBuilt(part)
})
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})
afterAll(() => rmSync(data, { recursive: true, force: true }))

/** The app as built, under plain Node with a stand-in for Electron, with a real server. */
function launch() {
  const env = { ...process.env, SERVICE_DATA_PATH: data, SERVICE_PORT: '0', SERVICE_DISCOVERY: '0' }
  const child = fork(join(root, 'dist/main/main.js'), {
    env,
    execArgv: ['--import', join(import.meta.dirname, 'support/electron-hook.ts')],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  running.push(child)
  const told: Told[] = []
  child.on('message', (message) => told.push(message as Told))
  const heard = <K extends keyof Told>(what: K) => told.flatMap((one) => (one[what] === undefined ? [] : [one[what]]))
  const until = <K extends keyof Told>(what: K, is: (value: NonNullable<Told[K]>) => boolean) =>
    vi.waitFor(() => expect(heard(what).some((value) => is(value as NonNullable<Told[K]>))).toBe(true), { timeout: 15_000, interval: 25 })
  return { child, heard, until, act: (message: object) => child.send(message) }
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false // ESRCH: it has ended
  }
}

test('first boot opens set-up with its PIN; closing hides the window; quitting stops the server', async () => {
  const app = launch()
  await app.until('load', (address) => /\/setup#pin=\d{6}$/.test(address))
  expect(app.heard('load')[0]).toBe(STATUS_PAGE)
  expect(app.heard('window')[0]).toMatchObject({ contextIsolation: true, sandbox: true, nodeIntegration: false })
  expect(app.heard('cookie')).toEqual([])

  const address = new URL(app.heard('load').at(-1) ?? '')
  const setup = await fetch(new URL('/api/setup', address), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: address.origin },
    body: JSON.stringify({ pin: address.hash.slice('#pin='.length), owner: { name: 'Ada', password: PASSWORD } }),
  })
  expect(setup.status).toBe(201)

  app.act({ close: true })
  await app.until('hidden', Boolean)
  const [server = 0] = app.heard('server')
  expect(isRunning(server)).toBe(true)
  app.act({ tray: texts.quit })
  expect(await once(app.child, 'exit')).toEqual([0, null])
  expect(isRunning(server)).toBe(false)
})

test('from then on the window signs in by itself, pauses, resumes and resets the password', async () => {
  const app = launch()
  await app.until('load', (address) => /^http:.*:\d+\/$/.test(address))
  expect(app.heard('cookie')).toMatchObject([{ name: 'hearth_session', httpOnly: true }])
  const address = app.heard('load').at(-1) ?? ''
  const signIn = (password: string) =>
    fetch(new URL('/api/auth/local', address), {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: new URL(address).origin },
      body: JSON.stringify({ password }),
    })

  app.act({ verb: verbs.resetPassword, from: address, args: ['from a page of the server'] })
  await app.until('answer', (answer) => answer === 'Not for this page.')
  expect((await signIn(PASSWORD)).status).toBe(204)
  app.act({ verb: verbs.resetPassword, from: STATUS_PAGE, args: ['another long password'] })
  await app.until('answer', (answer) => answer === null)
  expect((await signIn('another long password')).status).toBe(204)

  app.act({ tray: texts.pause })
  await app.until('tray', (state) => state === texts.status.stopped)
  await expect(fetch(address)).rejects.toThrow()
  app.act({ verb: verbs.status, from: STATUS_PAGE })
  await app.until('answer', (answer) => JSON.stringify(answer).includes(texts.resume))
  app.act({ verb: verbs.resume, from: STATUS_PAGE })
  await vi.waitFor(() => expect(app.heard('cookie')).toHaveLength(2), { timeout: 15_000 })
  app.act({ tray: texts.quit })
  expect(await once(app.child, 'exit')).toEqual([0, null])
})
