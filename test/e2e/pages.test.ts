import { mkdirSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Api } from '../support/house.ts'
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
  await fillDays(owner.api)
  await owner.api.keys.create({ body: { label: 'Shell on the workbench', scope: 'member' } })
})

/** People, lists, timers and events as a family has them. */
async function fillDays(api: Api): Promise<void> {
  const { household, persons } = await api.household.get()
  const { displayName, timezone, locale } = household
  const child = { displayName: 'Byron', role: 'child' as const, birthDate: '2017-12-01', aliases: ['Rabbit'], pronouns: '' }
  const name = 'Anne Isabella Noel Milbanke, Baroness Wentworth'
  const grown = { displayName: name, role: 'adult' as const, birthDate: null, aliases: [], pronouns: 'she/her' }
  await api.household.replace({ body: { displayName, timezone, locale, mode: 'multi', persons: [...persons, child, grown] } })
  const within = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  for (const title of ['Eggs', 'Rye bread from the bakery at the corner, the dark one with the seeds'])
    await api.todos.create({ body: { title, list: 'shopping' } })
  await api.todos.create({ body: { title: 'Descale the kettle', dueAt: within(-30), recurrence: 'FREQ=MONTHLY' } })
  const remind = { dueAt: within(20), remindAt: within(18), ...(persons[0] ? { personId: persons[0].id } : {}) }
  await api.todos.create({ body: { title: 'Ring the chimney sweep', notes: 'He comes on Thursdays only.', ...remind } })
  await api.timers.create({ body: { durationMs: 6_000_000, name: 'The cake with the rather long name' } })
  await api.timers.create({ body: { endsAt: within(17) } })
  await api.timers.create({ body: { durationMs: 1, name: 'Eggs' } })
  await api.calendar.create({ body: { title: 'Choir', startAt: within(1), recurrence: 'FREQ=WEEKLY', location: 'High Street 4' } })
  await api.calendar.create({ body: { title: 'The grandparents visit us', startAt: within(5), endAt: within(60) } })
}

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
  { name: 'home', path: '/', signedIn: true, ready: (page) => page.getByText('Choir').first().waitFor() },
  {
    name: 'home-empty',
    path: '/',
    signedIn: true,
    async before(page) {
      for (const api of ['**/api/todos?**', '**/api/calendar?**', '**/api/timers', '**/api/notifications?**'])
        await page.route(api, (route) => route.fulfill({ json: [] }))
    },
    ready: (page) => page.getByText('Nothing on today or tomorrow.').waitFor(),
  },
  {
    name: 'home-failing',
    path: '/',
    signedIn: true,
    before: failing('**/api/{todos?**,calendar?**,timers,notifications?**,status}'),
    ready: (page) => page.getByText('r-1').nth(4).waitFor(),
  },
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
  { name: 'calendar', path: '/calendar', signedIn: true, ready: (page) => page.getByRole('button', { name: /Choir/ }).first().waitFor() },
  {
    name: 'calendar-month',
    path: '/calendar?view=month',
    signedIn: true,
    ready: (page) => page.getByRole('button', { name: /Choir/ }).first().waitFor(),
  },
  {
    name: 'calendar-event',
    path: '/calendar',
    signedIn: true,
    async ready(page) {
      await page.getByRole('button', { name: 'Add an event' }).click()
      await page.getByRole('dialog').getByLabel('What').waitFor()
    },
  },
  {
    name: 'calendar-outside',
    path: '/calendar?view=outside',
    signedIn: true,
    ready: (page) => page.getByText('None yet.').waitFor(),
  },
  {
    name: 'calendar-empty',
    path: '/calendar',
    signedIn: true,
    before: (page) => page.route('**/api/calendar?**', (route) => route.fulfill({ json: [] })),
    ready: (page) => page.getByText('Nothing on in this time').waitFor(),
  },
  {
    name: 'calendar-failing',
    path: '/calendar',
    signedIn: true,
    before: failing('**/api/calendar?**'),
    ready: (page) => page.getByText('r-1').waitFor(),
  },
  { name: 'todos', path: '/todos', signedIn: true, ready: (page) => page.getByText('Ring the chimney sweep').waitFor() },
  { name: 'todos-shopping', path: '/todos?list=shopping', signedIn: true, ready: (page) => page.getByText('Rye bread').waitFor() },
  {
    name: 'todos-change',
    path: '/todos',
    signedIn: true,
    async ready(page) {
      await page.getByRole('button', { name: 'What to do with Descale the kettle' }).click()
      await page.getByRole('menuitem', { name: 'Change' }).click()
      await page.getByRole('dialog').getByLabel('What').waitFor()
    },
  },
  {
    name: 'todos-empty',
    path: '/todos?list=packing',
    signedIn: true,
    ready: (page) => page.getByText('Nothing stands on this list').waitFor(),
  },
  {
    name: 'todos-failing',
    path: '/todos',
    signedIn: true,
    before: failing('**/api/todos?**'),
    ready: (page) => page.getByText('r-1').waitFor(),
  },
  { name: 'timers', path: '/timers', signedIn: true, ready: (page) => page.getByText('The cake with').first().waitFor() },
  {
    name: 'timers-empty',
    path: '/timers',
    signedIn: true,
    before: (page) => page.route('**/api/timers', (route) => route.fulfill({ json: [] })),
    ready: (page) => page.getByText('Nothing is running').waitFor(),
  },
  {
    name: 'timers-failing',
    path: '/timers',
    signedIn: true,
    before: failing('**/api/timers'),
    ready: (page) => page.getByText('r-1').waitFor(),
  },
  { name: 'household', path: '/household', signedIn: true, ready: (page) => page.getByText('Byron').waitFor() },
  {
    name: 'household-add',
    path: '/household',
    signedIn: true,
    async ready(page) {
      await page.getByRole('button', { name: 'Add a person' }).click()
      await page.getByRole('dialog').getByLabel('Name').waitFor()
    },
  },
  {
    name: 'household-failing',
    path: '/household',
    signedIn: true,
    before: failing('**/api/household'),
    ready: (page) => page.getByText('r-1').first().waitFor(),
  },
  { name: 'nowhere', path: '/nowhere', signedIn: true, ready: (page) => page.getByRole('main').waitFor() },
]

const looks = (Object.keys(screens) as (keyof typeof screens)[]).flatMap((screen) => [false, true].map((dark) => ({ screen, dark })))

test.each(looks)('the pages on a $screen, dark: $dark', { timeout: 600_000 }, async ({ screen, dark }) => {
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
