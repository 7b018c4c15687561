import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runAs } from '../support/action-calls.ts'
import { json } from '../support/credentials.ts'
import { type Family, makeFamily } from '../support/family.ts'
import { type House, startHouse } from '../support/house.ts'

let house: House
let family: Family
let run: ReturnType<typeof runAs>
beforeAll(async () => {
  house = await startHouse()
  family = await makeFamily(house)
  const phone = await house.pair('Ben’s phone')
  await family.owner.api.pairedDevices.update({ params: { id: phone.id }, body: { personId: family.ben } })
  run = runAs(house, { deviceId: phone.id, personId: family.ben })
})
afterAll(() => house[Symbol.asyncDispose]())

const say = async (name: string, params?: unknown) => (await run(name, params)).output

test('things go on a list, are told, ticked off and taken off', async () => {
  expect(await say('list_todos', { list: 'shopping' })).toBe('There is nothing on the shopping list.')
  expect(await run('add_todo', { title: 'milk', list: 'shopping' })).toEqual({
    output: 'Added milk to the shopping list.',
    data: expect.objectContaining({ title: 'milk', list: 'shopping' }),
  })
  for (const title of ['eggs', 'tomatoes']) await run('add_todo', { title, list: 'the Shopping list' })
  expect(await say('list_todos', { list: 'shopping list' })).toBe('On the shopping list: milk, eggs and tomatoes.')
  expect(await say('list_todos', { list: 'shoping' })).toContain('milk')
  expect(await say('complete_todo', { title: 'the tomatos', list: 'shopping' })).toBe('I ticked off tomatoes on the shopping list.')
  expect(await say('remove_todo', { title: 'egg' })).toBe('I removed eggs from the shopping list.')
  expect(await say('list_todos', { list: 'shopping' })).toBe('On the shopping list: milk.')
  expect(await say('list_todos', { list: 'shopping', status: 'completed' })).toBe('Done on the shopping list: tomatoes.')
})

test('a list keeps the name it has, and a to-do list is no list of that name', async () => {
  await run('add_todo', { title: 'tent', list: 'Camping trip' })
  expect((await run('add_todo', { title: 'stove', list: 'camping trip' })).data).toMatchObject({ list: 'Camping trip' })
  const { data } = await run('add_todo', { title: 'Call the plumber', list: 'to-do list' })
  expect(data).not.toHaveProperty('list')
  expect(await say('list_todos', { list: 'todo' })).toBe('On the to-do list: Call the plumber.')
  expect(await say('complete_todo', { title: 'plumber' })).toBe('I ticked off Call the plumber.')
})

test('what is not there is said kindly', async () => {
  const miss = { status: 404, code: 'not_found' }
  await expect(run('complete_todo', { title: 'unicorn', list: 'shopping' })).rejects.toMatchObject({
    ...miss,
    message: 'I found no open “unicorn” on the shopping list.',
  })
  await expect(run('remove_todo', { title: 'unicorn' })).rejects.toMatchObject({
    ...miss,
    message: 'I found no open “unicorn” among the to-dos.',
  })
  await expect(run('complete_todo', {})).rejects.toMatchObject({ status: 400 })
  await expect(run('add_todo', { title: 'x', recurrence: 'FREQ=NEVER' })).rejects.toMatchObject({ status: 400 })
  await expect(run('add_todo', { title: 'x', dueAt: 'soon' })).rejects.toMatchObject({ status: 400 })
})

test('“remind me” is for who says it, in the household’s time', async () => {
  const mine = await run('add_todo', { title: 'call mum', remindAt: '2031-06-02T17:00' })
  expect(mine.output).toBe('I will remind you on Monday 2 June 2031 at 17:00: call mum.')
  expect(mine.data).toMatchObject({ personId: family.ben, remindAt: '2031-06-02T15:00:00.000Z' })
  const adas = await run('add_todo', { title: 'pills', remindAt: '2031-06-02T17:00', personId: family.ada, recurrence: 'RRULE:FREQ=DAILY' })
  expect(adas.output).toBe('I will remind Ada on Monday 2 June 2031 at 17:00: pills. It comes again.')
  const alls = await run('add_todo', { title: 'dinner', remindAt: '2031-06-02T17:00', personId: null })
  expect(alls.output).toContain('everyone')
  expect(alls.data).not.toHaveProperty('personId')
  const job = runAs(house, { deviceId: house.app.url(), personId: family.ben, origin: 'job' })
  expect((await job('add_todo', { title: 'dinner', remindAt: '2031-06-02T17:00' })).data).not.toHaveProperty('personId')
  expect(await say('complete_todo', { title: 'pills' })).toBe('I ticked off pills. It comes again on Tuesday 3 June 2031 at 17:00.')
})

test('a due date is said, and a long list is cut', async () => {
  expect(await say('add_todo', { title: 'taxes', dueAt: '2031-05-31T22:00:00Z' })).toBe(
    'Added taxes to the to-do list. It is due on Sunday 1 June 2031 at 00:00.',
  )
  for (let at = 0; at < 15; at++) await run('add_todo', { title: `part ${at}`, list: 'parts' })
  expect(await say('list_todos', { list: 'parts' })).toMatch(/part 11 and 3 more\.$/)
})

test('of who has no device here it is said that the reminder waits', async () => {
  const { household, persons } = await family.owner.api.household.get()
  const { id: _, ...settings } = household
  const names = [...persons.map(({ displayName }) => displayName), 'Granny']
  const all = await family.owner.api.household.replace({ body: { ...settings, persons: names.map((displayName) => ({ displayName })) } })
  const personId = all.persons.find(({ displayName }) => displayName === 'Granny')?.id ?? ''
  expect(await say('add_todo', { title: 'pills', remindAt: '2031-06-02T17:00', personId })).toBe(
    'Granny has no device here yet, so this waits for their first one: pills, on Monday 2 June 2031 at 17:00.',
  )
  const answer = await family.owner.fetch('/api/chat', json({ message: 'remind Granny tomorrow at 5 to take her pills' }))
  expect(await answer.text()).toContain(
    'Granny has no device here yet, so this waits for their first one: take her pills, tomorrow at 17:00.',
  )
})

test('the same thing is not put on a list twice', async () => {
  await run('add_todo', { title: 'Jam', list: 'larder' })
  expect(await run('add_todo', { title: 'jam', list: 'the larder list' })).toMatchObject({
    output: 'Jam is on the larder list already.',
    data: { wasThere: true },
  })
  expect(await say('list_todos', { list: 'larder' })).toBe('On the larder list: Jam.')
  await run('complete_todo', { title: 'jam', list: 'larder' })
  expect(await say('add_todo', { title: 'jam', list: 'larder' })).toBe('Added jam to the larder list.')
})

test('the same thing for somebody else is another one', async () => {
  const { data } = await run('add_todo', { title: 'Call granny', personId: family.ada })
  expect(await run('add_todo', { title: 'call granny', personId: family.ben })).toMatchObject({
    output: 'Added call granny to the to-do list.',
    data: { personId: family.ben },
  })
  expect((await run('add_todo', { title: 'call granny' })).data).not.toHaveProperty('wasThere')
  expect(await run('add_todo', { title: 'Call Granny', personId: family.ada })).toMatchObject({
    output: 'Call granny is on the to-do list already.',
    data: { id: (data as { id: string }).id, wasThere: true },
  })
})

test('nobody is reminded of what is over', async () => {
  const { api } = family.owner
  const past = new Date(Date.now() - 3_600_000).toISOString()
  const { output, data } = await run('add_todo', { title: 'catch the train', remindAt: past, personId: null })
  expect(output).toMatch(/^Added catch the train to the to-do list\. Its reminder, (today|yesterday) at \d\d:\d\d, is over\.$/)
  expect(data).toMatchObject({ remindAt: past })
  await api.todos.create({ body: { title: 'a sign of life', remindAt: new Date().toISOString() } })
  const reminders = async () => (await api.notifications.list({ query: { limit: 500 } })).map(({ title }) => title)
  await expect.poll(reminders, { timeout: 15_000 }).toContain('a sign of life')
  expect(await reminders()).not.toContain('catch the train')
  for (const title of ['catch the train', 'a sign of life']) await run('complete_todo', { title })
})

test('a list is cleared, and what was ticked off is opened again', async () => {
  for (const title of ['rope', 'torch']) await run('add_todo', { title, list: 'caving' })
  const { data } = await run('complete_todo', { title: 'rope', list: 'caving' })
  expect(await say('reopen_todo', { id: (data as { id: string }).id })).toBe('rope is open again.')
  const cleared = await run('clear_list', { list: 'the caving list' })
  expect(cleared).toMatchObject({ output: 'I took all 2 things off the caving list.', data: { list: 'caving' } })
  expect(await say('list_todos', { list: 'caving' })).toBe('There is nothing on the caving list.')
})

test('more than a page holds is counted truly', async () => {
  const todos = Array.from({ length: 510 }, (_, at) => ({ title: `thing ${at}`, list: 'attic' }))
  while (todos.length > 0) await Promise.all(todos.splice(0, 50).map((body) => family.owner.api.todos.create({ body })))
  expect(await say('list_todos', { list: 'attic' })).toMatch(/ and 498 more\.$/)
  expect((await run('list_todos', { list: 'attic' })).data).toMatchObject({ total: 510, items: { length: 500 } })
  const { output, data } = await run('clear_list', { list: 'attic' })
  expect(output).toBe('I took all 510 things off the attic list.')
  expect(data, 'too much to be put back').toEqual({ list: 'attic', count: 510, items: [] })
})

test('a list is cleared to its end, while others are answered', async () => {
  const raw = new BetterSqlite3(join(house.dataPath, 'hearth.sqlite'))
  raw.exec(`WITH RECURSIVE "at"("n") AS (SELECT 1 UNION ALL SELECT "n" + 1 FROM "at" WHERE "n" < 5200)
    INSERT INTO "todo" ("id", "title", "list", "listKey", "createdAt", "updatedAt")
    SELECT printf('00000000-0000-4000-8000-%012d', "n"), 'thing', 'barn', 'barn', '2026-01-01', '2026-01-01' FROM "at"`)
  raw.close()
  let turns = 0
  let isDone = false
  const turning = (async () => {
    while (!isDone) {
      await new Promise(setImmediate)
      turns++
    }
  })()
  expect(await say('clear_list', { list: 'barn' })).toBe('I took all 5200 things off the barn list.')
  isDone = true
  await turning
  expect(turns).toBeGreaterThan(10)
  expect(await say('list_todos', { list: 'barn' })).toBe('There is nothing on the barn list.')
}, 120_000)

test('what is due by then is told, mine and nobody’s, and reminders by themselves', async () => {
  const dueAt = '2031-01-01T10:00:00Z'
  await run('add_todo', { title: 'first', dueAt, personId: family.ben })
  await run('add_todo', { title: 'unassigned', dueAt })
  await run('add_todo', { title: 'hers', dueAt, personId: family.ada })
  await run('add_todo', { title: 'later', dueAt: '2031-01-02T10:00:00Z' })
  expect(await say('list_todos', { mine: true, until: '2031-01-01T23:00:00Z' })).toMatch(
    /^On the to-do list: first \(due .*\) and unassigned \(due [^)]*\)\.$/,
  )
  expect(await say('list_todos', { mine: true, reminders: true })).toMatch(/^I will remind you of call mum on Monday 2 June/)
  expect(await say('list_todos', { mine: true, reminders: true })).not.toMatch(/unassigned|Ada|pills/)
})

test('guests may not', async () => {
  const guest = runAs(house, { deviceId: '', scope: 'guest' })
  await expect(guest('add_todo', { title: 'x' })).rejects.toMatchObject({ status: 403 })
  await expect(guest('list_todos')).rejects.toMatchObject({ status: 403 })
})
