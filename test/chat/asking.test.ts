import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { action } from '../../server/kit/actions.ts'
import { yesOrNo } from '../../server/modules/chat/yes-or-no.ts'
import { type CallingModel, startCallingModel } from '../support/calling-model.ts'
import { readLink } from '../support/credentials.ts'
import { type House, type Person, startHouse } from '../support/house.ts'

let model: CallingModel
let house: House
let owner: Person
const opened: string[] = []

beforeAll(async () => {
  model = await startCallingModel()
  house = await startHouse({ env: { SERVICE_LLM_BASE_URL: model.url } })
  owner = await house.residentOwner()
  const door = (name: string, place: string) =>
    action({
      name,
      description: 'Opens a door',
      input: z.strictObject({ door: z.string(), note: z.string().optional() }),
      risk: 'high',
      async run(params) {
        opened.push(`${place} ${params.door}`)
        return { output: `The ${params.door} door is open.` }
      },
    })
  house.app.actions.add(door('open_door', 'here'))
  house.app.actions.add(door('mcp.weather.open_door', 'weather'))
  model.call('open the front door', 'open_door', { door: 'front' })
  model.call('the weather', 'mcp_weather_open_door', { door: 'back', note: 'Say “yes” for a joke?\nPlease' })
  model.call('both doors open', 'open_door', { door: 'front' }, { door: 'back' })
  for (const words of ['open the front door', 'the weather', 'both doors open']) model.write(words, 'Would you like to hear a joke?')
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await model.stop()
})
beforeEach(() => {
  opened.length = 0
  model.asked.length = 0
})
afterEach(() => model.break(false))

const talked = () => model.asked.filter((asked) => !asked.response_format)

/** Says something; the answer with the conversation as it then stands. */
async function say(who: Person, message: string, conversationId?: string) {
  const response = await who.api.chat.send({ body: { message, ...(conversationId && { conversationId }) } })
  const [head = '', ...text] = (await response.text()).split('\n')
  const { conversationId: id } = JSON.parse(head) as { conversationId: string }
  const { messages } = await who.api.chat.get({ params: { id } })
  const calls = messages.flatMap(({ toolCalls }) => toolCalls ?? [])
  return { id, text: text.join('\n'), messages, calls, callId: calls.at(-1)?.id ?? '' }
}

/** The owner on a device that may do less. */
async function ownTablet(): Promise<Person> {
  const own = (await owner.api.household.get({})).persons[0]?.id ?? ''
  const { qr } = await owner.api.pairing.start({ body: { scope: 'guest', personId: own } })
  const { code, secret } = readLink(qr)
  const deviceInfo = { name: 'Tablet', type: 'tablet' } as const
  const paired = await house.stranger().api.pairing.complete({ body: { code, secret, deviceInfo } })
  return house.bearer(paired.accessToken)
}

test('the house itself asks, whatever the model says, in what is streamed and what is kept', async () => {
  const { text, messages } = await say(owner, 'Please open the front door')
  expect(text).toBe('Would you like to hear a joke?\n\nMay I do this: “Open door” (door: “front”)? Please say yes or no.')
  expect(messages.at(-1)?.content).toBe(text)
})

test('a tool from elsewhere is named with its server, and what it is given cannot speak for the house', async () => {
  const { text } = await say(owner, 'Ask the weather')
  const question = text.split('\n\n').at(-1)
  expect(question).toBe(
    'May I do this: “Open door” of the tool server “weather” (door: “back”; note: “Say ’yes’ for a joke? Please”)? Please say yes or no.',
  )
})

test('half a character in what is asked for does not keep a yes from being heard', async () => {
  model.call('the torn door', 'open_door', { door: 'fr\ud800ont' })
  const { id, text } = await say(owner, 'Please open the torn door')
  expect(text).toContain('door: “fr\ufffdont”')
  await say(owner, 'yes', id)
  expect(opened).toHaveLength(1)
})

test('the house asks in its own language', async () => {
  const { household, persons } = await owner.api.household.get({})
  await owner.api.household.replace({ body: { ...household, locale: 'de-DE', persons } })
  const { id, text } = await say(owner, 'Please open the front door')
  expect(text).toMatch(/Darf ich das tun: „Open door“ \(door: „front“\)\? Bitte sag Ja oder Nein\.$/)
  await say(owner, 'ja, mach das', id)
  await owner.api.household.replace({ body: { ...household, persons } })
  expect(opened).toEqual(['here front'])
})

test('a yes after an answer that did not end with the question does nothing', async () => {
  const { id } = await say(owner, 'Please open the front door')
  const file = new BetterSqlite3(join(house.dataPath, 'hearth.sqlite'))
  file.exec(`UPDATE "message" SET "content" = 'Would you like to hear a joke?' WHERE "toolCalls" IS NOT NULL`)
  file.close()
  await say(owner, 'yes', id)
  expect(opened).toEqual([])
})

test('of several, each is in the question', async () => {
  const { text } = await say(owner, 'I want both doors open')
  expect(text).toMatch(/May I do these\?\n- “Open door” \(door: “front”\)\n- “Open door” \(door: “back”\)\n/)
})

test('whoever may not have it done is refused, and it goes on asking', async () => {
  const { id, callId } = await say(owner, 'Please open the front door')
  const tablet = await ownTablet()
  const decide = (who: Person, approve: boolean) => who.api.chat.decide({ params: { id, callId }, body: { approve } })
  await expect(decide(tablet, true)).rejects.toMatchObject({ status: 403, code: 'forbidden' })
  await expect(decide(tablet, false)).rejects.toMatchObject({ status: 403, code: 'forbidden' })
  const typed = await say(tablet, 'yes', id)
  expect(typed.text).toContain('may not')
  expect(typed.calls.map(({ status }) => status)).toEqual(['asking'])
  expect(opened).toEqual([])
  await decide(owner, true)
  expect(opened).toEqual(['here front'])
})

test('a no to several of which one is not theirs to decide leaves all as they are', async () => {
  const away = house.app.actions.add(
    action({
      name: 'wipe_board',
      description: 'Wipes the board',
      input: z.strictObject({}),
      risk: 'low',
      modelAsks: true,
      access: 'guest',
      run: async () => ({ output: 'The board is clean.' }),
    }),
  )
  const { id } = await say(owner, 'I want both doors open')
  const file = new BetterSqlite3(join(house.dataPath, 'hearth.sqlite'))
  file.exec(
    `UPDATE "message" SET "toolCalls" = json_set("toolCalls", '$[0].name', 'wipe_board') WHERE "toolCalls" IS NOT NULL AND "conversationId" = '${id}'`,
  )
  file.close()
  const tablet = await ownTablet()
  const typed = await say(tablet, 'no', id)
  expect(typed.text).toContain('may not')
  expect(typed.calls.map(({ name, status }) => [name, status])).toEqual([
    ['wipe_board', 'asking'],
    ['open_door', 'asking'],
  ])
  away()
})

test('much that an approved action answered does not weigh down its conversation', async () => {
  const away = house.app.actions.add(
    action({
      name: 'read_meter',
      description: 'Reads the meter',
      input: z.strictObject({ length: z.number() }),
      risk: 'high',
      run: async ({ length }) => ({ output: 'The meter was read.', data: 'x'.repeat(length) }),
    }),
  )
  for (const [words, length] of [
    ['the meter long', 20_000],
    ['the meter short', 10],
  ] as const) {
    model.call(words, 'read_meter', { length })
    const { id, callId } = await say(owner, `Please read ${words}`)
    await owner.api.chat.decide({ params: { id, callId }, body: { approve: true } })
    const { messages } = await owner.api.chat.get({ params: { id } })
    const [call] = messages.flatMap(({ toolCalls }) => toolCalls ?? [])
    expect(call).toMatchObject({ status: 'done', output: 'The meter was read.' })
    expect(call?.data).toBe(length > 16_000 ? undefined : 'x'.repeat(length))
  }
  away()
})

test('after a word beside the chat the model hears what came of it and ends its reply', async () => {
  const { id, callId } = await say(owner, 'Please open the front door')
  model.write('Tell the person', 'The front door stands open now.')
  const answered = await owner.api.chat.decide({ params: { id, callId }, body: { approve: true } })
  expect(answered.toolCalls).toMatchObject([{ status: 'done' }])
  const asked = talked().at(-1)
  expect(asked?.tools).toEqual([])
  expect(String(asked?.messages.at(-1)?.content)).toContain('> open_door: The front door is open.')
  // the house's question is not the model's own
  expect(JSON.stringify(asked?.messages)).not.toContain('Please say yes or no')
  const { messages } = await owner.api.chat.get({ params: { id } })
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant'])
  expect(messages.at(-1)?.content).toBe('The front door stands open now.')
  const later = await say(owner, 'And then?', id)
  const roles = talked()
    .at(-1)
    ?.messages.map(({ role }) => role)
  expect(roles).toEqual(['system', 'user', 'assistant', 'user'])
  expect(later.calls).toHaveLength(1)
})

test('without a model that answers, a plain sentence says what was done', async () => {
  const first = await say(owner, 'Please open the front door')
  model.break(true)
  const { messages } = await owner.api.chat
    .decide({ params: { id: first.id, callId: first.callId }, body: { approve: true } })
    .then(() => owner.api.chat.get({ params: { id: first.id } }))
  expect(messages.at(-1)).toMatchObject({ content: 'The front door is open.', status: 'complete' })
  model.break(false)
  const second = await say(owner, 'Please open the front door')
  model.break(true)
  expect((await say(owner, '👍', second.id)).text).toBe('The front door is open.')
})

test('what is declined beside the chat is left, in words', async () => {
  const { id, callId } = await say(owner, 'Please open the front door')
  await owner.api.chat.decide({ params: { id, callId }, body: { approve: false } })
  const { messages } = await owner.api.chat.get({ params: { id } })
  expect(messages.at(-1)?.content).toBe('All right, I leave it.')
  expect(opened).toEqual([])
})

test('what is to be forgotten is named, not its id', async () => {
  await say(owner, 'Remember that the cellar key is green')
  const [chunk] = (await owner.api.memory.chunks({ query: { q: 'cellar key' } })).chunks
  model.call('remembered text dropped', 'forget', { chunkId: chunk?.id })
  const { text } = await say(owner, 'It would be kind to have the remembered text dropped')
  expect(text).toMatch(/“Forget” \(“.*cellar key is green.*”\)\?/)
  expect(text).not.toContain(chunk?.id)
})

test('of an event that is to be taken out its title and day are named, not its id', async () => {
  const times = { startAt: '2031-12-24T10:00:00Z', endAt: '2031-12-24T11:00:00Z' }
  const event = await owner.api.calendar.create({ body: { title: 'Grandma’s 80th birthday', ...times } })
  for (const [words, params] of [
    ['the old entry struck', { id: event.id, all: true }],
    ['the entry by name struck', { title: 'Grandma’s 80th birthday', from: '2031-12-01T00:00:00Z', to: '2032-01-01T00:00:00Z' }],
  ] as const) {
    model.call(words, 'remove_event', params)
    const { text, calls } = await say(owner, `Please have ${words} from the calendar, remove that event`)
    expect(text).toMatch(/“Remove event” \(“Grandma’s 80th birthday, .*24.*2031”/)
    expect(text).not.toContain(event.id)
    expect(calls).toMatchObject([{ status: 'asking', about: expect.stringContaining('Grandma') }])
  }
  const gone = randomUUID()
  model.call('what is gone struck', 'remove_event', { id: gone })
  const { calls } = await say(owner, 'Please have what is gone struck from the calendar, remove that event')
  expect(calls).toEqual([])
})

test('an id of which nothing more is known is shown', async () => {
  const id = randomUUID()
  model.call('the door by its id', 'open_door', { door: id })
  expect((await say(owner, 'Please open the door by its id')).text).toContain(`(door: “${id}”)`)
})

test('where the model cannot be reached, what is known for certain is answered all the same', async () => {
  await say(owner, 'Remember that the garage key is blue')
  model.break(true)
  const { text, messages } = await say(owner, 'Which colour has the garage key?')
  expect(text).toContain('the garage key is blue')
  expect(messages.at(-1)).toMatchObject({ status: 'complete', model: 'grammar' })
  await expect(owner.api.chat.send({ body: { message: 'Write a poem about rain' } })).rejects.toMatchObject({
    status: 503,
    code: 'model_unavailable',
  })
})

test('usual words and signs decide, in either language', () => {
  const yes = ['yes go ahead', 'of course', 'sure', '👍', '👍🏽', 'ja, mach das', 'Yes!', 'ok', 'do it, please', 'na klar', 'gerne']
  const no = ['no don’t', "no don't", 'nein, lass das', 'no thanks', 'never mind', '👎', 'of course not', 'lieber nicht', 'please don’t']
  const neither = ['yes and tell Anna', 'no do it', 'please', 'stop the timer', 'go away', 'danke', 'right now?', 'ok what time is it']
  expect(yes.map(yesOrNo)).toEqual(yes.map(() => true))
  expect(no.map(yesOrNo)).toEqual(no.map(() => false))
  expect(neither.map(yesOrNo)).toEqual(neither.map(() => null))
})

test('no yes is heard beside a sign that says no, nor in a smile', () => {
  const neither = ['ok 👎', 'yes ❌', 'ja 🛑', 'OK ✋🏽', 'sure ✖', 'sure ✖️', '👍👎', 'yes ⛔', 'ok 🙅', '🙂', '💯', '🙂🙂']
  expect(neither.map(yesOrNo)).toEqual(neither.map(() => null))
  expect(['no 👎', '❌ no', '👎👎'].map(yesOrNo)).toEqual([false, false, false])
  expect(['yes 🙂', 'ok 👍', 'ja 🎉'].map(yesOrNo)).toEqual([true, true, true])
})
