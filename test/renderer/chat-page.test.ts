import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { expectAccessible, openChromium, openContext, picture, screens } from '../e2e/browser.ts'
import { type PacedModel, startPacedModel } from '../support/paced-model.ts'
import { BY_ENVIRONMENT, dataRoot, PASSWORD, type ServerProcess, startServer } from '../support/process.ts'

const data = dataRoot()
let model: PacedModel
let server: ServerProcess
let browser: Browser
const faults: string[] = []

beforeAll(async () => {
  expect(existsSync(join(import.meta.dirname, '..', '..', 'dist', 'renderer', 'index.html')), 'the window is built').toBe(true)
  model = await startPacedModel()
  model.answer('count', 'one two three four five six seven eight nine ten eleven twelve, and so on to a score.')
  model.answer('forever', 'round after lap goes past another bend', { endless: true })
  model.answer('weather', 'It is sunny outside, about twenty degrees.')
  server = await startServer(data.path, { env: { ...BY_ENVIRONMENT, SERVICE_LLM_BASE_URL: model.url } })
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
  await server?.stop()
  await model?.stop()
  data[Symbol.dispose]()
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(faults.splice(0)).toEqual([])
})

/** The chat page in a browser of its own, signed in as the owner. */
async function openChat(path = '/chat', screen: keyof typeof screens = 'desktop', dark = false): Promise<Page> {
  const opened = await openContext(browser, screen, dark)
  opened.page.on('pageerror', (error) => faults.push(error.message))
  const signedIn = await opened.context.request.post(`${server.url}/api/auth/local`, {
    data: { password: PASSWORD },
    headers: { origin: server.url },
  })
  expect(signedIn.status()).toBe(204)
  await opened.page.goto(server.url + path)
  await composer(opened.page).waitFor()
  return opened.page
}

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message to Hearth' })
const said = (page: Page) => page.getByRole('list', { name: 'What was said' }).locator('> li')
const rows = (page: Page) => page.getByRole('navigation', { name: 'Conversations' }).getByRole('link')
const talkId = (page: Page) => /[0-9a-f-]{36}$/.exec(new URL(page.url()).pathname)?.[0] ?? ''

async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

async function act(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'More about this conversation' }).click()
  await page.getByRole('menuitem', { name }).click()
}

it('streams a reply into a conversation of its own address, and announces it once it is there', async () => {
  const page = await openChat()
  await say(page, 'Please count for me')
  await said(page).getByText('one two three').waitFor()
  await said(page).getByText('to a score').waitFor()
  await page.getByRole('button', { name: 'Reply anew' }).waitFor()
  expect(talkId(page)).not.toBe('')
  await expect.poll(() => page.locator('[aria-live=polite]').allInnerTexts()).toContainEqual(expect.stringMatching(/^Hearth: one two/))
  await page.reload()
  await said(page).getByText('to a score').waitFor()
  expect(await said(page).count()).toBe(2)
})

it('stops by Escape, keeps what was said, and replies anew in its place', async () => {
  const page = await openChat()
  await say(page, 'Go on forever')
  await said(page).getByText('round after lap').first().waitFor()
  await page.keyboard.press('Escape')
  await said(page).getByText('Stopped').waitFor()
  const stored = await (await server.owner()).api.chat.get({ params: { id: talkId(page) } })
  expect(stored.messages.map(({ role, status }) => [role, status])).toEqual([
    ['user', 'complete'],
    ['assistant', 'aborted'],
  ])
  await page.getByRole('button', { name: 'Reply anew' }).click()
  await page.getByRole('button', { name: 'Stop the reply' }).click()
  await said(page).getByText('Stopped').waitFor()
  expect(await said(page).count()).toBe(2)
})

it('lets a reply go on while another page is looked at', async () => {
  const page = await openChat()
  await say(page, 'Go on forever')
  await said(page).getByText('round after lap').first().waitFor()
  const before = (await said(page).last().innerText()).length
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
  await page.goBack()
  await expect.poll(async () => (await said(page).last().innerText()).length).toBeGreaterThan(before)
  await page.getByRole('button', { name: 'Stop the reply' }).click()
  await said(page).getByText('Stopped').waitFor()
})

it('follows the end until the reader scrolls up, and jumps back on demand', async () => {
  const page = await openChat()
  await say(page, 'Go on forever')
  const scroller = page.locator('.scroller')
  const left = () => scroller.evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop)
  await expect.poll(() => scroller.evaluate((element) => element.scrollTop), { timeout: 20_000 }).toBeGreaterThan(200)
  expect(await left()).toBeLessThan(60)
  await scroller.hover()
  await page.mouse.wheel(0, -150)
  await page.getByRole('button', { name: 'Jump to the latest' }).waitFor()
  const top = await scroller.evaluate((element) => element.scrollTop)
  await page.waitForTimeout(400)
  expect(await scroller.evaluate((element) => element.scrollTop)).toBe(top)
  await page.getByRole('button', { name: 'Jump to the latest' }).click()
  await expect.poll(left).toBeLessThan(60)
  await composer(page).press('Escape')
})

it('keeps unsent words: over a reload, and where sending fails', async () => {
  const page = await openChat()
  await composer(page).fill('half a thought')
  await page.reload()
  await expect.poll(() => composer(page).inputValue()).toBe('half a thought')

  await page.route('**/api/chat', (route) => route.abort())
  await composer(page).press('Enter')
  await said(page).getByText('Not sent.').waitFor()
  await page.reload()
  await expect.poll(() => composer(page).inputValue()).toBe('half a thought')
  await composer(page).press('Enter')
  await said(page).getByText('Not sent.').waitFor()
  await expectAccessible(page)
  await page.unroute('**/api/chat')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Reply anew' }).waitFor()
  expect(await said(page).count()).toBe(2)
  await page.reload()
  await said(page).getByText('half a thought').waitFor()
  expect(await composer(page).inputValue()).toBe('')
})

it.each([
  [409, 'busy', 'still being written'],
  [503, 'busy', 'talking with many people'],
  [503, 'model_unavailable', 'language model cannot answer'],
  [413, 'too_large', 'too long for one message'],
  [429, 'rate_limited', 'a lot in a short time'],
])('says in plain words what %i %s means, and loses nothing', async (status, code, words) => {
  const page = await openChat()
  const body = JSON.stringify({ error: 'no', code, requestId: randomUUID() })
  await page.route('**/api/chat', (route) => route.fulfill({ status, contentType: 'application/json', body }))
  await say(page, `Will you hear me, ${code}?`)
  await said(page).getByText(words).waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  expect(await composer(page).inputValue()).toBe(`Will you hear me, ${code}?`)
})

it('finds a message again that arrived although its answer was lost', async () => {
  const page = await openChat()
  await page.route('**/api/chat', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await say(page, 'What is the weather like over the sea?')
  await expect.poll(() => talkId(page)).not.toBe('')
  await said(page).getByText('It is sunny outside').waitFor()
  expect(await said(page).count()).toBe(2)
  expect(await said(page).getByText('Not sent.').count()).toBe(0)
})

it('goes on in the conversation that a first message began, where only its reply failed', async () => {
  const page = await openChat()
  const { api } = await server.owner()
  await page.route('**/api/chat/conversations?**', (route) => route.abort())
  model.fail(true)
  await say(page, 'What is the weather like under the sea?')
  await said(page).getByText('language model cannot answer').waitFor()
  await expect.poll(() => talkId(page)).not.toBe('')
  expect(await said(page).getByText('Not sent.').count()).toBe(0)
  expect(await composer(page).inputValue()).toBe('')
  const id = talkId(page)
  model.fail(false)
  await page.getByRole('button', { name: 'Try again' }).click()
  await said(page).getByText('It is sunny outside').waitFor()
  await page.getByRole('button', { name: 'Reply anew' }).waitFor()
  expect(talkId(page)).toBe(id)
  const { messages } = await api.chat.get({ params: { id } })
  expect(messages.map(({ role, status }) => [role, status])).toEqual([
    ['user', 'complete'],
    ['assistant', 'complete'],
  ])
  await page.reload()
  await said(page).getByText('It is sunny outside').waitFor()
  expect([await said(page).count(), await composer(page).inputValue()]).toEqual([2, ''])
})

it('renames, searches, and deletes with a way back', async () => {
  const page = await openChat()
  await say(page, 'Tell me about the weather on the moon')
  await page.getByRole('button', { name: 'Reply anew' }).waitFor()
  await act(page, 'Rename')
  await page.getByRole('textbox', { name: 'Name of the conversation' }).fill('Moon weather')
  await page.keyboard.press('Enter')
  await rows(page).filter({ hasText: 'Moon weather' }).waitFor()
  expect(await page.title()).toBe('Moon weather – Hearth')

  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('/')
  await page.keyboard.type('moon')
  await expect.poll(() => rows(page).count()).toBe(1)
  expect(new URL(page.url()).searchParams.get('q')).toBe('moon')
  await expectAccessible(page)
  await page.keyboard.press('Escape')

  const address = page.url()
  await act(page, 'Delete')
  await expect.poll(() => rows(page).filter({ hasText: 'Moon weather' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await rows(page).filter({ hasText: 'Moon weather' }).waitFor()
  expect(page.url()).toBe(address)
  const id = talkId(page)
  await act(page, 'Delete')
  await page.goto('about:blank')
  const owner = await server.owner()
  await expect.poll(() => owner.api.chat.get({ params: { id } }).then(null, ({ status }) => status)).toBe(404)
})

it('renders a hostile reply inert', async () => {
  const page = await openChat()
  model.answer(
    'nasty',
    [
      '<img src=x onerror="window.harmed=1"><script>window.harmed=2</script>',
      '[script](javascript:window.harmed=3) [data](data:text/html,x) [api](/api/auth/logout) [coded](/%61pi/auth/logout)',
      '[entity](&#106;avascript:window.harmed=4) [bare](//example.org/x) ![picture](https://example.org/a.png)',
      '[settings](/settings) [outside](https://example.org/)',
      '<svg onload="window.harmed=5"></svg><style>body{display:none}</style><b onclick="window.harmed=6">b</b>',
      '```"><img src=x onerror=1>\n</code></pre><script>window.harmed=7</script>\n```',
      '| a | b |\n|--:|---|\n| <script>window.harmed=8</script> | 2 |',
    ].join('\n\n'),
  )
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await say(page, 'Be nasty, please')
  const prose = said(page).last()
  await prose.getByRole('table').waitFor()
  await prose.getByRole('button', { name: 'Copy code' }).waitFor()
  expect(await page.evaluate('window.harmed')).toBeUndefined()
  expect(await prose.locator('img, script, style, b, [onclick], [onload], [onerror], .prose svg:not(.copy svg)').count()).toBe(0)
  const links = await prose.locator('a[href]').evaluateAll((all) => all.map((link) => [link.textContent, link.getAttribute('rel')]))
  expect(links).toEqual([
    ['picture', 'noopener noreferrer'],
    ['settings', null],
    ['outside', 'noopener noreferrer'],
  ])
  expect(asked.filter((url) => !url.startsWith(server.url))).toEqual([])
  await expectAccessible(page)
})

it('copies a message and a code block without the clipboard API', async () => {
  const page = await openChat()
  await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await page.reload()
  model.answer('How do I start', 'Run this:\n\n```sh\nnpm start\n```')
  await say(page, 'How do I start?')
  await page.getByRole('button', { name: 'Copy code' }).click()
  await composer(page).focus()
  await page.keyboard.press('Control+v')
  expect(await composer(page).inputValue()).toBe('npm start')
})

it('shows a long conversation from its end, and the rest as it is scrolled to', async () => {
  const page = await openChat()
  const id = randomUUID()
  const at = new Date().toISOString()
  const messages = Array.from({ length: 300 }, (_, index) => ({
    id: randomUUID(),
    conversationId: id,
    role: index % 2 ? 'assistant' : 'user',
    content: `Message ${index}`,
    status: 'complete',
    model: null,
    createdAt: at,
  }))
  const talk = { id, deviceId: randomUUID(), title: 'Long', createdAt: at, updatedAt: at, messages }
  await page.route(`**/api/chat/conversations/${id}`, (route) => route.fulfill({ json: talk }))
  await page.goto(`${server.url}/chat/${id}`)
  await said(page).getByText('Message 299').waitFor()
  expect(await said(page).count()).toBeLessThan(200)
  expect(await said(page).getByText('Message 0', { exact: true }).count()).toBe(0)
  await expect
    .poll(
      async () => {
        await page.locator('.scroller').evaluate((element) => element.scrollTo(0, 0))
        return said(page).getByText('Message 0', { exact: true }).count()
      },
      { timeout: 15_000 },
    )
    .toBe(1)
})

it('is whole and accessible on every screen, in light and dark, empty, in use and in trouble', { timeout: 120_000 }, async () => {
  const { api } = await server.owner()
  const newest = (await api.chat.search({ query: { q: 'count' } }))[0]?.id
  expect(newest).toBeDefined()
  for (const screen of ['phone', 'desktop', 'tv'] as const) {
    for (const dark of [false, true]) {
      const page = await openChat(screen === 'tv' ? '/chat?tv' : '/chat', screen, dark)
      const shot = (state: string) => picture(page, `chat-${state}-${screens[screen].width}-${dark ? 'dark' : 'light'}`)
      await page.getByRole('list', { name: 'To begin with' }).waitFor()
      await shot('empty')
      await expectAccessible(page)
      await page.goto(`${server.url}/chat/${newest}`)
      await said(page).first().waitFor()
      await shot('normal')
      await expectAccessible(page)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(screens[screen].width)
      await page.route('**/api/chat', (route) => route.abort())
      await say(page, 'Can you hear me?')
      await said(page).getByText('Not sent.').waitFor()
      await shot('error')
      await expectAccessible(page)
      await page.context().close()
    }
  }
})
