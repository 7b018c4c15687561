import type { Page, WebSocketRoute } from 'playwright'
import { beforeAll, expect, test, vi } from 'vitest'
import { focusNow, press, pressUntil } from './arrows.ts'
import { expectAccessible, expectReadableAcrossARoom, picture } from './browser.ts'
import { setStage } from './stage.ts'

vi.setConfig({ testTimeout: 180_000 })

/** A TV, moved by a remote control alone. */

const stage = setStage({ SERVICE_ALLOWED_HOSTS: 'hearth.test' })
beforeAll(async () => {
  const within = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
  for (let count = 1; count <= 14; count++) await stage.owner.api.todos.create({ body: { title: `Chore ${count}`, dueAt: within(count) } })
  await stage.owner.api.todos.create({ body: { title: 'Milk', list: 'shopping' } })
  for (let count = 1; count <= 3; count++)
    await stage.owner.api.calendar.create({ body: { title: `Visit ${count}`, startAt: within(count * 600) } })
  await stage.owner.api.timers.create({ body: { durationMs: 6_000_000, name: 'The cake' } })
  for (let count = 1; count <= 8; count++)
    await stage.owner.api.memory.addChunk({ body: { source: 'note', content: `Note ${count} of the house.`, pinned: count === 1 } })
})

const soon = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 })
const statusOf = async (id: string) => (await stage.owner.api.notifications.get({ params: { id } })).status

/** The line of a page to the server, as somebody may pull and plug it. */
async function pluggable(page: Page): Promise<{ pull(): Promise<void>; plug(): void }> {
  let isPulled = false
  const lines = new Set<WebSocketRoute>()
  await page.routeWebSocket(/\/ws$/, (line) => {
    if (isPulled) return void line.close()
    line.connectToServer()
    lines.add(line)
  })
  return {
    async pull() {
      isPulled = true
      for (const line of lines) await line.close()
      lines.clear()
    },
    plug() {
      isPulled = false
    },
  }
}

/** A TV that was let in with the code that it shows. */
async function openTv(dark = false) {
  const opened = await stage.open('tv', { dark })
  const { page } = opened
  const line = await pluggable(page)
  const base = `http://hearth.test:${stage.server.port}`
  await page.goto(`${base}/pair`)
  const pattern = /[A-Z2-9]{3}-[A-Z2-9]{3}/
  await page.getByText(pattern).first().waitFor()
  const userCode = pattern.exec(await page.locator('body').innerText())?.[0] ?? ''
  const known = new Set((await stage.owner.api.pairedDevices.list()).map(({ id }) => id))
  await stage.owner.api.pairing.approve({ body: { userCode } })
  await page.getByRole('list', { name: 'Your house' }).waitFor()
  const connected = async () => (await stage.owner.api.pairedDevices.list()).find(({ id, isConnected }) => isConnected && !known.has(id))
  await soon(async () => (await connected())?.type).toBe('tv')
  const deviceId = (await connected())?.id ?? ''
  return { ...opened, base, deviceId, line }
}

const areas = (page: Page) => page.getByRole('navigation', { name: 'Areas' })

/** Goes to an area from wherever one is, through the row at the top and what stands behind “More”. */
async function goTo(page: Page, name: string): Promise<void> {
  await pressUntil(page, 'ArrowUp', areas(page))
  const direct = areas(page).getByRole('link', { name })
  const isDirect = await direct.isVisible()
  const target = isDirect ? direct : areas(page).getByRole('button', { name: /^More/ })
  for (let step = 0; step < 8; step++) await press(page, 'ArrowLeft')
  await pressUntil(page, 'ArrowRight', target)
  await page.keyboard.press('Enter')
  if (isDirect) return
  const link = page.getByRole('dialog').getByRole('link', { name })
  await link.waitFor()
  await pressUntil(page, 'ArrowDown', link)
  await page.keyboard.press('Enter')
}

test('every area is reached by arrows alone, and the focus is always seen', async () => {
  const { page } = await openTv()
  expect(await page.evaluate(() => window.isSecureContext)).toBe(false)
  const pages: [area: string, path: string, there: string | RegExp][] = [
    ['Home', '/', 'Chore 1'],
    ['Notifications', '/notifications', 'Nothing so far'],
    ['To-dos', '/todos', 'Chore 14'],
    ['Timers', '/timers', 'The cake'],
    ['Calendar', '/calendar', 'Visit 1'],
    ['Chat', '/chat', /Good |Still up/],
    ['Memory', '/memory', 'Note 8'],
    ['Household', '/household', /Owner/],
    ['Actions', '/actions', 'add_todo'],
    ['Settings', '/settings', 'Keep this screen on'],
  ]
  for (const [area, path, there] of pages) {
    await goTo(page, area)
    await page.waitForURL((url) => url.pathname === path)
    await page.getByRole('main').getByText(there).first().waitFor()
    await page.evaluate(() => document.fonts.ready)
    await picture(page, `tv-${path.slice(1) || 'home'}`)
    await expectReadableAcrossARoom(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await picture(page, `tv-${path.slice(1) || 'home'}-dark`)
    await expectReadableAcrossARoom(page)
    await page.emulateMedia({ colorScheme: 'light' })
    for (const arrow of ['ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp', 'ArrowRight'] as const)
      for (let step = 0; step < 4; step++) await press(page, arrow)
    for (let step = 0; step < 12; step++) await press(page, 'ArrowDown')
    // Nothing that was walked over has been changed by that.
    expect(new URL(page.url()).search).toBe('')
  }
})

const banner = (page: Page) => page.getByRole('region', { name: 'New notification' })

async function send(
  deviceId: string,
  title: string,
  more: { category?: 'REMINDER'; level?: 'critical'; data?: Record<string, string> } = {},
) {
  const sent = await stage.owner.api.notifications.send({ body: { title, body: 'Told by the house.', deviceId, ...more } })
  if ('items' in sent) throw new Error('one device makes one record')
  return sent.id
}

test('a TV on plain HTTP shows notifications large, has them answered by arrows, and shows exactly what it missed', async () => {
  const { page, base, deviceId, line } = await openTv()
  const chore = await stage.owner.api.todos.create({ body: { title: 'Feed the fish' } })
  await pressUntil(page, 'ArrowDown', page.getByRole('link', { name: 'Open: Timers' }).or(page.getByRole('textbox').first()))
  const { on: before } = await focusNow(page)

  // A reminder comes: it takes the focus itself, none of its buttons does, and OK pressed just then does nothing.
  const reminder = await send(deviceId, 'Feed the fish', { category: 'REMINDER', data: { todoId: chore.id } })
  await banner(page).getByText('Feed the fish').first().waitFor()
  await soon(() => statusOf(reminder)).toBe('delivered')
  await soon(() => banner(page).evaluate((element) => element === document.activeElement)).toBe(true)
  await page.keyboard.press('Enter')
  expect(await statusOf(reminder)).toBe('delivered')
  await picture(page, 'tv-banner')
  await expectAccessible(page)
  await expectReadableAcrossARoom(page)
  await pressUntil(page, 'ArrowDown', page.getByRole('button', { name: 'Snooze 15 min: Feed the fish' }), 4)
  await page.keyboard.press('Enter')
  await soon(() => statusOf(reminder)).toBe('read')
  const snoozed = (await stage.owner.api.todos.list({ query: { status: 'open' } })).find(({ id }) => id === chore.id)
  expect(Date.parse(snoozed?.remindAt ?? '') - Date.now()).toBeGreaterThan(13 * 60_000)
  await banner(page).waitFor({ state: 'detached' })
  expect((await focusNow(page)).on).toBe(before)

  // An urgent one is dismissed; Back leaves another unread.
  const urgent = await send(deviceId, 'The cellar is wet', { level: 'critical' })
  await banner(page).getByText('Urgent').waitFor()
  await picture(page, 'tv-banner-urgent')
  await expectReadableAcrossARoom(page)
  await pressUntil(page, 'ArrowDown', page.getByRole('button', { name: 'Dismiss: The cellar is wet' }), 4)
  await page.keyboard.press('Enter')
  await soon(() => statusOf(urgent)).toBe('read')
  const left = await send(deviceId, 'The post is here')
  await banner(page).getByText('The post is here').waitFor()
  await page.keyboard.press('Escape')
  await banner(page).waitFor({ state: 'detached' })
  expect(await statusOf(left)).toBe('delivered')

  // The line is cut, three are missed, and just these are told of when it is back.
  const isConnected = async () => (await stage.owner.api.pairedDevices.list()).find(({ id }) => id === deviceId)?.isConnected
  await line.pull()
  await soon(isConnected).toBe(false)
  const missed = [await send(deviceId, 'One'), await send(deviceId, 'Two'), await send(deviceId, 'Three')]
  expect(await Promise.all(missed.map(statusOf))).toEqual(['pending', 'pending', 'pending'])
  line.plug()
  await banner(page).getByText('3 notifications while you were away').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${base}/notifications`)
  const entries = page.getByRole('list', { name: 'Notifications' }).getByRole('listitem')
  await soon(() => entries.locator('.title').allTextContents()).toEqual([
    'Three',
    'Two',
    'One',
    'The post is here',
    'The cellar is wet',
    'Feed the fish',
  ])
  for (const id of missed) await soon(() => statusOf(id)).toBe('delivered')
  await picture(page, 'tv-notifications-missed')
  await expectReadableAcrossARoom(page)

  // Each is read by arrows; what had the focus goes, and a neighbour has it.
  for (const title of ['Three', 'Two']) {
    await pressUntil(page, 'ArrowDown', page.getByRole('button', { name: `Dismiss: ${title}`, exact: true }))
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: `Dismiss: ${title}`, exact: true }).waitFor({ state: 'detached' })
    await soon(async () => (await focusNow(page)).fault).toBeNull()
  }
  for (const id of missed.slice(1)) await soon(() => statusOf(id)).toBe('read')
  await page.reload()
  await soon(() => entries.count()).toBe(6)
  expect(await banner(page).count()).toBe(0)
})

test('a large notification leaves by itself, but for an urgent one; several come one after the other', async () => {
  const { page, deviceId } = await openTv(true)
  await page.clock.install()
  await send(deviceId, 'The bread is done')
  await banner(page).getByText('The bread is done').waitFor()
  await picture(page, 'tv-banner-dark')
  await expectReadableAcrossARoom(page)
  await page.clock.fastForward(13_000)
  await banner(page).waitFor({ state: 'detached' })
  await send(deviceId, 'The cellar is wet', { level: 'critical' })
  await banner(page).getByText('The cellar is wet').waitFor()
  await send(deviceId, 'The post is here')
  await banner(page).getByText('and 1 more').waitFor()
  await page.clock.fastForward(60_000)
  await banner(page).getByText('The cellar is wet').waitFor()
  // What is being written is not taken from under the hands; read elsewhere, it goes.
  await page.keyboard.press('Escape')
  await banner(page).getByText('The post is here').waitFor()
  await page.clock.fastForward(13_000)
  await banner(page).waitFor({ state: 'detached' })
  const field = page.getByRole('textbox', { name: 'Message to Hearth' })
  await field.fill('Good even')
  const id = await send(deviceId, 'Somebody is at the door', { level: 'critical' })
  await banner(page).getByText('Somebody is at the door').waitFor()
  expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
  await page.evaluate(
    (path) =>
      fetch(path, { method: 'POST', headers: { 'content-type': 'application/json', 'x-hearth-request': '1' }, body: '{"status":"read"}' }),
    `/api/notifications/${id}/ack`,
  )
  await banner(page).waitFor({ state: 'detached' })
  expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
})
