import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Family, startFamily } from '../memory/family.ts'
import { json } from '../support/credentials.ts'
import type { Person } from '../support/house.ts'

let family: Family
beforeAll(async () => {
  family = await startFamily()
})
afterAll(() => family[Symbol.asyncDispose]())

/** A conversation with the house, said one after the other. */
function talk(who: Person) {
  let conversationId: string | undefined
  return async (message: string): Promise<string> => {
    const answer = await (await who.fetch('/api/chat', json({ message, ...(conversationId && { conversationId }) }))).text()
    conversationId = (JSON.parse(answer.slice(0, answer.indexOf('\n'))) as { conversationId: string }).conversationId
    return answer.slice(answer.indexOf('\n') + 1)
  }
}
const known = async () => (await family.ada.api.memory.chunks({ query: {} })).chunks.map(({ content }) => content)
const open = async () => (await family.ada.api.todos.list({ query: { status: 'open' } })).map(({ title }) => title)
const DAY_MS = 86_400_000
const at = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

test('of several memories it is asked which to forget, and what was forgotten comes back by a word', async () => {
  const say = talk(family.ada)
  await say('remember that the boiler was serviced in May')
  await say('remember that the boiler code is 4711')
  await say('remember that the boiler hums at night')
  const before = (await known()).toSorted()
  const which = await say('forget about the boiler')
  expect(which).toMatch(/^Which shall I forget\? 1: “the boiler hums at night”; 2: “the boiler code is 4711”; 3: /)
  expect((await known()).toSorted()).toEqual(before)
  expect(await say('7')).toMatch(/^Which shall I forget/)
  expect(await say('number 2')).toBe('I have forgotten: the boiler code is 4711. Say “undo” to have that back.')
  expect((await known()).toSorted()).toEqual(before.filter((text) => !text.includes('4711')))
  expect(await say('undo')).toBe('I remember again: the boiler code is 4711')
  expect((await known()).toSorted()).toEqual(before)
  await say('forget about the boiler')
  await say('all of them')
  expect(await known()).toEqual([])
  expect(await say('undo')).toBe('I took that back.')
  expect((await known()).toSorted()).toEqual(before)
  await say('forget about the boiler')
  expect(await say('none')).toBe('All right, I leave it.')
  expect((await known()).toSorted()).toEqual(before)
  expect(await say('what do you know about the boiler')).toMatch(/hums.*4711.*May/s)
})

test('a number means nothing where nothing was asked', async () => {
  const say = talk(family.ada)
  await say('what do you know about the boiler')
  const before = await known()
  await say('2')
  await say('all of them')
  expect(await known()).toEqual(before)
})

test('a reminder goes by its name, and no memory in its place', async () => {
  const say = talk(family.ada)
  await say('remember that the oven is a Miele')
  await say('remind me to clean the oven tomorrow at 9')
  await say('remind me to water plants tomorrow at 10')
  expect(await say('cancel the reminder to clean the oven')).toMatch(/^I took out the reminder: clean the oven, tomorrow at .* Say “undo”/)
  expect(await open()).toEqual(['water plants'])
  expect(await known()).toContain('the oven is a Miele')
  await say('undo')
  expect((await open()).toSorted()).toEqual(['clean the oven', 'water plants'])
  expect(await say('delete the reminder about the oven')).toContain('clean the oven')
  expect(await say('delete the reminder about the oven')).toBe('I found no reminder of “the oven”.')
  expect(await say('cancel the reminder')).toContain('water plants')
  expect(await say('lösche die Erinnerung an den Miele')).toContain('nicht gefunden')
  expect(await known()).toContain('the oven is a Miele')
})

test('without its name only a reminder of who speaks goes, and another’s only after a yes', async () => {
  const [ada, ben, tablet] = [talk(family.ada), talk(family.ben), talk(family.shared)]
  for (const { id } of await family.ada.api.todos.list({ query: { status: 'open' } })) await family.ada.api.todos.remove({ params: { id } })
  await ada('add a to-do to pay the taxes')
  const plain = await open()
  expect(plain).toHaveLength(1)
  for (const say of [ada, ben, tablet]) await say('delete my reminder')
  expect(await open()).toEqual(plain)
  await ada('remind me to prune roses tomorrow at 9')
  expect(await ben('delete my reminder')).toBe('You have no reminders.')
  expect(await ben('lösche die Erinnerung')).toBe('Du hast keine Erinnerungen.')
  expect(await tablet('cancel my reminder')).toMatch(/^Which reminder\?/)
  expect(await ben('cancel the reminder to prune roses')).toMatch(/^This is a reminder of Ada: prune roses, tomorrow at .* yes or no\.$/)
  expect(await ben('no')).toContain('leave')
  expect(await tablet('cancel the reminder to prune roses')).toContain('a reminder of Ada')
  expect(await open()).toContain('prune roses')
  await tablet('yes')
  expect(await open()).toEqual(plain)
  await ada('remind me to prune roses tomorrow at 9')
  expect(await ada('delete my reminder')).toMatch(/^I took out the reminder: prune roses/)
  expect(await open()).toEqual(plain)
})

test('a time said after a to-do without one is when it reminds', async () => {
  const say = talk(family.ada)
  expect(await say('remind me to call the bank')).toContain('tell me when')
  expect(await say('tomorrow at 9')).toMatch(/^I will remind you tomorrow at 0?9:00.*: call the bank\.$/)
  const found = (await family.ada.api.todos.list({ query: { status: 'open' } })).filter(({ title }) => title === 'call the bank')
  expect(found).toMatchObject([{ remindAt: expect.any(String), personId: family.ids.ada }])
  expect(await say('tomorrow at 10')).not.toContain('remind you')
  expect(await say('what reminders does Ada have')).toContain('call the bank')
  expect(await say('what reminders does Ben have')).toBe('Ben has no reminders.')
})

test('a time said after a to-do that was changed, done or deleted meanwhile makes none of it anew', async () => {
  const { list, update, complete, remove } = family.ada.api.todos
  const all = async () => (await list({ query: { status: 'all' } })).filter(({ title }) => /kite|string/.test(title))
  const changes: ((id: string) => Promise<unknown>)[] = [
    (id) => update({ params: { id }, body: { title: 'mend the string', notes: 'it is blue' } }),
    (id) => update({ params: { id }, body: { notes: 'it is blue' } }),
    (id) => complete({ params: { id } }),
    (id) => remove({ params: { id } }),
  ]
  for (const change of changes) {
    const say = talk(family.ada)
    await say('remind me to fly the kite')
    const [added] = await all()
    await change(added?.id ?? '')
    const after = await all()
    expect(await say('tomorrow at 8')).not.toMatch(/remind you|does not exist/)
    expect(await all()).toEqual(after)
    for (const { id } of after) await remove({ params: { id } })
  }
})

test('when something is, is looked up in the calendar and among the to-dos', async () => {
  const say = talk(family.ada)
  const add = (title: string, startAt: string, more: object = {}) => family.ada.api.calendar.create({ body: { title, startAt, ...more } })
  await add('choir', at(-3))
  await add('choir', at(4))
  await add('dinner with Grandma Rose', at(5))
  await add('dentist', at(6), { personId: family.ids.cleo })
  await family.ada.api.todos.create({ body: { title: 'tax return', dueAt: at(10) } })
  expect(await say('when is choir')).toMatch(/^choir is on /)
  expect(await say('when is dinner with grandma')).toMatch(/^dinner with Grandma Rose is on /)
  expect(await say("when is cleo's dentist")).toMatch(/^dentist is on /)
  expect(await say('when is the dentist')).toMatch(/^dentist is on /)
  expect(await say("when is ben's dentist")).toContain('do not know')
  expect(await say('when is the tax return')).toMatch(/^tax return is on /)
  expect(await say('wann ist der Choir?')).toMatch(/^choir ist am /)
})

test('a question about a person is answered by what bears on it alone', async () => {
  const say = talk(family.ada)
  await say('remember that Cleo is allergic to peanuts')
  await say("remember that Cleo's school starts at 8:50")
  expect(await say("what's cleo's favourite colour")).not.toMatch(/peanuts|school/)
  expect(await say('can cleo eat peanut butter')).toContain('peanuts')
  expect(await say('who is cleo')).toMatch(/^Cleo is a child of this household\..*peanuts/s)
  expect(await say('who is granny')).toContain('do not know')
  expect(await say('what did I ask you to remember')).toMatch(/^What I noted down last: “Cleo's school/)
})

test('alarms are asked about by when they ring, and “stop” means the timer where nothing plays', async () => {
  const say = talk(family.ben)
  await say('set an alarm for 7 am')
  await say('set an alarm for 8 am')
  expect(await say('cancel the alarm')).toMatch(/^Which one: .*7:00.* or .*8:00.*\?$/)
  expect(await say('lösche den Wecker')).toMatch(/^Welcher: .*07:00.* oder .*08:00.*\?$/)
  await say('set a timer for 10 minutes')
  expect(await say('stop the music')).toContain('cannot play music')
  expect(await say('stop')).toMatch(/cancelled/)
})
