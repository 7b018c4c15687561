import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { action } from '../../server/kit/actions.ts'
import { type CallingModel, startCallingModel } from '../support/calling-model.ts'
import { type House, type Person, startHouse } from '../support/house.ts'

const WORDS = 'open the front door'

let model: CallingModel
let house: House
let owner: Person
let opened = 0
/** Until then the door is being opened. */
let opening: Promise<void> = Promise.resolve()
/** Until then the model does not go on. */
let speaking = Promise.withResolvers<string>()

beforeAll(async () => {
  model = await startCallingModel()
  house = await startHouse({ env: { SERVICE_LLM_BASE_URL: model.url } })
  owner = await house.residentOwner()
  house.app.actions.add(
    action({
      name: 'open_door',
      description: 'Opens a door',
      input: z.strictObject({ door: z.string() }),
      risk: 'high',
      async run({ door }) {
        await opening
        opened += 1
        return { output: `The ${door} door is open.` }
      },
    }),
  )
  model.call(WORDS, 'open_door', { door: 'front' })
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await model.stop()
})
beforeEach(() => {
  opened = 0
  opening = Promise.resolve()
  speaking = Promise.withResolvers()
})
afterEach(() => speaking.resolve(''))

async function say(message: string, conversationId?: string): Promise<void> {
  await (await owner.api.chat.send({ body: { message, ...(conversationId && { conversationId }) } })).text()
}
const newest = async () => (await owner.api.chat.list({ query: { limit: 1 } }))[0]?.id ?? ''
const messagesOf = async (id: string) => (await owner.api.chat.get({ params: { id } })).messages
const callsOf = async (id: string) => (await messagesOf(id)).flatMap(({ toolCalls }) => toolCalls ?? [])
const statusesOf = async (id: string) => (await callsOf(id)).map(({ status }) => status)

/** Decides on the newest answer's call. */
async function decide(id: string, approve: boolean) {
  const callId = (await callsOf(id)).at(-1)?.id ?? ''
  return owner.api.chat.decide({ params: { id, callId }, body: { approve } })
}

/** Has the model ask, and hold its tongue after that. */
async function begin(title: string) {
  model.write(WORDS, speaking.promise)
  const said = say(`Please ${WORDS}, ${title}`)
  await expect.poll(async () => statusesOf(await newest())).toEqual(['asking'])
  return { id: await newest(), said }
}

/** Has the model ask, and be done with its answer. */
async function asked(): Promise<string> {
  model.write(WORDS, 'Shall I?')
  await say(`Please ${WORDS}`)
  return newest()
}

test.each([
  ['allowed', true, 'done', 1],
  ['declined', false, 'declined', 0],
] as const)('what was %s while the model still spoke is neither asked for nor done again', async (title, approve, status, times) => {
  const { id, said } = await begin(title)
  await decide(id, approve)
  expect(opened).toBe(times)
  speaking.resolve('I would open it.')
  await said
  expect(await statusesOf(id)).toEqual([status])
  expect((await messagesOf(id)).at(-1)?.content).toBe('I would open it.')
  await say('yes', id)
  expect(opened).toBe(times)
})

test('a model that says nothing after that has what was done said for it', async () => {
  const { id, said } = await begin('silently')
  await decide(id, true)
  speaking.resolve('')
  await said
  expect((await messagesOf(id)).at(-1)?.content).toBe('The front door is open.')
})

test('no answer is made anew while what was allowed in it is being done', async () => {
  const id = await asked()
  const done = Promise.withResolvers<void>()
  opening = done.promise
  const decided = decide(id, true)
  await expect.poll(() => statusesOf(id)).toEqual(['failed'])
  await expect(owner.api.chat.regenerate({ params: { id } })).rejects.toMatchObject({ status: 409, code: 'busy' })
  done.resolve()
  expect((await decided).toolCalls).toMatchObject([{ status: 'done', output: 'The front door is open.' }])
  await (await owner.api.chat.regenerate({ params: { id } })).text()
  expect(await statusesOf(id)).toEqual(['done'])
  expect(opened).toBe(1)
})

test('what is allowed while its answer is made anew is done once, and stays done', async () => {
  const id = await asked()
  model.write(WORDS, speaking.promise)
  const done = Promise.withResolvers<void>()
  opening = done.promise
  const again = owner.api.chat.regenerate({ params: { id } }).then((response) => response.text())
  await expect.poll(() => statusesOf(id)).toEqual(['asking', 'asking'])
  const decided = decide(id, true)
  await expect.poll(() => statusesOf(id)).toEqual(['failed', 'failed'])
  speaking.resolve('I would open it.')
  await again
  done.resolve()
  expect((await decided).toolCalls).toMatchObject([{ status: 'done' }])
  expect(await statusesOf(id)).toEqual(['done'])
  await say('yes', id)
  expect(opened).toBe(1)
})

test('what is allowed after its answer could not be made anew is done once', async () => {
  const id = await asked()
  model.break(true)
  await expect(owner.api.chat.regenerate({ params: { id } })).rejects.toMatchObject({ status: 503 })
  model.break(false)
  await decide(id, true)
  expect(new Set(await statusesOf(id))).toEqual(new Set(['done']))
  await (await owner.api.chat.regenerate({ params: { id } })).text()
  expect(await statusesOf(id)).toEqual(['done'])
  expect(opened).toBe(1)
})
