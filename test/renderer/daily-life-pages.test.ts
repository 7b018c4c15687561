import type { Page, Route } from 'playwright'
import { expect, it, vi } from 'vitest'
import type { screens } from '../e2e/browser.ts'
import { setStage } from '../e2e/stage.ts'

vi.setConfig({ testTimeout: 120_000 })

const stage = setStage()

/** A page in a browser of its own, signed in as the stage.owner. */
async function open(path: string, screen: keyof typeof screens = 'desktop'): Promise<Page> {
  const opened = await stage.openAsOwner(screen)
  await opened.page.goto(stage.server.url + path)
  await opened.page.getByRole('heading', { level: 1 }).waitFor()
  return opened.page
}

const refuse = (route: Route) => route.fulfill({ status: 500, json: { error: 'No.', code: 'internal', requestId: 'r-1' } })
/** Waits as long as a busy machine may need. */
const soon = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 })
const undo = (page: Page) => page.getByRole('button', { name: 'Undo' }).click()
const dismiss = (page: Page) => page.getByRole('button', { name: 'Dismiss' }).first().click()
const titles = async (list: string, status: 'open' | 'completed') =>
  (await stage.owner.api.todos.list({ query: { list, status } })).map(({ title }) => title).sort()

it('shops with one thumb: several things in a line, ticking, undoing', async () => {
  const page = await open('/todos', 'phone')
  await page.getByRole('navigation', { name: 'Lists' }).getByRole('link', { name: 'Shopping' }).click()
  await page.getByRole('textbox', { name: 'Add to Shopping' }).fill('milk, 1,5 l cider; eggs')
  await page.keyboard.press('Enter')
  const list = page.getByRole('list', { name: 'Open on Shopping' })
  await list.getByText('eggs').waitFor()
  expect(await titles('shopping', 'open')).toEqual(['1,5 l cider', 'eggs', 'milk'])
  await page.getByText('milk', { exact: true }).click()
  await soon(() => titles('shopping', 'completed')).toEqual(['milk'])
  await undo(page)
  await soon(() => titles('shopping', 'completed')).toEqual([])
  await page.getByText('milk', { exact: true }).click()
  await list.getByText('milk', { exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Show what is done' }).click()
  await page.getByRole('list', { name: 'Done' }).getByText('milk').waitFor()
  expect(new URL(page.url()).search).toBe('?list=shopping&done=1')
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'To-dos' }).waitFor()
})

it('shows a tick that the server refuses as it was, and says why', async () => {
  const { id } = await stage.owner.api.todos.create({ body: { title: 'Sweep the yard' } })
  const page = await open('/todos')
  const box = page.getByRole('checkbox', { name: /Sweep the yard/ })
  await page.route(`**/api/todos/${id}/complete`, refuse)
  await box.locator('..').click()
  await page.getByText('Sweep the yard is as it was before.').waitFor()
  expect(await box.isChecked()).toBe(false)
  await page.unrouteAll()
  await page.route('**/api/todos', (route) => (route.request().method() === 'POST' ? refuse(route) : route.continue()))
  const line = page.getByRole('textbox', { name: 'Add to To-dos' })
  await line.fill('Wax the sledge')
  await page.keyboard.press('Enter')
  await page.getByText('It was not added.').waitFor()
  expect(await line.inputValue()).toBe('Wax the sledge')
})

it('deletes a to-do once it cannot be undone any more', async () => {
  const { id } = await stage.owner.api.todos.create({ body: { title: 'Old errand' } })
  const page = await open('/todos')
  const remove = async () => {
    await page.getByRole('button', { name: 'What to do with Old errand' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByText('Old errand is deleted.').waitFor()
  }
  await remove()
  await undo(page)
  await page.getByRole('checkbox', { name: 'Old errand' }).waitFor({ state: 'attached' })
  expect((await stage.owner.api.todos.get({ params: { id } })).title).toBe('Old errand')
  await remove()
  await dismiss(page)
  await soon(() => stage.owner.api.todos.get({ params: { id } }).catch(({ status }) => status)).toBe(404)
})

it('sets when a chore is due and that it comes again', async () => {
  const { id } = await stage.owner.api.todos.create({ body: { title: 'Feed the carp' } })
  const page = await open('/todos')
  await page.getByRole('button', { name: 'What to do with Feed the carp' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Due on').fill('2030-05-06')
  await dialog.getByLabel('Due at').fill('18:30')
  await dialog.getByLabel('Repeats').selectOption('Every week')
  await dialog.getByRole('switch', { name: /Remind/ }).click()
  await dialog.getByLabel('Remind at').fill('18:00')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Feed the carp is saved.').waitFor()
  const { household } = await stage.owner.api.household.get()
  const clock = (at = '') => new Intl.DateTimeFormat('en-GB', { timeZone: household.timezone, timeStyle: 'short' }).format(new Date(at))
  const saved = await stage.owner.api.todos.get({ params: { id } })
  expect([clock(saved.dueAt), clock(saved.remindAt), saved.recurrence]).toEqual(['18:30', '18:00', 'FREQ=WEEKLY'])
})

it('counts a timer down on every page, rings, and goes on for five minutes', async () => {
  const page = await open('/timers')
  await page.getByRole('textbox', { name: /Name/ }).fill('Tea')
  await page.getByRole('button', { name: '3 min' }).click()
  const list = page.getByRole('list', { name: 'Running' })
  await list.getByText('Tea').waitFor()
  await soon(() => page.title()).toMatch(/^[23]:\d\d · Timers – Hearth$/)
  await page.getByRole('button', { name: 'Pause: Tea' }).click()
  await list.getByText('Paused').waitFor()
  await soon(() => page.title()).toBe('Timers – Hearth')
  await page.getByRole('button', { name: 'Cancel: Tea' }).click()
  await undo(page)
  await list.getByText('Paused').waitFor()
  const [tea] = await stage.owner.api.timers.list()
  expect(tea?.pausedAt).toBeDefined()
  await page.goto(`${stage.server.url}/todos`)
  await stage.owner.api.timers.update({ params: { id: tea?.id ?? '' }, body: { paused: false, addMs: -3_600_000 } })
  await page.reload()
  const bell = page.getByRole('region', { name: 'Ringing' })
  await bell.getByText('Tea: time is up.').waitFor()
  expect(await page.getByRole('alert').allInnerTexts()).toContain('Tea: time is up.')
  await bell.getByRole('button', { name: '+5 min: Tea' }).click()
  await bell.waitFor({ state: 'detached' })
  await soon(() => page.title()).toMatch(/^[45]:\d\d · To-dos – Hearth$/)
  for (const { id } of await stage.owner.api.timers.list()) await stage.owner.api.timers.remove({ params: { id } })
})

it('adds a weekly event, takes one occurrence out, and keeps it when that is undone', async () => {
  const page = await open('/calendar')
  await page.getByRole('button', { name: 'Add an event' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('What').fill('Fencing')
  await dialog.getByLabel('Begins on').fill('2031-01-06')
  await dialog.getByLabel('Begins at').fill('19:00')
  expect(await dialog.getByLabel('Ends on').inputValue()).toBe('2031-01-06')
  expect(await dialog.getByLabel('Ends at').inputValue()).toBe('20:00')
  await dialog.getByLabel('Repeats').selectOption('Every week')
  await dialog.getByRole('button', { name: 'Add' }).click()
  await page.getByText(/Fencing is in the calendar/).waitFor()
  await page.goto(`${stage.server.url}/calendar?view=month&at=2031-01-15`)
  const events = page.getByRole('button', { name: /Fencing/ })
  await soon(() => events.count()).toBe(4)
  const takeOut = async () => {
    await events.nth(1).click()
    await page.getByRole('button', { name: 'Delete this one' }).click()
    await soon(() => events.count()).toBe(3)
  }
  await takeOut()
  await undo(page)
  await soon(() => events.count()).toBe(4)
  await takeOut()
  await dismiss(page)
  const listed = async () => {
    const all = await stage.owner.api.calendar.list({ query: { from: '2031-01-01T00:00:00Z', to: '2031-02-01T00:00:00Z' } })
    return all.filter(({ title }) => title === 'Fencing').length
  }
  await soon(listed).toBe(3)
  await page.getByRole('button', { name: 'Later' }).click()
  await soon(() => new URL(page.url()).search).toBe('?view=month&at=2031-02-01')
  await page.getByText('February 2031').waitFor()
})

it('keeps a rule that the form does not offer', async () => {
  const rule = 'FREQ=MONTHLY;BYDAY=2TU'
  const { id } = await stage.owner.api.calendar.create({
    body: { title: 'Book circle', startAt: '2032-06-08T18:00:00Z', recurrence: rule },
  })
  const page = await open('/calendar?at=2032-06-01')
  await page
    .getByRole('button', { name: /Book circle/ })
    .first()
    .click()
  await page.getByRole('dialog').getByText('Every month on the 2nd Tuesday').waitFor()
  await page.getByRole('button', { name: 'Change' }).click()
  await page.getByLabel('Where').fill('Library')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Book circle is saved.').waitFor()
  const saved = await stage.owner.api.calendar.get({ params: { id } })
  expect([saved.recurrence, saved.location]).toEqual([rule, 'Library'])
})

it('becomes a household of several people with the second, and goes back with the last but one', async () => {
  const page = await open('/household')
  await page.getByText('Just me', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Add a person' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Charles')
  await dialog.getByLabel('Also called').fill('Uncle, Charlie')
  await dialog.getByLabel('Birthday').fill('1991-12-26')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText(/Hearth tells people apart from here on/).waitFor()
  await page.getByText('Several people', { exact: true }).waitFor()
  const now = await stage.owner.api.household.get()
  expect(now.household.mode).toBe('multi')
  expect(now.persons[1]).toMatchObject({ displayName: 'Charles', aliases: ['Uncle', 'Charlie'], birthDate: '1991-12-26' })
  await page.getByRole('button', { name: 'What to do with Charles' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByText('Devices of Charles stay paired but become shared').waitFor()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('button', { name: 'Go back to just me' }).click()
  await page.getByText('Just me', { exact: true }).waitFor()
  expect((await stage.owner.api.household.get()).household.mode).toBe('single')
})

it('says a conflict in its own words, and keeps what was typed', async () => {
  const page = await open('/household')
  await page.route('**/api/household', (route) =>
    route.request().method() === 'PUT'
      ? route.fulfill({ status: 409, json: { error: 'x', code: 'household_has_members', requestId: 'r-2' } })
      : route.continue(),
  )
  await page.getByRole('button', { name: 'Change the home' }).click()
  const name = page.getByRole('dialog').getByLabel('Name')
  await name.fill('Manor')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Several people live here, so it cannot be “Just me”.').waitFor()
  expect(await name.inputValue()).toBe('Manor')
})

/** A page in a browser that was let in as a device of nobody in particular. */
async function openAsMember(path: string, name: string): Promise<Page> {
  const { qr } = await stage.owner.api.pairing.start({ body: { scope: 'member' } })
  const link = JSON.parse(Buffer.from(qr.split('d=')[1] ?? '', 'base64url').toString()) as { code: string; secret: string }
  const { page, context } = await stage.open('phone')
  const paired = await context.request.post(`${stage.server.url}/api/auth/pair/browser`, {
    data: { code: link.code, secret: link.secret, deviceInfo: { name, type: 'tablet' } },
    headers: { origin: stage.server.url },
  })
  expect(paired.status()).toBe(200)
  await page.goto(stage.server.url + path)
  return page
}

it('says whose an alarm is, and offers nothing that would be refused', async () => {
  const endsAt = new Date(Date.now() + 3_600_000).toISOString()
  const { id } = await stage.owner.api.timers.create({ body: { endsAt, name: 'Early bird' } })
  const { persons } = await stage.owner.api.household.get()
  const owner = persons.find(({ role }) => role === 'owner')?.displayName ?? ''
  const page = await openAsMember('/timers', 'Landing tablet')
  const list = page.getByRole('list', { name: 'Running' })
  await list.getByText('Early bird').waitFor()
  await list.getByText(`It is ${owner}’s. Only ${owner} or an admin can change or end it.`).waitFor()
  expect(await page.getByRole('button', { name: /: Early bird/ }).count()).toBe(0)
  await page.goto(stage.server.url)
  await page.getByText('Early bird').waitFor()
  expect(await page.getByRole('button', { name: /: Early bird/ }).count()).toBe(0)
  await stage.owner.api.timers.update({ params: { id }, body: { addMs: -3_600_000 } })
  await expect.poll(async () => (await stage.owner.api.timers.get({ params: { id } })).rangAt).toBeDefined()
  await page.goto(`${stage.server.url}/timers`)
  await list.getByText('Time is up').waitFor()
  expect(await page.getByRole('region', { name: 'Ringing' }).count()).toBe(0)
  await stage.owner.api.timers.remove({ params: { id } })
})

it('shows members the household without what they may not change', async () => {
  const page = await openAsMember('/household', 'Hall tablet')
  await page.getByText('The owner and devices whose scope is Admin can change this.').waitFor()
  expect(await page.getByRole('button', { name: /Add a person|Change the home|What to do with/ }).count()).toBe(0)
})

/** Does something many times, some at a time. */
async function times(count: number, act: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < count; at += 25) await Promise.all(Array.from({ length: Math.min(25, count - at) }, (_, n) => act(at + n)))
}

it('shows what does not fit at first when it is asked for', async () => {
  await times(205, async (at) => {
    const { id } = await stage.owner.api.todos.create({ body: { title: `brick ${at}`, list: 'wall' } })
    await stage.owner.api.todos.complete({ params: { id } })
  })
  const page = await open('/todos?list=wall&done=1')
  const done = page.getByRole('list', { name: 'Done' }).getByRole('listitem')
  await soon(() => done.count()).toBe(200)
  await page.getByRole('button', { name: 'Show more' }).click()
  await soon(() => done.count()).toBe(205)
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  const { id, deviceId = '' } = await stage.owner.api.timers.create({ body: { durationMs: 3_600_000 } })
  await stage.owner.api.timers.remove({ params: { id } })
  await times(105, (at) => stage.owner.api.notifications.send({ body: { title: `news ${at}`, body: '', deviceId } }))
  const news = await open('/notifications')
  const rows = news.getByRole('main').getByText(/^news \d+$/)
  await soon(() => rows.count()).toBe(100)
  await news.getByRole('button', { name: 'Show more' }).click()
  await soon(() => rows.count()).toBe(105)
})

it('ends one’s own address of the calendar, or everybody’s', async () => {
  const mine = await stage.owner.api.calendar.feed()
  const page = await open('/calendar?view=outside')
  const statusOf = async () => (await fetch(mine.url)).status
  await page.getByRole('button', { name: 'End my address' }).waitFor()
  expect(await statusOf()).toBe(200)
  await page.getByRole('button', { name: 'End everybody’s' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End everybody’s' }).click()
  await page.getByText('No address is good any more.').waitFor()
  expect(await statusOf()).toBe(401)
})
