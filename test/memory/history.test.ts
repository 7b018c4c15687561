import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Person } from '../support/house.ts'
import { type Family, outcome, startFamily } from './family.ts'

let family: Family
beforeAll(async () => {
  family = await startFamily()
})
afterAll(() => family[Symbol.asyncDispose]())

const run = async (person: Person, name: string, body: object) => {
  const answer = await person.fetch(`/api/actions/${name}/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as { output: string; data: { chunk: { id: string } } }
}

/** Keeps each text in turn, each in place of the one before; resolves to their ids. */
async function keep(person: Person, ...texts: string[]): Promise<string[]> {
  const ids: string[] = []
  for (const content of texts) ids.push((await run(person, 'remember', { content })).data.chunk.id)
  return ids
}

const of = (id: string | undefined) => ({ params: { id: id ?? '' } })
const contents = (found: { chunks: { content: string }[] }) => found.chunks.map(({ content }) => content)
const history = async (person: Person, id: string | undefined) => contents(await person.api.memory.chunkHistory(of(id)))
const all = async (person: Person) => contents(await person.api.memory.chunks({ query: { history: 'true', limit: '500' } }))
const search = async (person: Person, q: string) => contents(await person.api.memory.chunks({ query: { q } }))
const remove = (person: Person, id: string | undefined, query: { earlier?: 'forget' | 'restore' } = {}) =>
  person.api.memory.removeChunk({ ...of(id), query })

test('what a memory was before is shown, the newest first', async () => {
  const [first, second, third] = await keep(family.ada, 'The gate code is 1111', 'The gate code is 2222', 'The gate code is 3333')
  expect(await history(family.ada, third)).toEqual(['The gate code is 2222', 'The gate code is 1111'])
  expect(await history(family.ada, second)).toEqual(['The gate code is 1111'])
  expect(await history(family.ada, first)).toEqual([])
})

test('who forgets a memory forgets what it was before, and is told', async () => {
  const [, , third] = await keep(family.ada, 'The shed code is 1111', 'The shed code is 2222', 'The shed code is 3333')
  expect((await run(family.ada, 'forget', { chunkId: third })).output).toBe(
    'I have forgotten: The shed code is 3333. Its 2 earlier versions are forgotten too.',
  )
  expect((await all(family.ada)).filter((text) => text.includes('shed'))).toEqual([])
  expect((await search(family.ada, 'shed code')).filter((text) => text.includes('shed'))).toEqual([])
})

test('the earlier one comes back where that is asked for, and is found again', async () => {
  const [first, second] = await keep(family.ada, 'The attic code is 1111', 'The attic code is 2222')
  await remove(family.ada, second, { earlier: 'restore' })
  expect(await family.ada.api.memory.chunk(of(first))).toMatchObject({ supersededById: null })
  expect((await search(family.ada, 'attic code'))[0]).toBe('The attic code is 1111')
  await family.house.restart()
  expect((await search(family.ada, 'attic code'))[0]).toBe('The attic code is 1111')
  expect(await outcome(family.ada.fetch(`/api/memory/chunks/${second}`))).toBe('404 not_found')
})

test('one of the earlier ones goes alone, and those before it are not lost', async () => {
  const [, second, third] = await keep(family.ada, 'The cellar code is 1111', 'The cellar code is 2222', 'The cellar code is 3333')
  await remove(family.ada, second)
  expect(await history(family.ada, third)).toEqual(['The cellar code is 1111'])
  await remove(family.ada, third)
  expect((await all(family.ada)).filter((text) => text.includes('cellar'))).toEqual([])
})

test('whoever a memory is given to has what it was before as well', async () => {
  const [first, second] = await keep(family.ben, 'My locker code is 1111', 'My locker code is 2222')
  const give = (id: string | undefined) => family.ben.api.memory.updateChunk({ ...of(id), body: { personId: null } })
  await expect(give(first)).rejects.toMatchObject({ status: 400 })
  expect(await outcome(family.ada.fetch(`/api/memory/chunks/${second}/history`))).toBe('404 not_found')
  await give(second)
  expect(await history(family.ada, second)).toEqual(['My locker code is 1111'])
  await remove(family.ada, second)
  expect((await all(family.owner)).filter((text) => text.includes('locker'))).toEqual([])
})

test('a long history goes whole', async () => {
  const texts = Array.from({ length: 230 }, (_, n) => `The parcel code is ${n}`)
  const ids = await keep(family.ada, ...texts)
  expect((await family.ada.api.memory.chunkHistory(of(ids.at(-1)))).chunks).toHaveLength(229)
  await remove(family.ada, ids.at(-1))
  expect((await all(family.ada)).filter((text) => text.includes('parcel'))).toEqual([])
}, 60_000)

test('the history of another’s memory is not there', async () => {
  const [, second] = await keep(family.ben, 'My desk code is 1111', 'My desk code is 2222')
  expect(await outcome(family.owner.fetch(`/api/memory/chunks/${second}/history`))).toBe('200')
  expect(await outcome(family.cleo.fetch(`/api/memory/chunks/${second}/history`))).toBe('404 not_found')
  expect(await outcome(family.cleo.fetch(`/api/memory/chunks/${second}?earlier=restore`, { method: 'DELETE' }))).toBe('404 not_found')
  expect(await outcome(family.ben.fetch(`/api/memory/chunks/${second}?earlier=both`, { method: 'DELETE' }))).toBe('400 validation_failed')
})

test('what was another’s before it was given away stays theirs alone', async () => {
  const [first, second] = await keep(family.ben, 'My safe code is 1111', 'My safe code is 2222')
  const file = new BetterSqlite3(join(family.house.dataPath, 'hearth.sqlite'))
  file.prepare('UPDATE "memory_chunk" SET "personId" = NULL WHERE "id" = ?').run(second)
  file.close()
  expect(await history(family.cleo, second)).toEqual([])
  await remove(family.cleo, second)
  expect(await outcome(family.cleo.fetch(`/api/memory/chunks/${first}`))).toBe('404 not_found')
  expect(await family.ben.api.memory.chunk(of(first))).toMatchObject({ content: 'My safe code is 1111', supersededById: null })
  expect((await search(family.ben, 'safe code'))[0]).toBe('My safe code is 1111')
})

test('what is remembered anew stays pinned and kept in mind where the old one was', async () => {
  const { chunk: pinned } = await family.ada.api.memory.addChunk({
    body: { source: 'note', content: 'The loft code is 1111', pinned: true, promoted: true },
  })
  const [newer] = await keep(family.ada, 'The loft code is 2222')
  expect(await history(family.ada, newer)).toEqual([pinned.content])
  expect(await family.ada.api.memory.chunk(of(newer))).toMatchObject({ pinned: true, promoted: true })
  const [plain] = await keep(family.ada, 'The hut code is 1111', 'The hut code is 2222')
  expect(await family.ada.api.memory.chunk(of(plain))).toMatchObject({ pinned: false, promoted: false })
})

test('a change that changes nothing leaves a memory as it is', async () => {
  const heard: string[] = []
  const { memoryUpdated } = await import('../../server/modules/memory/memory.contract.ts')
  const [id = ''] = await keep(family.ada, 'The porch lamp has a timer')
  const before = await family.ada.api.memory.chunk(of(id))
  const off = family.house.app.events.on(memoryUpdated, ({ entryId }) => void heard.push(entryId))
  for (const body of [{}, { content: before.content, pinned: false }, before])
    expect(await family.ada.api.memory.updateChunk({ ...of(id), body })).toEqual(before)
  expect(heard).toEqual([])
  const after = await family.ada.api.memory.updateChunk({ ...of(id), body: { pinned: true } })
  off()
  expect(after.updatedAt > before.updatedAt).toBe(true)
  expect(heard).toEqual([id])
})
