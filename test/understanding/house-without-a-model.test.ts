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
  expect(await say('What is the capital of France?')).toMatch(/do not know that/)
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
