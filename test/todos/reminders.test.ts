import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { later } from '../support/clock.ts'
import { type Family, makeFamily } from '../support/family.ts'
import { type House, startHouse } from '../support/house.ts'

afterEach(() => void vi.useRealTimers())

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
const HOUR_MS = 3_600_000
const WAIT = { timeout: 15_000 }

/** Who was reminded of what, oldest first. */
async function reminders({ owner }: Family): Promise<{ title: string; deviceId: string; status: string; data: Record<string, string> }[]> {
  const all = await owner.api.notifications.list({ query: { limit: 500 } })
  return all.filter(({ category }) => category === 'REMINDER').toReversed()
}

async function pairFor(house: House, { owner }: Family, name: string, personId: string) {
  const device = await house.pair(name)
  await owner.api.pairedDevices.update({ params: { id: device.id }, body: { personId } })
  return device
}

test('a reminder reaches the devices of whom it is for, at its time, once', async () => {
  await using house = await startHouse()
  const family = await makeFamily(house)
  const bens = await pairFor(house, family, 'Ben’s phone', family.ben)
  await house.pair('Guest', 'guest')
  const shared = await house.pair('Kitchen', 'member', 'tablet')
  const dueAt = inMs(HOUR_MS)
  const forBen = await family.owner.api.todos.create({
    body: { title: 'Bring out the bins', personId: family.ben, remindAt: inMs(300), dueAt },
  })
  const forAll = await family.owner.api.todos.create({ body: { title: 'Dinner', remindAt: inMs(500) } })
  const soon = inMs(4_000)
  const cancelled = await family.owner.api.todos.create({ body: { title: 'Done before', remindAt: soon } })
  await family.owner.api.todos.complete({ params: { id: cancelled.id } })
  const moved = await family.owner.api.todos.create({ body: { title: 'Moved', remindAt: soon } })
  await family.owner.api.todos.update({ params: { id: moved.id }, body: { remindAt: inMs(HOUR_MS) } })
  await family.owner.api.todos.create({
    body: { title: 'Last', personId: family.ben, remindAt: new Date(Date.parse(soon) + 1).toISOString() },
  })
  await expect.poll(() => reminders(family), WAIT).toHaveLength(4)
  const due = expect.stringMatching(/^Due (today|tomorrow) at \d\d:\d\d\.$/)
  expect(await reminders(family)).toMatchObject([
    { title: 'Bring out the bins', body: due, deviceId: bens.id, data: { todoId: forBen.id } },
    { title: 'Dinner', deviceId: bens.id, data: { todoId: forAll.id } },
    { title: 'Dinner', deviceId: shared.id },
    { title: 'Last', deviceId: bens.id },
  ])
  for (const id of [forBen.id, forAll.id]) {
    const todo = await family.owner.api.todos.get({ params: { id } })
    await family.owner.api.todos.update({ params: { id }, body: todo })
  }
  await house.restart()
  expect(await reminders(family)).toHaveLength(4)
})

test('what is for nobody in particular everyone is told of; with no device at all the PC is', async () => {
  await using house = await startHouse()
  const family = await makeFamily(house)
  const remind = (title: string, personId?: string) =>
    family.owner.api.todos.create({ body: { title, remindAt: inMs(-1_000), ...(personId && { personId }) } })
  await remind('for all')
  await remind('for Ada, who has the PC', family.ada)
  await expect.poll(() => reminders(family), WAIT).toHaveLength(2)
  const console_ = (await reminders(family))[0]?.deviceId
  const { id: phone } = await house.pair('Phone')
  await remind('for all again')
  await expect.poll(() => reminders(family), WAIT).toHaveLength(3)
  await remind('for Ada again', family.ada)
  await expect.poll(() => reminders(family), WAIT).toHaveLength(4)
  expect((await reminders(family)).map(({ deviceId }) => deviceId)).toEqual([console_, console_, phone, console_])
})

test('what is for somebody without a device waits for their first one, and nobody else is told', async () => {
  await using house = await startHouse()
  const family = await makeFamily(house)
  const tablet = await house.pair('Kitchen', 'member', 'tablet')
  const remind = (title: string) => family.owner.api.todos.create({ body: { title, remindAt: inMs(-1_000), personId: family.ben } })
  const surprise = await remind('Surprise for Ada')
  const settled = await remind('Done meanwhile')
  await expect
    .poll(() => reminders(family), WAIT)
    .toMatchObject([
      { title: 'Surprise for Ada', deviceId: family.ben, status: 'pending', data: { todoId: surprise.id } },
      { title: 'Done meanwhile', deviceId: family.ben, status: 'pending' },
    ])
  await family.owner.api.todos.complete({ params: { id: settled.id } })
  expect(await tablet.api.notifications.list({ query: {} })).toEqual([])
  await house.restart()
  const bens = await pairFor(house, family, 'Ben’s phone', family.ben)
  const waiting = async () =>
    (await reminders(family)).filter(({ status }) => status === 'pending').map(({ title, deviceId }) => [title, deviceId])
  await expect.poll(waiting, WAIT).toEqual([['Surprise for Ada', bens.id]])
  await remind('Another')
  await expect.poll(waiting, WAIT).toEqual([
    ['Surprise for Ada', bens.id],
    ['Another', bens.id],
  ])
  expect(await tablet.api.notifications.list({ query: {} })).toEqual([])
})

test('what waited for somebody goes with them, and what comes then is for nobody in particular', async () => {
  await using house = await startHouse()
  const family = await makeFamily(house)
  const tablet = await house.pair('Kitchen', 'member', 'tablet')
  const remind = (title: string, remindAt: string) => family.owner.api.todos.create({ body: { title, remindAt, personId: family.ben } })
  await remind('Before', inMs(-1_000))
  await expect.poll(() => reminders(family), WAIT).toMatchObject([{ title: 'Before', deviceId: family.ben }])
  const { id } = await remind('After', inMs(HOUR_MS))
  const { household, persons } = await family.owner.api.household.get()
  const { id: _, ...settings } = household
  await family.owner.api.household.replace({ body: { ...settings, persons: persons.filter((person) => person.id !== family.ben) } })
  expect(await reminders(family)).toEqual([])
  await family.owner.api.todos.update({ params: { id }, body: { remindAt: inMs(-1_000) } })
  await expect.poll(() => reminders(family), WAIT).toMatchObject([{ title: 'After', deviceId: tablet.id }])
})

test('a reminder of the time when nothing ran comes with the next start', async () => {
  await using house = await startHouse()
  const family = await makeFamily(house)
  for (let at = 0; at < 45; at++) await family.owner.api.todos.create({ body: { title: `thing ${at}`, remindAt: inMs(HOUR_MS + at) } })
  expect(await reminders(family)).toEqual([])
  later(2 * HOUR_MS)
  await house.restart()
  await expect.poll(() => reminders(family), WAIT).toHaveLength(45)
  await house.restart()
  expect((await reminders(family)).map(({ title }) => title)).toEqual(Array.from({ length: 45 }, (_, at) => `thing ${at}`))
})

test('a clock that is set while it runs is noticed', async () => {
  await using house = await startHouse()
  const family = await makeFamily(house)
  await family.owner.api.todos.create({ body: { title: 'far away', remindAt: inMs(40 * 24 * HOUR_MS) } })
  later(3 * 24 * HOUR_MS)
  await family.owner.api.todos.create({ body: { title: 'nearer', remindAt: inMs(24 * HOUR_MS) } })
  later(2 * 24 * HOUR_MS)
  await expect.poll(async () => (await reminders(family)).map(({ title }) => title), WAIT).toEqual(['nearer'])
})

test('killed at any moment it reminds once: a copy of the disk is either before or after', async () => {
  await using house = await startHouse()
  const family = await makeFamily(house)
  const folder = mkdtempSync(join(tmpdir(), 'hearth-copy-'))
  await family.owner.api.todos.create({ body: { title: 'once', remindAt: inMs(2_000) } })
  const seen: string[] = []
  while ((await reminders(family)).length === 0) {
    for (const suffix of ['', '-wal']) cpSync(join(house.dataPath, `hearth.sqlite${suffix}`), join(folder, `copy.sqlite${suffix}`))
    seen.push(await stateOf(join(folder, 'copy.sqlite')))
  }
  for (const suffix of ['', '-wal']) cpSync(join(house.dataPath, `hearth.sqlite${suffix}`), join(folder, `copy.sqlite${suffix}`))
  seen.push(await stateOf(join(folder, 'copy.sqlite')))
  rmSync(folder, { recursive: true, force: true })
  expect(new Set(seen)).toEqual(new Set(['to come, 0 made', 'done, 1 made']))
})

async function stateOf(path: string): Promise<string> {
  const { default: BetterSqlite3 } = await import('better-sqlite3')
  const raw = new BetterSqlite3(path)
  const waiting = raw.prepare('SELECT COUNT(*) FROM "todo" WHERE "reminderAt" IS NOT NULL').pluck().get()
  const made = raw.prepare('SELECT COUNT(*) FROM "notification"').pluck().get()
  raw.close()
  return `${waiting === 1 ? 'to come' : 'done'}, ${made} made`
}
