import { mkdirSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BY_ENVIRONMENT, dataRoot, type ServerProcess, startServer } from '../support/process.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { expectAccessible, openChromium, openContext, picture, screens } from './browser.ts'

/** Every page at every size, light and dark, as it is used, empty and failing: nothing sticks out, and axe finds nothing. */

const empty = dataRoot()
const lived = dataRoot()
let browser: Browser
let fresh: ServerProcess
let house: ServerProcess
let cookies: Awaited<ReturnType<BrowserContext['cookies']>>

beforeAll(async () => {
  mkdirSync(lived.file('models'), { recursive: true })
  writeScriptedGguf(lived.file('models', 'scripted.gguf'))
  browser = await openChromium()
  fresh = await startServer(empty.path)
  house = await startServer(lived.path, { env: BY_ENVIRONMENT })
  const owner = await house.owner()
  const [name = '', value = ''] = (owner.jar.header().split('; ')[0] ?? '').split(/=(.*)/)
  cookies = [{ name, value, domain: '127.0.0.1', path: '/', expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' }]
  for (const message of ['What is the weather like?', 'Please count for me'])
    await (await owner.api.chat.send({ body: { message } })).text()
  const { qr } = await owner.api.pairing.start({ body: { scope: 'guest' } })
  const { code, secret } = JSON.parse(Buffer.from(qr.split('d=')[1] ?? '', 'base64url').toString()) as { code: string; secret: string }
  await house
    .stranger()
    .api.pairing.complete({ body: { code, secret, deviceInfo: { name: 'The kitchen tablet with a rather long name', type: 'tablet' } } })
  await owner.api.memory.addChunk({
    body: { source: 'note', content: 'The spare key is in the blue jar on the kitchen shelf.', pinned: true },
  })
  await owner.api.memory.set({ body: { category: 'house', key: 'Wi-Fi for guests', value: 'hearth-guests / come-on-in' } })
  await owner.api.actions.execute({ params: { name: 'add_todo' }, body: { title: 'Milk', list: 'shopping' } })
  await owner.api.keys.create({ body: { label: 'Shell on the workbench', scope: 'member' } })
})

afterAll(async () => {
  await browser.close()
  await fresh.stop()
  await house.stop()
  empty[Symbol.dispose]()
  lived[Symbol.dispose]()
})

const title = (name: string | RegExp) => (page: Page) => page.getByRole('heading', { name }).first().waitFor()
const failing = (api: string) => (page: Page) =>
  page.route(api, (route) => route.fulfill({ status: 500, json: { error: 'Something went wrong.', code: 'internal', requestId: 'r-1' } }))

interface Visit {
  name: string
  path: string
  ready(page: Page): Promise<unknown>
  server?: () => ServerProcess
  signedIn?: boolean
  before?(page: Page): Promise<unknown>
}

const somebody = Buffer.from(
  JSON.stringify({ v: 2, code: 'ABCDEFGH', secret: 's', servers: ['http://127.0.0.1'], name: 'The Lovelaces' }),
).toString('base64url')

const visits: Visit[] = [
  { name: 'setup', path: '/setup', server: () => fresh, ready: title('Is this your Hearth?') },
  { name: 'login', path: '/login', ready: title('Welcome home') },
  { name: 'pair-link', path: `/pair#d=${somebody}`, ready: title(/Come in to/) },
  { name: 'docs', path: '/docs', ready: (page) => page.getByText('/api/status').first().waitFor() },
  {
    name: 'chat-empty',
    path: '/chat',
    signedIn: true,
    ready: (page) => page.getByRole('textbox', { name: 'Message to Hearth' }).waitFor(),
  },
  {
    name: 'chat-failing',
    path: '/chat',
    signedIn: true,
    before: failing('**/api/chat/conversations?**'),
    ready: (page) => page.getByRole('textbox', { name: 'Message to Hearth' }).waitFor(),
  },
  { name: 'devices', path: '/paired-devices', signedIn: true, ready: (page) => page.getByText('The kitchen tablet').waitFor() },
  {
    name: 'devices-empty',
    path: '/paired-devices',
    signedIn: true,
    before: (page) => page.route('**/api/paired-devices', (route) => route.fulfill({ json: [] })),
    ready: (page) => page.getByText('No device yet').waitFor(),
  },
  {
    name: 'devices-failing',
    path: '/paired-devices',
    signedIn: true,
    before: failing('**/api/paired-devices'),
    ready: (page) => page.getByText('r-1').waitFor(),
  },
  { name: 'settings', path: '/settings', signedIn: true, ready: (page) => page.getByText('Shell on the workbench').waitFor() },
  {
    name: 'settings-failing',
    path: '/settings',
    signedIn: true,
    before: failing('**/api/settings'),
    ready: (page) => page.getByText('r-1').first().waitFor(),
  },
  { name: 'memory', path: '/memory', signedIn: true, ready: (page) => page.getByText('blue jar').first().waitFor() },
  { name: 'memory-facts', path: '/memory?show=facts', signedIn: true, ready: (page) => page.getByText('Wi-Fi for guests').waitFor() },
  { name: 'memory-self', path: '/memory?show=self', signedIn: true, ready: (page) => page.getByLabel('Personality text').waitFor() },
  {
    name: 'memory-empty',
    path: '/memory',
    signedIn: true,
    before: (page) => page.route('**/api/memory/chunks?**', (route) => route.fulfill({ json: { chunks: [] } })),
    ready: (page) => page.getByText('Nothing is remembered yet').waitFor(),
  },
  {
    name: 'memory-failing',
    path: '/memory',
    signedIn: true,
    before: failing('**/api/memory/chunks?**'),
    ready: (page) => page.getByText('r-1').first().waitFor(),
  },
  { name: 'actions', path: '/actions', signedIn: true, ready: (page) => page.getByText('add_todo').first().waitFor() },
  { name: 'actions-runs', path: '/actions?show=runs', signedIn: true, ready: (page) => page.getByText('Add todo').first().waitFor() },
  {
    name: 'actions-servers',
    path: '/actions?show=servers',
    signedIn: true,
    ready: (page) => page.getByText('No tool server yet').waitFor(),
  },
  {
    name: 'actions-failing',
    path: '/actions',
    signedIn: true,
    before: failing('**/api/actions'),
    ready: (page) => page.getByText('r-1').first().waitFor(),
  },
  { name: 'models', path: '/models', signedIn: true, ready: (page) => page.getByText('scripted').first().waitFor() },
  {
    name: 'models-failing',
    path: '/models',
    signedIn: true,
    before: failing('**/api/models'),
    ready: (page) => page.getByText('r-1').first().waitFor(),
  },
  { name: 'nowhere', path: '/nowhere', signedIn: true, ready: (page) => page.getByRole('main').waitFor() },
]

const looks = (Object.keys(screens) as (keyof typeof screens)[]).flatMap((screen) => [false, true].map((dark) => ({ screen, dark })))

test.each(looks)('the pages on a $screen, dark: $dark', { timeout: 180_000 }, async ({ screen, dark }) => {
  const { context, page, faults } = await openContext(browser, screen, dark)
  for (const visit of visits) {
    const { port } = visit.server?.() ?? house
    await context.clearCookies()
    if (visit.signedIn) await context.addCookies(cookies)
    await visit.before?.(page)
    await page.goto(`http://127.0.0.1:${port}${visit.path}`)
    await visit.ready(page)
    await page.evaluate(() => document.fonts.ready)
    await picture(page, `page-${visit.name}-${screen}-${dark ? 'dark' : 'light'}`)
    const sticksOut = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect(sticksOut, `${visit.name} is wider than a ${screen}`).toBeLessThanOrEqual(0)
    await expectAccessible(page)
    await page.unrouteAll()
    await page.goto('about:blank')
  }
  expect(faults).toEqual([])
  await context.close()
})
