import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { todoChanged, todoCompleted, todoCreated } from '../../server/modules/todos/todos.contract.ts'
import { json } from '../support/credentials.ts'
import { type Family, makeFamily } from '../support/family.ts'
import { type Browser, type Device, type House, startHouse } from '../support/house.ts'

let house: House
let family: Family
let phone: Device
beforeAll(async () => {
  house = await startHouse()
  family = await makeFamily(house)
  phone = await house.pair('Phone', 'member')
})
afterAll(() => house[Symbol.asyncDispose]())
afterEach(() => void vi.useRealTimers())

type NewTodo = Parameters<Device['api']['todos']['create']>[0]['body']
const add = (title: string, fields: Partial<NewTodo> = {}) => phone.api.todos.create({ body: { title, ...fields } })
const titles = async (query: { list?: string; status?: 'open' | 'completed' | 'all' }, who: Device | Browser = phone) =>
  (await who.api.todos.list({ query })).map(({ title }) => title)

test('a to-do is added, read, changed, sent back as it was, and deleted', async () => {
  const todo = await add('  Call \n mum ', { notes: 'about Sunday', dueAt: '2030-05-01T12:00:00+02:00', personId: family.ben })
  expect(todo).toEqual({
    id: expect.any(String),
    title: 'Call mum',
    notes: 'about Sunday',
    dueAt: '2030-05-01T10:00:00.000Z',
    personId: family.ben,
    createdAt: expect.any(String),
  })
  const params = { id: todo.id }
  expect(await phone.api.todos.get({ params })).toEqual(todo)
  expect(await phone.api.todos.update({ params, body: todo })).toEqual(todo)
  const { notes: _, personId: __, ...rest } = todo
  const body = { title: 'Call dad', notes: null, personId: null, list: 'Calls' }
  expect(await phone.api.todos.update({ params, body })).toEqual({ ...rest, title: 'Call dad', list: 'Calls' })
  await phone.api.todos.remove({ params })
  for (const what of ['get', 'remove', 'complete'] as const) {
    await expect(phone.api.todos[what]({ params })).rejects.toMatchObject({ status: 404, code: 'not_found' })
  }
  await expect(phone.api.todos.update({ params, body: { title: 'x' } })).rejects.toMatchObject({ status: 404 })
})

test('what is not right is refused, with where', async () => {
  const refused: [Record<string, unknown>, string][] = [
    [{}, 'body.title'],
    [{ title: ' \n ' }, 'body.title'],
    [{ title: 'x', dueAt: 'tomorrow' }, 'body.dueAt'],
    [{ title: 'x', personId: randomUUID() }, 'body.personId'],
    [{ title: 'x', recurrence: 'every day' }, 'body.recurrence'],
    [{ title: 'x', recurrence: 'FREQ=MINUTELY' }, 'body.recurrence'],
    [{ title: 'x', recurrence: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30' }, 'body.recurrence'],
    [{ title: 'x', recurrence: 'FREQ=DAILY', dueAt: '0001-01-01T00:00:00Z' }, 'body.dueAt'],
    [{ title: 'x', done: true }, 'body'],
  ]
  for (const [body, path] of refused) {
    const answer = await phone.fetch('/api/todos', json(body))
    expect(answer.status, JSON.stringify(body)).toBe(400)
    expect(await answer.json(), JSON.stringify(body)).toMatchObject({ code: 'validation_failed', details: [{ path }] })
  }
  const todo = await add('Mow')
  const patch = (body: object) => phone.api.todos.update({ params: { id: todo.id }, body })
  await expect(patch({ recurrence: 'FREQ=SECONDLY' })).rejects.toMatchObject({ status: 400 })
  await expect(patch({ title: 'Mow all', personId: randomUUID() })).rejects.toMatchObject({ status: 400 })
  expect(await phone.api.todos.get({ params: { id: todo.id } })).toEqual(todo)
})

test('lists are found in any case, tell what is open, and stay while something is on them', async () => {
  for (const title of ['milk', 'eggs']) await add(title, { list: 'Shopping' })
  const bread = await add('bread', { list: ' shopping ' })
  await add('nails', { list: 'DIY' })
  expect(await titles({ list: 'SHOPPING' })).toEqual(['bread', 'eggs', 'milk'])
  expect(await titles({ list: '' })).not.toContain('milk')
  expect(await phone.api.todos.lists()).toEqual(
    expect.arrayContaining([
      { name: 'DIY', open: 1 },
      { name: 'Shopping', open: 3 },
    ]),
  )
  for (const { id } of await phone.api.todos.list({ query: { list: 'diy' } })) await phone.api.todos.complete({ params: { id } })
  await phone.api.todos.complete({ params: { id: bread.id } })
  expect(await phone.api.todos.lists()).toContainEqual({ name: 'DIY', open: 0 })
  expect(await titles({ list: 'shopping', status: 'open' })).toEqual(['milk', 'eggs'])
  expect(await titles({ list: 'shopping', status: 'completed' })).toEqual(['bread'])
  expect(await titles({ list: 'shopping' })).toEqual(['bread', 'eggs', 'milk'])
  expect(await titles({ list: 'nowhere' })).toEqual([])
  expect((await phone.api.todos.list({ query: { list: 'shopping', limit: 1 } })).length).toBe(1)
})

test('open ones come by when they are due, then those without a time; done ones and all newest first', async () => {
  const list = 'order'
  await add('whenever', { list })
  await add('late', { list, dueAt: '2031-01-02T00:00:00Z' })
  await add('soon', { list, dueAt: '2031-01-01T00:00:00Z' })
  for (const title of ['first', 'second']) {
    const { id } = await add(title, { list })
    await phone.api.todos.complete({ params: { id } })
  }
  expect(await titles({ list, status: 'open' })).toEqual(['soon', 'late', 'whenever'])
  expect(await titles({ list, status: 'completed' })).toEqual(['second', 'first'])
  expect(await titles({ list })).toEqual(['second', 'first', 'soon', 'late', 'whenever'])
})

test('a recurring one comes again at the same time of day, over the change of clocks, once', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime('2026-10-20T12:00:00.000Z')
  const fields = { list: 'chores', recurrence: 'rrule:freq=weekly', dueAt: '2026-10-19T06:00:00Z', remindAt: '2026-10-18T18:30:00Z' }
  const bins = await add('Bins', fields)
  expect(bins.recurrence).toBe('FREQ=WEEKLY')
  const params = { id: bins.id }
  const [done, again] = await Promise.all([phone.api.todos.complete({ params }), phone.api.todos.complete({ params })])
  expect(done).toMatchObject({ id: bins.id, completedAt: '2026-10-20T12:00:00.000Z' })
  expect(again).toEqual(done)
  const [next, ...others] = await phone.api.todos.list({ query: { list: 'chores', status: 'open' } })
  expect(others).toEqual([])
  expect(next).toMatchObject({
    title: 'Bins',
    dueAt: '2026-10-26T07:00:00.000Z',
    remindAt: '2026-10-25T19:30:00.000Z',
    recurrence: 'FREQ=WEEKLY',
  })
  expect(next?.id).not.toBe(bins.id)

  const opened = await phone.api.todos.update({ params, body: { completed: false } })
  expect(opened.completedAt).toBeUndefined()
  expect(await phone.api.todos.list({ query: { list: 'chores', status: 'open' } })).toEqual([opened])
  await phone.api.todos.update({ params, body: { completed: true } })
  expect(await phone.api.todos.list({ query: { list: 'chores', status: 'open' } })).toMatchObject([{ dueAt: next?.dueAt }])
})

test.each([
  ['long overdue, from now on', 'FREQ=DAILY', '2026-01-01T07:00:00Z', '2026-11-22T07:00:00.000Z'],
  ['done early, after its own time', 'FREQ=DAILY', '2026-11-23T07:00:00Z', '2026-11-24T07:00:00.000Z'],
  ['every second Monday keeps its weeks', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO', '2026-11-02T07:00:00Z', '2026-11-30T07:00:00.000Z'],
  ['for the last time', 'FREQ=DAILY;UNTIL=20261121', '2026-11-21T07:00:00Z', null],
  ['the third of three', 'FREQ=DAILY;COUNT=3', '2026-11-19T07:00:00Z', null],
])('a recurring one, %s', async (about, recurrence, dueAt, expected) => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime('2026-11-21T12:00:00.000Z')
  const { id } = await add(about, { recurrence, dueAt, list: about })
  await phone.api.todos.complete({ params: { id } })
  expect((await phone.api.todos.list({ query: { list: about, status: 'open' } })).map((todo) => todo.dueAt)).toEqual(
    expected ? [expected] : [],
  )
})

test('COUNT counts on from one to the next', async () => {
  const dueAt = new Date(Date.now() + 86_400_000).toISOString()
  await add('Pill', { recurrence: 'FREQ=DAILY;COUNT=3', dueAt, list: 'pills' })
  let taken = 0
  for (;;) {
    const [open] = await phone.api.todos.list({ query: { list: 'pills', status: 'open' } })
    if (!open || taken > 5) break
    await phone.api.todos.complete({ params: { id: open.id } })
    taken += 1
  }
  expect(taken).toBe(3)
})

test('without a time a recurring one has none when it comes again, until its rule ends', async () => {
  const openOn = (list: string) => phone.api.todos.list({ query: { list, status: 'open' } })
  const { id, createdAt } = await add('Water the plants', { recurrence: 'FREQ=DAILY;INTERVAL=3', list: 'plants' })
  await phone.api.todos.complete({ params: { id } })
  const [next, ...others] = await openOn('plants')
  expect(others).toEqual([])
  expect(next).toEqual({ id: expect.any(String), title: 'Water the plants', list: 'plants', recurrence: 'FREQ=DAILY;INTERVAL=3', createdAt: expect.any(String) }) // biome-ignore format: one line
  expect(next?.id).not.toBe(id)
  expect((next?.createdAt ?? '') >= createdAt).toBe(true)
  const last = await add('Paint', { recurrence: 'FREQ=DAILY;COUNT=1', list: 'painting' })
  await phone.api.todos.complete({ params: { id: last.id } })
  expect(await openOn('painting')).toEqual([])
})

test('a rule is taken away and given by PATCH', async () => {
  const { id } = await add('Dust', { recurrence: 'FREQ=DAILY', list: 'dust' })
  const params = { id }
  expect((await phone.api.todos.update({ params, body: { recurrence: null } })).recurrence).toBeUndefined()
  expect((await phone.api.todos.update({ params, body: { recurrence: 'FREQ=MONTHLY', dueAt: '2032-01-31T10:00:00Z' } })).recurrence).toBe(
    'FREQ=MONTHLY',
  )
  await phone.api.todos.complete({ params })
  expect(await phone.api.todos.list({ query: { list: 'dust', status: 'open' } })).toMatchObject([{ dueAt: '2032-03-31T09:00:00.000Z' }])
})

test('whoever listens hears of it after it is done', async () => {
  const heard: unknown[] = []
  const { events } = house.app
  const off = [
    events.on(todoCreated, (data) => void heard.push(['todo.created', data])),
    events.on(todoCompleted, (data) => void heard.push(['todo.completed', data])),
    events.on(todoChanged, (data) => void heard.push(['todo.changed', data])),
  ]
  const { id } = await add('Listen')
  await phone.api.todos.complete({ params: { id } })
  await phone.api.todos.complete({ params: { id } })
  await phone.api.todos.remove({ params: { id } })
  for (const stop of off) stop()
  expect(heard).toEqual([
    ['todo.changed', { id }],
    ['todo.created', { todoId: id, title: 'Listen' }],
    ['todo.changed', { id }],
    ['todo.completed', { todoId: id, title: 'Listen' }],
    ['todo.changed', { id }],
  ])
})

test('titles may be anything that people write', async () => {
  for (const title of ['🥚🥛', 'שלום', "'; DROP TABLE todo; --", '%', '<b>bold</b>', '\ud800 half', 'x'.repeat(300)]) {
    const todo = await add(title, { list: title.slice(0, 100) })
    expect(await titles({ list: title.slice(0, 100).toUpperCase() })).toEqual([todo.title])
  }
  expect((await phone.fetch('/api/todos', json({ title: 'x'.repeat(301) }))).status).toBe(400)
})

test('guests see none of it', async () => {
  const guest = await house.pair('Guest', 'guest')
  const { id } = await add('Secret present', { list: 'presents' })
  for (const path of ['/api/todos', '/api/todos/lists', `/api/todos/${id}`, '/api/timers'])
    expect((await guest.fetch(path)).status, path).toBe(403)
  expect((await guest.fetch('/api/todos', json({ title: 'x' }))).status).toBe(403)
  expect((await guest.fetch(`/api/todos/${id}/complete`, { method: 'POST' })).status).toBe(403)
})

test('all is there after a restart', async () => {
  const before = await phone.api.todos.list({ query: {} })
  await house.restart()
  expect(await phone.api.todos.list({ query: {} })).toEqual(before)
})

test('`completedAt` null opens again what was done, and the one that followed it goes', async () => {
  const patch = (id: string, body: object) => phone.fetch(`/api/todos/${id}`, json(body, 'PATCH'))
  const todo = await add('Iron')
  const done = await phone.api.todos.complete({ params: { id: todo.id } })
  expect(await (await patch(todo.id, done)).json()).toEqual(done)
  expect(await (await patch(todo.id, { completedAt: null })).json()).toEqual(todo)
  expect(await phone.api.todos.get({ params: { id: todo.id } })).toEqual(todo)
  expect(await (await patch(todo.id, { completedAt: '2026-01-01T00:00:00Z' })).json()).toMatchObject({ completedAt: expect.any(String) })
  const chore = await add('Sweep', { dueAt: '2030-05-01T10:00:00Z', recurrence: 'FREQ=DAILY', list: 'sweeping' })
  await phone.api.todos.complete({ params: { id: chore.id } })
  expect(await titles({ list: 'sweeping' })).toEqual(['Sweep', 'Sweep'])
  expect((await patch(chore.id, { completedAt: null })).status).toBe(200)
  expect(await phone.api.todos.list({ query: { list: 'sweeping' } })).toEqual([chore])
})

test('what followed a recurring one and was changed stays when that one is opened again, and no third comes', async () => {
  const openIn = (list: string) => phone.api.todos.list({ query: { list, status: 'open' } })
  const done = (id: string, completed: boolean) => phone.api.todos.update({ params: { id }, body: { completed } })
  const change = (id: string, body: object) => phone.api.todos.update({ params: { id }, body })
  const first = await add('Mop', { recurrence: 'FREQ=DAILY', dueAt: '2030-05-01T10:00:00Z', list: 'mopping' })
  await done(first.id, true)
  const [next] = await openIn('mopping')
  const edited = await change(next?.id ?? '', { title: 'Mop the stairs', notes: 'important' })
  expect(await done(first.id, false)).toEqual(first)
  expect(await openIn('mopping')).toEqual([first, edited])
  await done(first.id, true)
  expect(await openIn('mopping')).toEqual([edited])
  await phone.api.todos.remove({ params: { id: edited.id } })
  await done(first.id, false)
  await done(first.id, true)
  expect(await openIn('mopping')).toHaveLength(1)

  const dusted = await add('Dust', { recurrence: 'FREQ=DAILY', dueAt: '2030-05-01T10:00:00Z', list: 'dusting' })
  await done(dusted.id, true)
  const [twin] = await openIn('dusting')
  await done(twin?.id ?? '', true)
  await done(twin?.id ?? '', false)
  await done(dusted.id, false)
  expect(await openIn('dusting')).toEqual([dusted])
})

test.each(['all', 'open', 'completed'] as const)(
  'of %s, none is passed over because the last one of a page was ticked or unticked',
  async (status) => {
    const list = `ticked ${status}`
    for (const [at, dueAt] of [undefined, '2030-05-02T10:00:00Z', undefined, '2030-05-01T10:00:00Z', undefined, undefined].entries()) {
      const { id } = await add(`${at}`, { list, ...(dueAt && { dueAt }) })
      if (status === 'completed') await phone.api.todos.complete({ params: { id } })
    }
    const whole = await phone.api.todos.list({ query: { list, status } })
    expect(whole).toHaveLength(6)
    const seen: string[] = []
    for (;;) {
      const after = seen.at(-1)
      const page = await phone.api.todos.list({ query: { list, status, limit: 2, ...(after && { after }) } })
      seen.push(...page.map(({ id }) => id))
      const last = page.at(-1)
      if (!last || page.length < 2) break
      await phone.api.todos.update({ params: { id: last.id }, body: { completed: !last.completedAt } })
    }
    expect(seen).toEqual(whole.map(({ id }) => id))
  },
)

test('a long list is read page by page, each once, though some are done meanwhile', async () => {
  const list = 'pages'
  for (const dueAt of ['2030-05-02T10:00:00Z', '2030-05-01T10:00:00Z', '2030-05-01T10:00:00Z', undefined, undefined, undefined, undefined])
    await add('page', { list, ...(dueAt && { dueAt }) })
  const whole = await phone.api.todos.list({ query: { list } })
  for (const { id } of whole.slice(4)) await phone.api.todos.complete({ params: { id } })
  for (const status of ['all', 'open', 'completed'] as const) {
    const atOnce = await phone.api.todos.list({ query: { list, status } })
    const paged: typeof atOnce = []
    for (let after: string | undefined; ; after = paged.at(-1)?.id) {
      const page = await phone.api.todos.list({ query: { list, status, limit: 2, ...(after && { after }) } })
      paged.push(...page)
      if (page.length < 2) break
    }
    expect(paged.map(({ id }) => id)).toEqual(atOnce.map(({ id }) => id))
    expect(atOnce).toHaveLength({ all: 7, open: 4, completed: 3 }[status])
  }
  const [first, second] = await phone.api.todos.list({ query: { list, status: 'open', limit: 2 } })
  const rest = await phone.api.todos.list({ query: { list, status: 'open', after: second?.id } })
  await phone.api.todos.complete({ params: { id: second?.id ?? '' } })
  expect(await phone.api.todos.list({ query: { list, status: 'open', after: second?.id } })).toEqual(rest)
  await phone.api.todos.remove({ params: { id: first?.id ?? '' } })
  expect((await phone.fetch(`/api/todos?after=${first?.id}`)).status).toBe(404)
  expect((await phone.fetch('/api/todos?after=first')).status).toBe(400)
})
