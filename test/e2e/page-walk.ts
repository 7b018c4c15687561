import { mkdirSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright'
import { expect } from 'vitest'
import type { Api } from '../support/house.ts'
import { BY_ENVIRONMENT, dataRoot, type ServerProcess, startServer } from '../support/process.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { expectAccessible, expectContrast, openChromium, openContext, picture, screens } from './browser.ts'

/** One page in one state, as the walk through all of them comes to it. */
export interface Visit {
  name: string
  path: string
  ready(page: Page): Promise<unknown>
  /** A house that nobody has set up yet, in place of the one that is lived in. */
  isFresh?: boolean
  signedIn?: boolean
  before?(page: Page): Promise<unknown>
}

export const title = (name: string | RegExp) => (page: Page) => page.getByRole('heading', { name }).first().waitFor()
export const failing = (api: string) => (page: Page) =>
  page.route(api, (route) => route.fulfill({ status: 500, json: { error: 'Something went wrong.', code: 'internal', requestId: 'r-1' } }))

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

/** A house as a family leaves it, and one that is still to be set up, with a browser to look at them. */
export async function openHouses() {
  const empty = dataRoot()
  const lived = dataRoot()
  mkdirSync(lived.file('models'), { recursive: true })
  writeScriptedGguf(lived.file('models', 'scripted.gguf'))
  const [browser, fresh, house] = await Promise.all([
    openChromium(),
    startServer(empty.path),
    startServer(lived.path, { env: BY_ENVIRONMENT }),
  ])
  const cookies = await fill(house)
  return {
    walk: (sizes: (keyof typeof screens)[], visits: Visit[]) => walk({ browser, fresh, house, cookies }, sizes, visits),
    async close() {
      await browser.close()
      await fresh.stop()
      await house.stop()
      empty[Symbol.dispose]()
      lived[Symbol.dispose]()
    },
  }
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>

/** Answers what a browser is signed in with. */
async function fill(house: ServerProcess): Promise<Cookies> {
  const owner = await house.owner()
  const [name = '', value = ''] = (owner.jar.header().split('; ')[0] ?? '').split(/=(.*)/)
  const cookies: Cookies = [{ name, value, domain: '127.0.0.1', path: '/', expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' }]
  for (const message of ['What is the weather like?', 'Please count for me'])
    await (await owner.api.chat.send({ body: { message } })).text()
  // While no device is paired, these are for the owner's own windows.
  await owner.api.notifications.send({ body: { title: 'The back door is open', body: 'Since ten minutes.', level: 'critical' } })
  await owner.api.notifications.send({
    body: { title: 'Ring the chimney sweep', body: 'He comes on Thursdays only.', category: 'REMINDER' },
  })
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
  return cookies
}

interface Houses {
  browser: Browser
  fresh: ServerProcess
  house: ServerProcess
  cookies: Cookies
}

/** No layout changes between the widest two, so that axe has seen both with one. */
export const walks: { on: string; sizes: (keyof typeof screens)[] }[] = [
  { on: 'a phone', sizes: ['phone'] },
  { on: 'wide screens', sizes: ['desktop', 'tv'] },
]

async function expectNothingSticksOut(page: Page, about: string): Promise<void> {
  const byPx = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  expect(byPx, `${about} is wider than its window`).toBeLessThanOrEqual(0)
}

/**
 * Looks at each page on one screen and wider ones, in both colours: nothing sticks out, and axe finds nothing. A page is
 * opened once for all of them, and what axe says of it holds for both colours but for the contrast.
 */
async function walk({ browser, fresh, house, cookies }: Houses, sizes: (keyof typeof screens)[], visits: Visit[]): Promise<void> {
  const [first = 'phone', ...wider] = sizes
  const { context, page, faults } = await openContext(browser, first)
  for (const visit of visits) {
    const { port } = visit.isFresh ? fresh : house
    await context.clearCookies()
    if (visit.signedIn) await context.addCookies(cookies)
    await visit.before?.(page)
    await page.goto(`http://127.0.0.1:${port}${visit.path}`)
    await visit.ready(page)
    await page.evaluate(() => document.fonts.ready)
    const shoot = (size: string, colours: string) => picture(page, `page-${visit.name}-${size}-${colours}`)
    await shoot(first, 'light')
    await expectNothingSticksOut(page, `${visit.name} on a ${first}`)
    await expectAccessible(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await shoot(first, 'dark')
    await expectContrast(page)
    for (const size of wider) {
      await page.setViewportSize(screens[size])
      await expectNothingSticksOut(page, `${visit.name} on a ${size}`)
      await shoot(size, 'dark')
      await page.emulateMedia({ colorScheme: 'light' })
      await shoot(size, 'light')
    }
    await page.unrouteAll()
    // Nothing of this page is asked of the next one's answers.
    await page.goto('about:blank')
    await page.setViewportSize(screens[first])
    await page.emulateMedia({ colorScheme: 'light' })
  }
  expect(faults).toEqual([])
  await context.close()
}
