import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Caller } from '../../server/kit/caller.ts'
import { createForgotten } from '../../server/modules/memory/forgotten.ts'
import type { Chunk } from '../../server/modules/memory/memory.contract.ts'
import { runAs } from '../support/action-calls.ts'
import { type Family, startFamily } from './family.ts'

let family: Family
let ada: ReturnType<typeof runAs>
let ben: ReturnType<typeof runAs>
beforeAll(async () => {
  family = await startFamily()
  ada = runAs(family.house, { deviceId: family.ada.id, personId: family.ids.ada })
  ben = runAs(family.house, { deviceId: family.ben.id, personId: family.ids.ben })
})
afterAll(() => family[Symbol.asyncDispose]())

const remember = async (content: string) => ((await ada('remember', { content })).data as { chunk: Chunk }).chunk
const recalled = async (query: string, purpose: string, ask = ada) =>
  ((await ask('recall', { query, purpose, limit: 20 })).data as { chunks: Chunk[] }).chunks.map(({ content }) => content)
const answer = async (ask: typeof ada, query: string) => ((await ask('recall', { query })).data as { answer: string | null }).answer

test('what was forgotten comes back as it was, with its history, for whoever might see it', async () => {
  const first = await remember('my bicycle code is 1111')
  const { id } = await remember('my bicycle code is 2222')
  const before = await family.ada.api.memory.chunk({ params: { id } })
  expect((await ada('forget', { chunkId: id })).data).toMatchObject({ earlier: 1, canUndo: true })
  expect(await answer(ada, 'what is my bicycle code')).toBeNull()
  await expect(ben('remember_again', { chunkId: id })).rejects.toMatchObject({ status: 404 })
  expect((await ada('remember_again', { chunkId: id })).output).toBe('I remember again: my bicycle code is 2222')
  expect(await family.ada.api.memory.chunk({ params: { id } })).toEqual(before)
  expect(await answer(ada, 'what is my bicycle code')).toContain('2222')
  const { chunks } = await family.ada.api.memory.chunkHistory({ params: { id } })
  expect(chunks.map((chunk) => chunk.id)).toEqual([first.id])
  await expect(ada('remember_again', { chunkId: id })).rejects.toMatchObject({ status: 404 })
  await expect(ada('remember_again', { chunkId: randomUUID() })).rejects.toMatchObject({ status: 404 })
})

test('what a person wants erased does not come back', async () => {
  const { id } = await remember('my diary is under the stairs')
  await ada('forget', { chunkId: id })
  await family.ada.api.memory.erasePerson({ params: { id: family.ids.ada }, query: {} })
  await expect(ada('remember_again', { chunkId: id })).rejects.toMatchObject({ status: 404 })
})

test('what comes back while a person’s memory is being erased does not stay', async () => {
  const erase = () => family.ada.api.memory.erasePerson({ params: { id: family.ids.ada }, query: {} })
  const bed = await remember('my diary is under the bed')
  await ada('forget', { chunkId: bed.id })
  await Promise.allSettled([ada('remember_again', { chunkId: bed.id }), erase()])
  expect((await family.ada.api.memory.chunks({ query: {} })).chunks.map(({ content }) => content)).not.toContain(bed.content)
  await expect(ada('remember_again', { chunkId: bed.id })).rejects.toMatchObject({ status: 404 })
})

const nothing = () => undefined

/** Forgetting, with every step of it held up until it is let go on. */
function heldUp(chunk: Chunk) {
  const steps: { done(): void; fails(): void }[] = []
  const step = (check: () => void = nothing) =>
    new Promise<void>((resolve, reject) => steps.push({ done: () => resolve(), fails: () => reject(new Error('full')) })).then(check)
  const forgotten = createForgotten({
    chunks: {
      get: () => chunk,
      history: () => [],
      remove: () => step().then(() => 0),
      keepAgain: (_chunk, _earlier, check) => step(check),
    },
    notes: { contradictedSince: () => null },
  })
  return { forgotten, step: () => steps.shift() }
}

test('what a person wants erased while it is being forgotten or brought back is gone for good', async () => {
  const chunk = await remember('my letters are in the attic')
  const caller: Caller = {
    kind: 'device',
    scope: 'member',
    deviceId: family.ada.id,
    userId: family.ids.ada,
    personId: family.ids.ada,
    sessionId: randomUUID(),
    via: 'bearer',
  }
  const { forgotten, step } = heldUp(chunk)
  const gone = { status: 404 }
  const forget = async (meanwhile: () => void) => {
    const forgetting = forgotten.forget(caller, chunk.id)
    meanwhile()
    step()?.done()
    return (await forgetting).canUndo
  }
  const drop = () => forgotten.drop(family.ids.ada)
  expect(await forget(drop)).toBe(false)
  await expect(forgotten.restore(caller, chunk.id)).rejects.toMatchObject(gone)
  for (const end of ['done', 'fails'] as const) {
    expect(await forget(nothing)).toBe(true)
    const restoring = forgotten.restore(caller, chunk.id)
    drop()
    step()?.[end]()
    await expect(restoring, end).rejects.toThrow()
    await expect(forgotten.restore(caller, chunk.id), end).rejects.toMatchObject(gone)
  }
  expect(await forget(nothing)).toBe(true)
  const restoring = forgotten.restore(caller, chunk.id)
  step()?.fails()
  await expect(restoring).rejects.toThrow('full')
  const again = forgotten.restore(caller, chunk.id)
  step()?.done()
  expect(await again).toBe(chunk)
  await ada('forget', { chunkId: chunk.id })
})

test('what was said otherwise meanwhile keeps what was forgotten from coming back, until that is forgotten too', async () => {
  const older = await remember('the gate code is 1111')
  await ada('forget', { chunkId: older.id })
  const newer = await remember('the gate code is 2222')
  await expect(ada('remember_again', { chunkId: older.id })).rejects.toMatchObject({
    status: 409,
    message: 'I was told otherwise since, so that stays forgotten. I know now: the gate code is 2222',
  })
  expect(await answer(ada, 'what is the gate code')).toContain('2222')
  await ada('forget', { chunkId: newer.id })
  await ada('remember_again', { chunkId: older.id })
  expect(await answer(ada, 'what is the gate code')).toContain('1111')
  await ada('forget', { chunkId: older.id })
})

test('all that is clearly about something is found at once, newest first', async () => {
  await remember('the boiler was serviced in May')
  await remember('the boiler code is 4711')
  await remember('the boiler hums at night')
  await remember('the radiator key is in the drawer')
  for (const purpose of ['about', 'forget']) {
    expect(await recalled('the boiler', purpose), purpose).toEqual([
      'the boiler hums at night',
      'the boiler code is 4711',
      'the boiler was serviced in May',
    ])
  }
  expect(await recalled('the boiler code', 'forget')).toEqual(['the boiler code is 4711'])
  expect(await recalled('anything', 'newest')).toHaveLength(4)
  expect((await recalled('anything', 'newest'))[0]).toBe('the radiator key is in the drawer')
})

test('of a person only what bears on the question is about it', async () => {
  await remember('Cleo is allergic to peanuts')
  await remember("Cleo's school starts at 8:50")
  expect(await recalled("what's cleo's favourite colour", 'about')).toEqual([])
  expect(await recalled('can cleo eat peanut butter', 'about')).toEqual(['Cleo is allergic to peanuts'])
  expect(await recalled('cleo', 'about')).toHaveLength(2)
})

test('what is another’s by what it says is no answer', async () => {
  await ben('remember', { content: 'bens shoe size is 43' })
  const tablet = runAs(family.house, { deviceId: family.shared.id })
  await tablet('remember', { content: 'my shoe size is 44' })
  expect(await answer(tablet, 'what is my shoe size')).toBeNull()
  expect(await answer(ada, 'what is my shoe size')).toBeNull()
  expect(await answer(ada, "what is Cleo's shoe size")).toBeNull()
  expect(await answer(ada, "what is Ben's shoe size")).toContain('43')
  expect(await answer(ben, 'what is my shoe size')).toContain('43')
})

test('a name that ends in s is no possessive of itself', async () => {
  const { household, persons } = await family.owner.api.household.get()
  const thomas = { displayName: 'Thomas', role: 'adult' as const, pronouns: '', aliases: [] }
  await family.owner.api.household.replace({ body: { ...household, persons: [...persons, thomas] } })
  await remember('Thomas put the spare key under the pot')
  expect(await answer(ada, 'where is my spare key')).toContain('under the pot')
  await remember("Thomas' hat size is 58")
  expect(await answer(ada, 'what is my hat size')).toBeNull()
  expect(await answer(ada, "what is Thomas' hat size")).toContain('58')
})

test('a question is understood without its apostrophe, in German by its word too', async () => {
  await remember('the keys are in the drawer')
  await remember('our plumber is Mr Finch')
  await remember('Cleo ist allergisch gegen Erdnüsse')
  expect(await answer(ada, 'wheres my keys')).toContain('drawer')
  expect(await answer(ada, 'whos our plumber')).toContain('Finch')
  expect(await answer(ada, 'wogegen ist Cleo allergisch')).toContain('Erdnüsse')
})
