import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeFamily } from '../support/family.ts'
import { type Device, type House, type Person, startHouse } from '../support/house.ts'
import { languages } from './house.ts'

let house: House
let owner: Person
let guest: Device

/** What is in the house, none of which a guest may hear of. */
const SECRET = /benedikt|zucchini|orthodont|marzipan|4711|larder|periwinkle|17 may|17\. mai/i

beforeAll(async () => {
  house = await startHouse()
  const family = await makeFamily(house)
  owner = family.owner
  await owner.api.household.replace({
    body: {
      displayName: 'Home',
      timezone: 'Europe/Berlin',
      locale: 'en-GB',
      mode: 'multi',
      persons: [{ displayName: 'Ada' }, { id: family.ben, displayName: 'Benedikt', aliases: ['Anna', 'Ben'], birthDate: '2011-05-17' }],
    },
  })
  await owner.api.memory.addChunk({ body: { source: 'note', content: 'The boiler code is 4711 and the spare key lies in the larder' } })
  await owner.api.memory.set({ body: { category: 'codes', key: 'boiler code', value: '4711' } })
  await owner.api.todos.create({ body: { title: 'zucchini', list: 'shopping' } })
  await owner.api.todos.create({ body: { title: 'marzipan', list: 'periwinkle' } })
  const soon = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  await owner.api.calendar.create({ body: { title: 'Orthodontist', startAt: soon(2), endAt: soon(3) } })
  await owner.api.calendar.create({ body: { title: 'Orthodontist', startAt: soon(24), endAt: soon(25) } })
  await owner.api.timers.create({ body: { name: 'periwinkle', durationMs: 3_600_000 } })
  guest = await house.pair('Visitor', 'guest')
})
afterAll(() => house[Symbol.asyncDispose]())

async function say(person: Person, message: string): Promise<string> {
  const response = await person.fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message }),
  })
  const answer = await response.text()
  expect(response.status, answer).toBe(200)
  return answer.slice(answer.indexOf('\n') + 1)
}

async function everything() {
  const { todos, calendar, timers, memory, household, notifications } = owner.api
  const { chunks } = await memory.chunks({ query: {} })
  return {
    todos: await todos.list({ query: {} }),
    events: await calendar.list({ query: {} }),
    timers: (await timers.list()).map(({ remainingMs: _, ...timer }) => timer),
    chunks,
    facts: await memory.list({ query: {} }),
    household: await household.get(),
    notifications: await notifications.list({ query: {} }),
  }
}

const SENTENCES = [
  'who lives here?',
  'who lives with us?',
  "when is Benedikt's birthday?",
  "when is Anna's birthday?",
  'how old is Ben?',
  'whose birthday is next?',
  'what is on today?',
  'what lists are there?',
  "what's on the periwinkle list?",
  'what is on the to-do list?',
  'is zucchini on the shopping list?',
  'how long is left on the periwinkle timer?',
  'cancel the periwinkle timer',
  'cancel all timers',
  'stop',
  'what do you know about me?',
  'forget about the boiler code',
  'how do you know that?',
  'turn off the lamp in 10 minutes',
  'wer wohnt hier?',
  'welche Listen gibt es?',
  'wie alt ist Benedikt?',
]

test('nothing that a guest says tells or changes what is not for guests', async () => {
  const before = await everything()
  for (const { intents } of languages()) {
    for (const { examples } of Object.values(intents)) {
      for (const example of examples) expect(await say(guest, example), example).not.toMatch(SECRET)
    }
  }
  for (const sentence of SENTENCES) expect(await say(guest, sentence), sentence).not.toMatch(SECRET)
  expect(await everything()).toEqual(before)
}, 120_000)

test('a guest is told that it is not for guests, whether there is something or not', async () => {
  for (const sentence of [
    'Who lives here?',
    'Which lists do we have?',
    'How is the house?',
    'What is on tomorrow?',
    'Whose birthday is next?',
  ]) {
    expect(await say(guest, sentence), sentence).toBe('I am sorry, I may not do that for guests.')
  }
})

test('a guest is offered and told what guests may do', async () => {
  expect(await say(guest, 'What can you do?')).not.toMatch(/remember|list|calendar|timer/i)
  const answer = await say(guest, 'Blue timers remember lists badly')
  expect(answer).toContain('did not understand')
  expect(answer).not.toMatch(/remember|list|calendar|timer/i)
  expect(await say(guest, 'What is the gate code?')).not.toMatch(/remember/i)
})

test('a guest may talk, ask the time and the music, and reckon', async () => {
  expect(await say(guest, 'What is 15% of 80?')).toBe('That is 12.')
  expect(await say(guest, 'What time is it?')).toMatch(/^It is \d/)
  expect(await say(guest, 'Stop the music')).toContain('no music box')
  expect(await say(guest, 'Good morning')).toContain('Good morning')
})

test('a member hears of all of it', async () => {
  const member = await house.pair('Tablet')
  expect(await say(member, 'Who lives here?')).toBe('Ada and Benedikt live here.')
  expect(await say(member, "What's on the periwinkle list?")).toContain('marzipan')
})
