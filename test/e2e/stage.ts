import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { Browser as Person } from '../support/house.ts'
import { BY_ENVIRONMENT, dataRoot, PASSWORD, type ServerProcess, startServer } from '../support/process.ts'
import { openChromium, openContext, type screens } from './browser.ts'

export interface Opened {
  context: BrowserContext
  page: Page
}

export interface Stage {
  readonly server: ServerProcess
  /** Speaks to the server beside the browser. */
  readonly owner: Person
  readonly browser: Browser
  /** A window of its own, without a right to anything yet. */
  open(screen: keyof typeof screens, look?: { dark?: boolean; workers?: 'allow' | 'block' }): Promise<Opened>
  /** A window of its own, signed in as the owner. */
  openAsOwner(screen?: keyof typeof screens): Promise<Opened>
  /** The server again on its old port, after it was killed. */
  startAgain(): Promise<void>
}

const WINDOW = join(import.meta.dirname, '..', '..', 'dist', 'renderer', 'index.html')

/** A server in a process of its own and a browser, for all tests of a file. A fault on any page fails the test it happened in. */
export function setStage(env: Record<string, string> = {}): Stage {
  const data = dataRoot()
  const faults: string[][] = []
  let server: ServerProcess | undefined
  let owner: Person
  let browser: Browser | undefined

  beforeAll(async () => {
    expect(existsSync(WINDOW), 'the window is built').toBe(true)
    server = await startServer(data.path, { env: { ...BY_ENVIRONMENT, ...env } })
    owner = await server.owner()
    browser = await openChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    data[Symbol.dispose]()
  })
  afterEach(async () => {
    for (const context of stage.browser.contexts()) await context.close()
    expect(faults.splice(0).flat()).toEqual([])
  })

  const stage: Stage = {
    get server() {
      if (!server) throw new Error('The server is not started yet')
      return server
    },
    get owner() {
      return owner
    },
    get browser() {
      if (!browser) throw new Error('The browser is not open yet')
      return browser
    },
    async open(screen, { dark = false, workers } = {}) {
      const { faults: seen, ...opened } = await openContext(stage.browser, screen, dark, workers)
      faults.push(seen)
      return opened
    },
    async openAsOwner(screen = 'desktop') {
      const { url } = stage.server
      const opened = await stage.open(screen)
      const options = { data: { password: PASSWORD }, headers: { origin: url } }
      expect((await opened.context.request.post(`${url}/api/auth/local`, options)).status()).toBe(204)
      return opened
    },
    async startAgain() {
      const { port } = stage.server
      server = await startServer(data.path, { env: { ...BY_ENVIRONMENT, ...env, SERVICE_PORT: String(port) } })
    },
  }
  return stage
}
