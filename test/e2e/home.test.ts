import type { Page } from 'playwright'
import { expect, test, vi } from 'vitest'
import { expectAccessible, picture, type screens } from './browser.ts'
import { setStage } from './stage.ts'

vi.setConfig({ testTimeout: 120_000 })

const stage = setStage()

/** Less than the pages wait before they look again by themselves. */
const LIVE = { timeout: 15_000 }
const today = () => new Date(Date.now() - 60_000).toISOString()

/** The home page in a window of its own, signed in as the owner, whose line to the server stands. */
async function openHome(screen: keyof typeof screens = 'desktop', path = '/'): Promise<Page> {
  const { page } = await stage.openAsOwner(screen)
  const lineStands = page.waitForEvent('websocket').then((socket) => socket.waitForEvent('framereceived'))
  await page.goto(stage.server.url + path)
  await tile(page, 'To-dos').waitFor()
  await lineStands
  return page
}

const tile = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

test('two windows see what the other changes', async () => {
  await stage.owner.api.todos.create({ body: { title: 'Water the ferns', dueAt: today() } })
  const [kitchen, hall] = [await openHome(), await openHome('phone')]
  const ferns = (page: Page) => tile(page, 'To-dos').getByText('Water the ferns')
  await ferns(kitchen).waitFor()
  await ferns(hall).click()
  expect(await hall.getByRole('checkbox', { name: /Water the ferns/ }).isChecked()).toBe(true)
  await ferns(kitchen).waitFor({ state: 'detached', ...LIVE })
  await hall.getByRole('button', { name: 'Undo' }).click()
  await ferns(kitchen).waitFor(LIVE)

  await tile(hall, 'Timers').getByRole('button', { name: '5 mins' }).click()
  const timer = tile(kitchen, 'Timers').getByRole('timer')
  await timer.waitFor(LIVE)
  expect(await timer.textContent()).toMatch(/^\s*[45]:\d\d\s*$/)
  await tile(kitchen, 'Timers')
    .getByRole('button', { name: /^Cancel/ })
    .click()
  await tile(hall, 'Timers').getByText('Nothing is running').waitFor(LIVE)

  const soon = new Date(Date.now() + 60_000).toISOString()
  await stage.owner.api.calendar.create({ body: { title: 'Choir', startAt: soon } })
  for (const page of [kitchen, hall]) await tile(page, 'Next up').getByText('Choir').waitFor(LIVE)

  await stage.owner.api.notifications.send({ body: { title: 'Dinner is ready', body: 'Come down.' } })
  for (const page of [kitchen, hall]) await tile(page, 'What happened').getByText('Dinner is ready').waitFor(LIVE)
  await tile(hall, 'What happened').getByRole('button', { name: 'Mark as read: Dinner is ready' }).click()
  for (const page of [kitchen, hall]) await tile(page, 'What happened').getByText('Nothing new.').waitFor(LIVE)
})

test('an alarm says on which day it rings', async () => {
  await stage.owner.api.timers.create({ body: { endsAt: new Date(Date.now() + 86_400_000).toISOString(), name: 'School' } })
  const page = await openHome('phone')
  await tile(page, 'Timers').getByText('School').waitFor()
  await tile(page, 'Timers').getByText('tomorrow').waitFor()
})

test('a tile fails alone and comes back', async () => {
  const { page } = await stage.openAsOwner('desktop')
  await page.route('**/api/calendar?**', (route) =>
    route.fulfill({ status: 500, json: { error: 'No.', code: 'internal', requestId: 'r-1' } }),
  )
  await page.goto(stage.server.url)
  await tile(page, 'Next up').getByText('r-1').waitFor()
  await tile(page, 'The house').getByText('All is well').waitFor()
  await expectAccessible(page)
  await page.unrouteAll()
  await tile(page, 'Next up').getByRole('button', { name: 'Try again' }).click()
  await tile(page, 'Next up').getByText('r-1').waitFor({ state: 'detached' })
})

test('what is said here is answered in the chat', async () => {
  const page = await openHome('phone')
  await page.getByRole('textbox', { name: 'Message to Hearth' }).fill('put soap on the shopping list')
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'What was said' }).getByText('put soap on the shopping list').waitFor()
  await page.waitForURL(/\/chat\/./)
  await page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name: 'Home' }).click()
  await tile(page, 'To-dos').getByText('1 thing to buy').waitFor(LIVE)
})

test.each(['/calendar', '/memory'])('%s has nothing to press on paper', async (path) => {
  const { page } = await stage.openAsOwner()
  await page.goto(stage.server.url + path)
  await page.getByRole('main').getByRole('button', { name: 'Add' }).first().waitFor()
  const pressed = page.locator('main').locator('.button, .icon-button, input, select').filter({ visible: true })
  expect(await pressed.count()).toBeGreaterThan(0)
  await page.emulateMedia({ media: 'print' })
  expect(await pressed.count()).toBe(0)
})

test('a guest is shown what guests may see', async () => {
  const { qr } = await stage.owner.api.pairing.start({ body: { scope: 'guest' } })
  const { page } = await stage.open('tv')
  await page.goto(`${stage.server.url}/pair#d=${qr.split('d=')[1] ?? ''}`)
  await page.getByRole('button', { name: 'Pair this device' }).click()
  await tile(page, 'What happened').waitFor()
  expect(new URL(page.url()).pathname).toBe('/')
  await page.getByRole('textbox', { name: 'Message to Hearth' }).waitFor()
  const tiles = page.getByRole('list', { name: 'Your house' }).locator('> li')
  expect(await tiles.count()).toBe(1)
})

test('on a TV the tiles are reached and acted on by arrows alone', async () => {
  await stage.owner.api.todos.create({ body: { title: 'Feed the cat', dueAt: today() } })
  const page = await openHome('tv', '/?tv')
  await tile(page, 'To-dos').getByText('Feed the cat').waitFor()
  await picture(page, 'home-on-tv')
  await expectAccessible(page)
  const box = page.getByRole('checkbox', { name: /Feed the cat/ })
  const focused = () => box.evaluate((element) => element === document.activeElement)
  await page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name: 'Home' }).focus()
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowDown']) {
    if (await focused()) break
    await page.keyboard.press(key)
  }
  expect(await focused()).toBe(true)
  await page.keyboard.press('Space')
  await expect
    .poll(async () => (await stage.owner.api.todos.list({ query: { status: 'open' } })).map(({ title }) => title), LIVE)
    .not.toContain('Feed the cat')
})
