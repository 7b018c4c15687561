import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Family, makeFamily } from '../support/family.ts'
import { type House, type Person, startHouse } from '../support/house.ts'

let house: House
let family: Family
beforeAll(async () => {
  house = await startHouse()
  family = await makeFamily(house)
})
afterAll(() => house[Symbol.asyncDispose]())

/** Talks in one conversation; resolves to what is answered. */
function talk(person: Person) {
  let conversationId: string | undefined
  return async (message: string): Promise<string> => {
    const response = await person.fetch('/api/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message, ...(conversationId && { conversationId }) }),
    })
    const answer = await response.text()
    expect(response.status, answer).toBe(200)
    const end = answer.indexOf('\n')
    conversationId = (JSON.parse(answer.slice(0, end)) as { conversationId: string }).conversationId
    return answer.slice(end + 1)
  }
}

test('what is remembered is recalled with where it came from, and forgotten', async () => {
  const say = talk(family.owner)
  expect(await say('Remember that the boiler code is 8150')).toMatch(/remember/i)
  expect(await say('What is the boiler code?')).toContain('8150')
  expect(await say('Why do you know this?')).toContain('the boiler code is 8150')
  expect(await say('Forget that')).toMatch(/forgotten/i)
  expect(await say('Why do you know this?')).not.toContain('8150')
  expect(await say('What is the boiler code?')).not.toContain('8150')
})

test('lists, reminders, timers and the calendar are kept', async () => {
  const say = talk(family.owner)
  expect(await say('Add milk and eggs to the shopping list')).toContain('milk and eggs')
  expect(await say("What's on the shopping list?")).toMatch(/milk.*eggs|eggs.*milk/)
  expect(await say('Check milk off the shopping list')).toMatch(/milk/)
  expect(await say("What's on the shopping list?")).not.toContain('milk')
  expect(await say('Remind Ben to feed the cat tomorrow at 5')).toContain('Ben')
  const todos = await family.owner.api.todos.list({ query: {} })
  expect(todos.find(({ title }) => title === 'feed the cat')).toMatchObject({ personId: family.ben, remindAt: expect.any(String) })
  expect(await say('Set a pizza timer for 12 minutes')).toMatch(/pizza timer.*12 minutes/)
  expect(await say('How much time is left on the pizza timer?')).toMatch(/1[12] minutes/)
  expect(await say('Cancel the pizza timer')).toMatch(/cancelled/)
  expect(await say('Which timers are running?')).toBe('No timer is running.')
  expect(await say('Put choir every Thursday at 19:30 into the calendar')).toContain('choir')
  expect(await say('When is my next appointment?')).toMatch(/choir.*19:30/)
})

test('what is not understood gets an honest answer with what is near', async () => {
  const say = talk(family.owner)
  expect(await say('Please knit me a timer cosy')).toMatch(/did not understand.*timer/s)
  expect(await say('What is the capital of France?')).toMatch(/cannot look that up/)
  expect(await say('Turn on the lamp')).toMatch(/cannot switch/)
})

test('a guest keeps nothing and learns nothing', async () => {
  const guest = await house.pair('Visitor', 'guest')
  const say = talk(guest)
  await talk(family.owner)('Remember that the safe code is 9321')
  expect(await say('What is the safe code?')).not.toContain('9321')
  expect(await say('Set a timer for 5 minutes')).toMatch(/may not do that for guests/)
  expect(await say('What is 6 times 7?')).toContain('42')
})

test('what was done last is taken back by a word', async () => {
  const say = talk(family.owner)
  const { todos, timers } = family.owner.api
  const open = async () => (await todos.list({ query: { status: 'open' } })).map(({ title }) => title)
  expect(await say('undo')).toContain('nothing')
  await say('Add soap and string to the shopping list')
  await say('Check soap off the shopping list')
  expect(await open()).not.toContain('soap')
  expect(await say('I did not do that')).toBe('soap is open again.')
  expect(await open()).toContain('soap')
  expect(await say('Clear the shopping list')).toMatch(/I took .* off the shopping list\. Say “undo”/)
  expect(await open()).not.toContain('soap')
  expect(await say('undo')).toBe('I took that back.')
  expect(await open()).toEqual(expect.arrayContaining(['soap', 'string']))
  await say('Set a soup timer for 12 minutes')
  await say('Cancel the soup timer')
  await say('undo that')
  expect((await timers.list()).map(({ name }) => name)).toContain('soup')
})

test('what was only asked meanwhile does not keep it from being taken back, what was done does', async () => {
  const say = talk(family.owner)
  const open = async () => (await family.owner.api.todos.list({ query: { status: 'open' } })).map(({ title }) => title)
  await say('Add marzipan to the shopping list')
  expect(await say("What's on the shopping list?")).toContain('marzipan')
  await say('Which timers are running?')
  expect(await say('Undo that')).toContain('marzipan')
  expect(await open()).not.toContain('marzipan')
  await say('Add nougat to the shopping list')
  await say('Remember that the attic code is 2211')
  expect(await say('Undo that')).toBe('There is nothing that I could take back.')
  expect(await open()).toContain('nougat')
})

test('what is put back on a list does not remind again of what is over', async () => {
  const say = talk(family.owner)
  const { todos, notifications } = family.owner.api
  const remindAt = new Date(Date.now() - 60_000).toISOString()
  const reminders = async (title: string) =>
    (await notifications.list({ query: { limit: 500 } })).filter((one) => one.title === title).length
  await todos.create({ body: { title: 'Grease the rudder', list: 'boat', remindAt } })
  await expect.poll(() => reminders('Grease the rudder'), { timeout: 15_000 }).toBeGreaterThan(0)
  const once = await reminders('Grease the rudder')
  await say('Clear the boat list')
  expect(await say('undo')).toMatch(/^Added Grease the rudder to the boat list\./)
  expect(await todos.list({ query: { list: 'boat' } })).toMatchObject([{ title: 'Grease the rudder', remindAt }])
  await todos.create({ body: { title: 'a sign of life', remindAt: new Date().toISOString() } })
  await expect.poll(() => reminders('a sign of life'), { timeout: 15_000 }).toBeGreaterThan(0)
  expect(await reminders('Grease the rudder')).toBe(once)
})

test('things are put on the list once, and what is missing is asked for', async () => {
  const say = talk(family.owner)
  expect(await say('We need toilet paper')).toBe('Added toilet paper to the shopping list.')
  expect(await say('Add Toilet Paper to the shopping list')).toBe('Toilet Paper is on the shopping list already.')
  expect(await say('put "AA batteries (x4)" on the shopping list')).toContain('AA batteries (x4)')
  expect(await say('add to shopping list')).toMatch(/What shall I put/)
  expect(await say('set a timer for -5 minutes')).toMatch(/forward only/)
})

test('events are moved and cancelled by their names', async () => {
  const say = talk(family.owner)
  const { calendar } = family.owner.api
  const found = async (wanted: string) => (await calendar.list({ query: {} })).filter(({ title }) => title === wanted)
  await say('Add Checkup on Tuesday at 3 pm to the calendar')
  const [before] = await found('Checkup')
  expect(await say('Move the checkup to Friday')).toMatch(/^Checkup is now/)
  const [after] = await found('Checkup')
  expect(new Date(after?.startAt ?? '').getUTCDay()).toBe(5)
  expect(after?.startAt.slice(10)).toBe(before?.startAt.slice(10))
  await say('undo')
  expect(await found('Checkup')).toEqual([before])
  expect(await say('Cancel the checkup appointment')).toMatch(/^I took Checkup .* out of the calendar\.$/)
  expect(await found('Checkup')).toEqual([])
  await say('undo')
  expect(await found('Checkup')).toMatchObject([{ startAt: before?.startAt }])
  await say('Put swimming for Ben every Thursday at 16:00 into the calendar')
  expect(await found('swimming')).toMatchObject([{ personId: family.ben, recurrence: 'FREQ=WEEKLY;BYDAY=TH' }])
  expect(await say('Delete swimming from the calendar')).toMatch(/comes again/)
  expect(await found('swimming')).toHaveLength(1)
  expect(await say('Cancel the unicorn appointment')).toContain('no “unicorn”')
  expect(await say('Cancel the unicorn')).not.toContain('calendar.')
  expect(await say('Cancel the checkup')).toMatch(/^I took Checkup/)
})

test('a day is told with its reminders, and what there is to do with what is late', async () => {
  const say = talk(family.owner)
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
  await family.owner.api.todos.create({ body: { title: 'late thing', dueAt: inMs(-86_400_000) } })
  await family.owner.api.todos.create({ body: { title: 'Ben’s own', dueAt: inMs(-86_400_000), personId: family.ben } })
  await family.owner.api.todos.create({ body: { title: 'some day' } })
  await say('Remind me to water the ferns tomorrow at 5')
  expect(await say('What do I have to do today?')).toMatch(/^Today: (?!.*(Ben’s own|some day)).*late thing/)
  expect(await say("What's on tomorrow?")).toContain('Reminders: water the ferns at 17:00')
  expect(await say('What are my reminders?')).toMatch(/^Your reminders: (?!.*late thing).*water the ferns, tomorrow at 17:00/)
})
