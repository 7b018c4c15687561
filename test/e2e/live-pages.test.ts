import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { startStandIn } from '../mcp/tool-server-stand-in.ts'
import { startHub, type TestHub } from '../models/hub-server.ts'
import { modelsFolder } from '../models/llm-harness.ts'
import { json, readLink } from '../support/credentials.ts'
import type { Browser as Owner } from '../support/house.ts'
import { BY_ENVIRONMENT, dataRoot, PASSWORD, type ServerProcess, startServer } from '../support/process.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { openChromium, openContext } from './browser.ts'

vi.setConfig({ testTimeout: 120_000 })

/** Far shorter than the minute after which a page looks by itself. */
const LIVE = { timeout: 20_000 }
const data = dataRoot()
let hub: TestHub
let server: ServerProcess
let owner: Owner
let browser: Browser
const faults: string[] = []

beforeAll(async () => {
  expect(existsSync(join(import.meta.dirname, '..', '..', 'dist', 'renderer', 'index.html')), 'the window is built').toBe(true)
  hub = await startHub()
  server = await startServer(data.path, { env: { ...BY_ENVIRONMENT, SERVICE_MODEL_HUB_URL: hub.url } })
  owner = await server.owner()
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
  await server?.stop()
  await hub?.[Symbol.asyncDispose]()
  data[Symbol.dispose]()
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(faults.splice(0)).toEqual([])
})

/** The page of the owner, once its line to the server is open. */
async function open(path: string): Promise<Page> {
  const { page, context } = await openContext(browser, 'desktop')
  page.on('pageerror', (error) => faults.push(error.message))
  await context.request.post(`${server.url}/api/auth/local`, { data: { password: PASSWORD }, headers: { origin: server.url } })
  const heard = page.waitForEvent('websocket').then((socket) => socket.waitForEvent('framereceived'))
  await page.goto(server.url + path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await heard
  return page
}
const shows = (page: Page, words: string | RegExp) => page.getByRole('main').getByText(words).first().waitFor(LIVE)
const gone = (page: Page, words: string) =>
  page
    .getByRole('main')
    .getByText(words)
    .first()
    .waitFor({ state: 'detached', ...LIVE })

async function addPerson(name: string): Promise<void> {
  const { household, persons } = await owner.api.household.get()
  const { id: _, displayName, timezone, locale } = { ...household }
  await owner.api.household.replace({
    body: { displayName, timezone, locale, mode: 'multi', persons: [...persons, { displayName: name }] },
  })
}

it('shows somebody who was added elsewhere, also after the server was away', async () => {
  const page = await open('/household')
  await addPerson('Benedikta')
  await shows(page, 'Benedikta')
  const { port } = server
  await server.kill()
  server = await startServer(data.path, { env: { ...BY_ENVIRONMENT, SERVICE_MODEL_HUB_URL: hub.url, SERVICE_PORT: String(port) } })
  owner = await server.owner()
  await addPerson('Casimir')
  await shows(page, 'Casimir')
})

it('shows a device that is paired and let go elsewhere', async () => {
  const page = await open('/paired-devices')
  const { secret, code } = readLink((await owner.api.pairing.start({ body: {} })).qr)
  const deviceInfo = { name: 'Kitchen tablet', type: 'tablet' }
  const paired = await server.stranger().fetch('/api/auth/pair/complete', json({ code, secret, deviceInfo }))
  expect(paired.status).toBe(200)
  await shows(page, 'Kitchen tablet')
  const device = (await owner.api.pairedDevices.list()).find(({ name }) => name === 'Kitchen tablet')
  await owner.api.pairedDevices.revoke({ params: { id: device?.id ?? '' } })
  await gone(page, 'Kitchen tablet')
})

it('shows what is done elsewhere, and tool servers that come and go', async () => {
  const runs = await open('/actions?show=runs')
  await owner.api.actions.execute({ params: { name: 'http_request' }, body: { url: 'http://127.0.0.1:9/' } }).catch(() => undefined) // refused, and written down
  await runs.getByRole('main').getByRole('list').getByRole('listitem').first().waitFor(LIVE)
  const servers = await open('/actions?show=servers')
  const { id } = await owner.api.mcp.add({ body: { name: 'shed', url: 'http://127.0.0.1:9/mcp' } })
  await shows(servers, 'shed')
  await shows(servers, 'Not reached')
  await using shed = await startStandIn()
  shed.tool({ name: 'water' })
  shed.tool({ name: 'guess', inputSchema: { type: 'object', properties: { code: { type: 'string', pattern: '^(a+)\\1$' } } } })
  await owner.api.mcp.update({ params: { id }, body: { url: shed.url } })
  await shows(servers, 'Connected')
  await shows(servers, 'guess: A pattern repeats too much, or refers back to what it matched.')
  await owner.api.mcp.remove({ params: { id } })
  await gone(servers, 'shed')
})

it('shows a model on its way and there', async () => {
  using folder = modelsFolder()
  writeScriptedGguf(folder.file('made.gguf'), { embeds: true })
  hub.files.set('hearth/models/made-here.gguf', readFileSync(folder.file('made.gguf')))
  const page = await open('/models')
  await owner.api.models.download({ body: { repo: 'hearth/models', file: 'made-here.gguf' } })
  await shows(page, 'made-here')
  await expect.poll(async () => (await owner.api.models.overview()).installed.map(({ name }) => name), LIVE).toEqual(['made-here'])
  const [download] = (await owner.api.models.overview()).downloads
  if (download) await owner.api.models.cancelDownload({ params: { id: download.id } })
  await owner.api.models.remove({ params: { name: 'made-here' } })
  await gone(page, 'made-here')
})
