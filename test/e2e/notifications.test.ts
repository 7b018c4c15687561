import type { Page, WebSocketRoute } from 'playwright'
import { expect, it, vi } from 'vitest'
import { BY_ENVIRONMENT, dataRoot, startServer } from '../support/process.ts'
import { expectAccessible, picture, type screens } from './browser.ts'
import { setStage } from './stage.ts'

vi.setConfig({ testTimeout: 120_000 })

const stage = setStage()

/** Waits as long as a busy machine may need. */
const soon = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 })
const statusOf = async (id: string) => (await stage.owner.api.notifications.get({ params: { id } })).status
const toasts = (page: Page) => page.getByRole('region', { name: 'Messages' })
const entries = (page: Page) => page.getByRole('list', { name: 'Notifications' }).getByRole('listitem')

/** A page on a device of its own, paired through the link that a camera would open. */
async function pair(
  name: string,
  screen: keyof typeof screens,
  prepare?: (page: Page) => Promise<void>,
  workers: 'allow' | 'block' = 'block',
) {
  const opened = await stage.open(screen, { workers })
  await prepare?.(opened.page)
  const { webQr } = await stage.owner.api.pairing.start({ body: { scope: 'member' } })
  await opened.page.goto(`${stage.server.url}/pair${new URL(webQr).hash}`)
  await opened.page.getByLabel('Name of this device').fill(name)
  await opened.page.getByRole('button', { name: 'Pair this device' }).click()
  const deviceId = await soon(
    async () => (await stage.owner.api.pairedDevices.list()).find((device) => device.name === name && device.isConnected)?.id,
  )
    .toBeDefined()
    .then(async () => (await stage.owner.api.pairedDevices.list()).find((device) => device.name === name)?.id ?? '')
  return { ...opened, deviceId }
}

async function send(deviceId: string, title: string, more: { category?: 'REMINDER'; data?: Record<string, string> } = {}) {
  const sent = await stage.owner.api.notifications.send({ body: { title, body: 'Told by the house.', deviceId, ...more } })
  if ('items' in sent) throw new Error('one device makes one record')
  return sent.id
}

it('opens without the server once it was there, and says that it is gone', async () => {
  using own = dataRoot()
  const house = await startServer(own.path, { env: BY_ENVIRONMENT })
  try {
    const { page, context } = await stage.open('phone', { workers: 'allow' })
    await page.goto(`${house.url}/login`)
    await page.getByRole('heading', { name: 'Welcome home' }).waitFor()
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined))
    const manifest = (await (await context.request.get(`${house.url}/manifest.webmanifest`)).json()) as { icons: { src: string }[] }
    for (const { src } of manifest.icons) expect((await context.request.get(house.url + src)).headers()['content-type']).toMatch(/^image\//)
    const kept = await page.evaluate(async () => {
      const names = await caches.keys()
      const requests = await (await caches.open(names[0] ?? '')).keys()
      return { names, paths: requests.map(({ url }) => new URL(url).pathname) }
    })
    expect(kept.names).toHaveLength(1)
    expect(kept.paths).toContain('/')
    expect(kept.paths.filter((path) => path.startsWith('/api/'))).toEqual([])
    await house.kill()
    await page.goto(`${house.url}/todos`)
    await page.getByText('Hearth did not answer.').first().waitFor()
    await page.evaluate(() => document.fonts.ready)
    await picture(page, 'offline-phone')
    await expectAccessible(page)
  } finally {
    await house.kill()
  }
})

it('brings a notification to a phone, counts it and has it read', async () => {
  const { page, deviceId } = await pair('A phone', 'phone')
  const id = await send(deviceId, 'Dinner is ready')
  await toasts(page).getByText('Dinner is ready').waitFor()
  await soon(() => statusOf(id)).toBe('delivered')
  await page.getByRole('button', { name: /^More.*1 unread/ }).click()
  await page
    .getByRole('dialog')
    .getByRole('link', { name: /^Notifications.*1 unread/ })
    .click()
  await entries(page).getByText('Dinner is ready').waitFor()
  await picture(page, 'notifications-phone')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Dismiss: Dinner is ready' }).click()
  await soon(() => statusOf(id)).toBe('read')
  await page.getByRole('button', { name: 'More', exact: true }).waitFor()
})

it('does what the buttons of a reminder say', async () => {
  const { page, deviceId } = await pair('A second phone', 'phone')
  const wash = await stage.owner.api.todos.create({ body: { title: 'Hang up the washing' } })
  const call = await stage.owner.api.todos.create({ body: { title: 'Call the baker' } })
  const first = await send(deviceId, 'Hang up the washing', { category: 'REMINDER', data: { todoId: wash.id } })
  const second = await send(deviceId, 'Call the baker', { category: 'REMINDER', data: { todoId: call.id } })
  await page.goto(`${stage.server.url}/notifications`)
  await page.getByRole('button', { name: 'Mark done: Hang up the washing' }).click()
  await soon(() => statusOf(first)).toBe('read')
  const done = await stage.owner.api.todos.list({ query: { status: 'completed' } })
  expect(done.map(({ title }) => title)).toContain('Hang up the washing')
  await page.getByRole('button', { name: 'Snooze 15 min: Call the baker' }).click()
  await soon(() => statusOf(second)).toBe('read')
  const open = await stage.owner.api.todos.list({ query: { status: 'open' } })
  const snoozed = open.find(({ id }) => id === call.id)
  expect(Date.parse(snoozed?.remindAt ?? '') - Date.now()).toBeGreaterThan(13 * 60_000)
})

it('shows exactly what was missed while the line was cut, told in one go', async () => {
  let isCut = false
  const lines = new Set<WebSocketRoute>()
  const { page, deviceId } = await pair('A tablet', 'desktop', (opened) =>
    opened.routeWebSocket(/\/ws$/, (line) => {
      if (isCut) return void line.close()
      line.connectToServer()
      lines.add(line)
    }),
  )
  await page.goto(`${stage.server.url}/notifications`)
  await page.getByText('Nothing so far').waitFor()
  const isConnected = async () => (await stage.owner.api.pairedDevices.list()).find(({ id }) => id === deviceId)?.isConnected
  await soon(isConnected).toBe(true)
  isCut = true
  for (const line of lines) await line.close()
  await soon(isConnected).toBe(false)
  const missed = [await send(deviceId, 'One'), await send(deviceId, 'Two'), await send(deviceId, 'Three')]
  expect(await Promise.all(missed.map(statusOf))).toEqual(['pending', 'pending', 'pending'])
  isCut = false
  await toasts(page).getByText('3 notifications while you were away').waitFor()
  expect(await toasts(page).getByRole('group').count()).toBe(1)
  for (const id of missed) await soon(() => statusOf(id)).toBe('delivered')
  await soon(() => entries(page).count()).toBe(3)
  await page.getByRole('link', { name: /^Notifications.*3 unread/ }).waitFor()
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  for (const id of missed) await soon(() => statusOf(id)).toBe('read')
  await page.reload()
  await soon(() => entries(page).count()).toBe(3)
  expect(await toasts(page).getByRole('group').count()).toBe(0)
})

it('has the system show what comes while the window is out of sight, where that was switched on', async () => {
  const { page, context, deviceId } = await pair('A phone in a pocket', 'phone', undefined, 'allow')
  await context.grantPermissions(['notifications'], { origin: stage.server.url })
  await page.goto(`${stage.server.url}/settings`)
  const card = page.getByRole('region', { name: 'Notifications on this device' })
  const onOff = card.getByRole('switch')
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined))
  await soon(() => onOff.getAttribute('aria-checked')).toBe('true')
  // A browser without a network of its own reaches no push service, and says so.
  await card.getByText('the push service of this browser did not answer').waitFor()
  await expectAccessible(page)
  await page.evaluate(() => Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' }))
  const todo = await stage.owner.api.todos.create({ body: { title: 'Water the mint' } })
  const shown = () =>
    page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready
      return (await registration.getNotifications()).map(({ title, tag }) => ({ title, tag }))
    })
  const first = await send(deviceId, 'Water the mint', { category: 'REMINDER', data: { todoId: todo.id } })
  await soon(shown).toEqual([{ title: 'Water the mint', tag: first }])
  await soon(() => statusOf(first)).toBe('delivered')
  expect(await toasts(page).getByRole('group').count()).toBe(0)
  const [worker] = context.serviceWorkers()
  await worker?.evaluate(async () => {
    const scope = globalThis as unknown as {
      registration: ServiceWorkerRegistration
      NotificationEvent: new (type: string, init: object) => Event
    }
    const [notification] = await scope.registration.getNotifications()
    dispatchEvent(new scope.NotificationEvent('notificationclick', { notification, action: 'Mark Done' }))
  })
  await soon(() => statusOf(first)).toBe('read')

  // Switched off, it is told inside the window alone; in sight as well.
  await onOff.click()
  await soon(() => onOff.getAttribute('aria-checked')).toBe('false')
  await send(deviceId, 'Told inside')
  await toasts(page).getByText('Told inside').waitFor()
  await onOff.click()
  await soon(() => onOff.getAttribute('aria-checked')).toBe('true')
  await page.evaluate(() => Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'visible' }))
  await send(deviceId, 'Told in sight')
  await toasts(page).getByText('Told in sight').waitFor()
  expect((await shown()).map(({ title }) => title)).not.toContain('Told in sight')
  await page.reload()
  await soon(() => onOff.getAttribute('aria-checked')).toBe('true')
})

it('shows what is pushed while no window is open, with its buttons, and acknowledges it', async () => {
  const { page, context, deviceId } = await pair('A phone that sleeps', 'phone', undefined, 'allow')
  await context.grantPermissions(['notifications'], { origin: stage.server.url })
  await page.goto(`${stage.server.url}/notifications`)
  await page.getByRole('switch', { name: 'Show them when Hearth is not in sight' }).waitFor()
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined))
  const todo = await stage.owner.api.todos.create({ body: { title: 'Water the basil' } })
  const scope = `${stage.server.url}/`
  const devtools = await context.newCDPSession(page)
  const registrations: { registrationId: string; scopeURL: string }[] = []
  devtools.on('ServiceWorker.workerRegistrationUpdated', (event) => registrations.push(...event.registrations))
  await devtools.send('ServiceWorker.enable')
  await soon(() => registrations.some(({ scopeURL }) => scopeURL === scope)).toBe(true)
  const { registrationId = '' } = registrations.find(({ scopeURL }) => scopeURL === scope) ?? {}
  // The line is closed, so that only the worker can say that it arrived.
  await page.goto(`${stage.server.url}/icon.svg`)
  await soon(async () => (await stage.owner.api.pairedDevices.list()).find(({ id }) => id === deviceId)?.isConnected).toBe(false)
  const id = await send(deviceId, 'Water the basil', { category: 'REMINDER', data: { todoId: todo.id } })
  expect(await statusOf(id)).toBe('pending')
  const message = {
    id,
    title: 'Water the basil',
    body: 'Now.',
    level: 'info',
    category: 'REMINDER',
    actions: ['Mark Done', 'Snooze 15min'],
    data: { todoId: todo.id },
  }
  await devtools.send('ServiceWorker.deliverPushMessage', { origin: stage.server.url, registrationId, data: JSON.stringify(message) })
  await soon(() => statusOf(id)).toBe('delivered')
  const [worker] = context.serviceWorkers()
  const shown = await worker?.evaluate(async () => {
    const { registration } = globalThis as unknown as { registration: ServiceWorkerRegistration }
    const notifications = (await registration.getNotifications()) as (Notification & { actions: { action: string }[] })[]
    return notifications.map(({ title, actions }) => ({ title, actions: actions.map(({ action }) => action) }))
  })
  expect(shown).toEqual([{ title: 'Water the basil', actions: ['Mark Done', 'Snooze 15min'] }])
  await worker?.evaluate(async () => {
    const scope = globalThis as unknown as {
      registration: ServiceWorkerRegistration
      NotificationEvent: new (type: string, init: object) => Event
    }
    const [notification] = await scope.registration.getNotifications()
    dispatchEvent(new scope.NotificationEvent('notificationclick', { notification, action: 'Mark Done' }))
  })
  await soon(() => statusOf(id)).toBe('read')
  expect((await stage.owner.api.todos.list({ query: { status: 'completed' } })).map(({ title }) => title)).toContain('Water the basil')
})
