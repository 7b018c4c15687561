import { afterAll, beforeAll, expect, test } from 'vitest'
import { json } from '../support/credentials.ts'
import { type Family, outcome, startFamily } from './family.ts'

let family: Family
beforeAll(async () => {
  family = await startFamily()
})
afterAll(() => family[Symbol.asyncDispose]())

const search = async (q: string) => (await family.ben.api.memory.list({ query: { q } })).entries.map(({ value }) => value)

test('a fact is kept under its category and key, and replaced there', async () => {
  const heard: string[] = []
  const listen = (await import('../../server/modules/memory/memory.contract.ts')).memoryCreated
  const off = family.house.app.events.on(listen, ({ content }) => void heard.push(content))
  const first = await family.ada.fetch('/api/memory', json({ category: 'house', key: 'wifi password', value: 'sesame' }))
  expect(first.status).toBe(201)
  const entry = (await first.json()) as { id: string; value: string }
  const second = await family.ben.fetch('/api/memory', json({ category: 'house', key: 'wifi password', value: 'open up', id: entry.id }))
  expect(second.status).toBe(200)
  expect(await second.json()).toMatchObject({ id: entry.id, value: 'open up' })
  off()
  expect(heard).toEqual(['wifi password: sesame'])
  expect(await search('sesame')).toEqual([])
  expect(await search('PASSWORD wifi')).toEqual(['open up'])
})

test('two who set the same fact at once leave one', async () => {
  const set = (value: string) => family.ada.fetch('/api/memory', json({ category: 'race', key: 'one', value }))
  const answers = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(set))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201])
  const { entries } = await family.ada.api.memory.list({ query: { category: 'race' } })
  expect(entries).toHaveLength(1)
})

test('what is searched for is plain words, whatever is in it', async () => {
  await family.ada.api.memory.set({ body: { category: 'odd', key: 'note', value: 'cats AND dogs NEAR the "old" gate* are naïve שלום' } })
  const found = ['cats AND dogs']
  for (const q of ['cats', 'AND', 'NEAR', '"old" gate*', 'dogs OR', '(gate', 'gate:', 'naive', 'שלום', 'value: dogs', "cats' --"]) {
    const { entries } = await family.ada.api.memory.list({ query: { q, category: 'odd' } })
    expect(entries.map(({ key }) => key).length <= found.length, q).toBe(true)
    expect((await family.ada.fetch(`/api/memory?q=${encodeURIComponent(q)}`)).status, q).toBe(200)
  }
  expect(await search('"old" gate*')).toHaveLength(1)
  expect(await search('שלום')).toHaveLength(1)
  for (const q of ['🎂', '*', '""', 'cats -dogs elephants', `${'x '.repeat(5_000)}`]) expect(await search(q), q.slice(0, 20)).toEqual([])
})

test('the best comes first, the newest without a question', async () => {
  await family.ada.api.memory.set({
    body: { category: 'garden', key: 'hedge', value: 'the hedge is cut in autumn, and the lawn and the roses and all of it' },
  })
  await family.ada.api.memory.set({ body: { category: 'garden', key: 'hedge shears', value: 'hedge hedge' } })
  const values = (await family.ada.api.memory.list({ query: { q: 'hedge' } })).entries.map(({ key }) => key)
  expect(values).toEqual(['hedge shears', 'hedge'])
  const { entries } = await family.ada.api.memory.list({ query: { category: 'garden', limit: 1 } })
  expect(entries.map(({ key }) => key)).toEqual(['hedge shears'])
})

test('a fact is forgotten, once', async () => {
  const { id } = await family.ada.api.memory.set({ body: { category: 'gone', key: 'k', value: 'vanishing' } })
  await family.ben.api.memory.remove({ params: { id } })
  expect(await search('vanishing')).toEqual([])
  expect(await outcome(family.ben.fetch(`/api/memory/${id}`, { method: 'DELETE' }))).toBe('404 not_found')
})

test('nothing empty, nothing unknown and nothing too large is kept', async () => {
  const post = (body: unknown) => outcome(family.ada.fetch('/api/memory', json(body)))
  expect(await post({ category: 'a', key: 'b', value: '  ' })).toBe('400 validation_failed')
  expect(await post({ category: '', key: 'b', value: 'c' })).toBe('400 validation_failed')
  expect(await post({ category: 'a', key: 'b', value: 'c', secret: 1 })).toBe('400 validation_failed')
  expect(await post({ category: 'a', key: 'b', value: 'c'.repeat(20_001) })).toBe('400 validation_failed')
  expect(await post({ category: 'a', key: 'b', value: 'c'.repeat(1_100_000) })).toBe('413 too_large')
})

const keysOf = async (q: string, category: string) =>
  (await family.ada.api.memory.list({ query: { q, category } })).entries.map(({ key }) => key)
const set = (category: string, key: string, value: string) => family.ada.api.memory.set({ body: { category, key, value } })

test('a fact is found while its word is still being typed, and by a whole question; what has the very words comes first', async () => {
  await set('cellar', 'boilers and their codes', 'see the folder')
  await set('cellar', 'boiler code', '4711')
  await set('cellar', 'hedge', 'boil nothing here')
  expect(new Set(await keysOf('boil', 'cellar'))).toEqual(new Set(['hedge', 'boiler code', 'boilers and their codes']))
  expect((await keysOf('boil', 'cellar'))[0]).toBe('hedge')
  expect((await keysOf('boiler co', 'cellar'))[0]).toBe('boiler code')
  expect((await keysOf('what is the boiler code', 'cellar'))[0]).toBe('boiler code')
  expect(await keysOf('What is the code of our boiler?', 'cellar')).toContain('boiler code')
  expect(await keysOf('boiler elephant', 'cellar')).toEqual([])
  expect(await keysOf('oiler', 'cellar')).toEqual([])
  await set('cellar', 'who', 'the one and only')
  expect(await keysOf('who', 'cellar')).toEqual(['who'])
})

test('a fact is found by its signs, which the index has no word for', async () => {
  await set('🍕', 'פיצה 🍕', 'on Fridays')
  await set('signs', '🎸 strings', 'size 10, 🧵 none')
  for (const q of ['🍕', 'פיצה 🍕', ' 🍕 ']) expect(await keysOf(q, '🍕'), q).toEqual(['פיצה 🍕'])
  expect(await keysOf('🎸 🧵', 'signs')).toEqual(['🎸 strings'])
  expect(await keysOf('strings 🎸', 'signs')).toEqual(['🎸 strings'])
  expect(await keysOf('🎸 🍕', 'signs')).toEqual([])
  expect(await search('🍕')).toEqual(['on Fridays'])
})

test('a question of spaces only finds what a list without a question shows, of facts as of memories', async () => {
  await set('blank', 'something', 'kept')
  await family.ada.api.memory.addChunk({ body: { source: 'note', content: 'Something is kept' } })
  const facts = await family.ada.api.memory.list({ query: { q: '  ' } })
  expect(facts).toEqual(await family.ada.api.memory.list({ query: {} }))
  const { chunks } = await family.ada.api.memory.chunks({ query: { q: '  ' } })
  expect(chunks).toEqual((await family.ada.api.memory.chunks({ query: {} })).chunks)
})
