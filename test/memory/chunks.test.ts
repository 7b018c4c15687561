import { afterAll, beforeAll, expect, test } from 'vitest'
import { memoryCreated, memoryUpdated } from '../../server/modules/memory/memory.contract.ts'
import { json } from '../support/credentials.ts'
import type { Device, Person } from '../support/house.ts'
import { type Family, outcome, startFamily } from './family.ts'

let family: Family
beforeAll(async () => {
  family = await startFamily()
})
afterAll(() => family[Symbol.asyncDispose]())

const add = async (person: Person, content: string, more: object = {}) =>
  (await person.api.memory.addChunk({ body: { source: 'note', content, ...more } })).chunk
const found = async (person: Person, q: string, more: object = {}) =>
  (await person.api.memory.chunks({ query: { q, ...more } })).chunks.map(({ content }) => content)
const listed = async (person: Person, query: object = {}) =>
  (await person.api.memory.chunks({ query })).chunks.map(({ content }) => content)

test('a text is kept with a title, a category and what embedded it, and found at once', async () => {
  const heard: object[] = []
  const off = family.house.app.events.on(memoryCreated, (told) => void heard.push(told))
  const { household } = await family.owner.api.household.get()
  const chunk = await add(family.ada, '\n  The stopcock is under the kitchen sink.\nTurn it to the right.')
  off()
  expect(chunk).toMatchObject({
    householdId: household.id,
    personId: null,
    source: 'note',
    category: 'general',
    title: 'The stopcock is under the kitchen sink.',
    pinned: false,
    promoted: false,
    supersededById: null,
  })
  expect(chunk.embeddingModel).not.toBe('')
  expect(heard).toEqual([{ entryId: chunk.id, category: 'general', content: chunk.content }])
  expect(await family.ben.api.memory.chunk({ params: { id: chunk.id } })).toEqual(chunk)
  expect(await found(family.ben, 'where is the stopcock?')).toEqual([chunk.content])
  expect(await family.ben.api.memory.index()).toMatchObject({
    status: 'ready',
    chunks: 1,
    embedded: 1,
    embeddingModel: chunk.embeddingModel,
  })
})

test('a long first line is cut between characters', async () => {
  const { title } = await add(family.ada, '👩‍👩‍👧'.repeat(200))
  expect([...title]).toHaveLength(100)
  expect(title.isWellFormed()).toBe(true)
})

test('each sees the household’s memory and their own', async () => {
  const own = await add(family.ben, 'Ben keeps a surprise zeppelin ride for Cleo', { personId: family.ids.ben })
  const of = (person: Person) => listed(person).then((all) => all.includes(own.content))
  expect(await of(family.ben)).toBe(true)
  expect(await of(family.owner)).toBe(true)
  for (const person of [family.ada, family.cleo, family.shared]) {
    expect(await of(person)).toBe(false)
    expect(await found(person, 'surprise zeppelin ride')).not.toContain(own.content)
    const at = `/api/memory/chunks/${own.id}`
    expect(await outcome(person.fetch(at))).toBe('404 not_found')
    expect(await outcome(person.fetch(at, json({ content: 'mine' }, 'PATCH')))).toBe('404 not_found')
    expect(await outcome(person.fetch(at, { method: 'DELETE' }))).toBe('404 not_found')
    expect(await outcome(person.fetch(`/api/memory/chunks?personId=${family.ids.ben}`))).toBe('404 not_found')
    expect(await outcome(person.fetch(`/api/memory/chunks?personId=${family.ids.ben}&q=zeppelin`))).toBe('404 not_found')
    expect(await outcome(person.fetch(`/api/memory/people/${family.ids.ben}`))).toBe('404 not_found')
    expect(await outcome(person.fetch(`/api/memory/people/${family.ids.ben}`, { method: 'DELETE' }))).toBe('404 not_found')
  }
  expect(await found(family.ben, 'zeppelin')).toContain(own.content)
  expect(await listed(family.owner, { personId: family.ids.ben })).toEqual([own.content])
  expect(await found(family.owner, 'stopcock zeppelin', { personId: family.ids.ben })).toEqual([own.content])
})

test('nobody writes into another’s memory, and nobody into that of a stranger', async () => {
  const post = (person: Person, personId: string) =>
    outcome(person.fetch('/api/memory/chunks', json({ source: 'note', content: 'planted', personId })))
  expect(await post(family.cleo, family.ids.ben)).toBe('403 forbidden')
  expect(await post(family.shared, family.ids.ben)).toBe('403 forbidden')
  expect(await post(family.owner, crypto.randomUUID())).toBe('400 validation_failed')
  expect(await post(family.owner, family.ids.cleo)).toBe('201')
  const own = await add(family.cleo, 'Cleo likes plums', { personId: family.ids.cleo })
  const patch = (body: object) => outcome(family.cleo.fetch(`/api/memory/chunks/${own.id}`, json(body, 'PATCH')))
  expect(await patch({ personId: family.ids.ben })).toBe('403 forbidden')
  expect(await patch({ personId: null })).toBe('200')
  expect(await found(family.ada, 'plums')).toContain('Cleo likes plums')
  expect(await patch({ personId: family.ids.cleo })).toBe('200')
  expect(await found(family.ada, 'plums')).not.toContain('Cleo likes plums')
})

test('what is changed is found by its new words and not by its old ones', async () => {
  const heard: object[] = []
  const off = family.house.app.events.on(memoryUpdated, (told) => void heard.push(told))
  const chunk = await add(family.ada, 'The gardener is called Quentin')
  const changed = await family.ada.api.memory.updateChunk({
    params: { id: chunk.id },
    body: { ...chunk, content: 'The gardener is called Rosamund', pinned: true, observedAt: '2020-02-02T02:02:02+02:00' },
  })
  off()
  expect(changed).toMatchObject({ title: 'The gardener is called Rosamund', pinned: true, observedAt: '2020-02-02T00:02:02.000Z' })
  expect(heard).toEqual([{ entryId: chunk.id, content: 'The gardener is called Rosamund' }])
  expect(await found(family.ada, 'Quentin')).not.toContain(chunk.content)
  expect((await found(family.ada, 'Rosamund'))[0]).toBe(changed.content)
  const same = await family.ada.api.memory.updateChunk({ params: { id: chunk.id }, body: { title: 'Garden help' } })
  expect(same.content).toBe(changed.content)
  expect((await found(family.ada, 'garden help'))[0]).toBe(changed.content)
})

test('a list goes page by page from the newest observed on, each once', async () => {
  const at = (day: number) => new Date(Date.UTC(2021, 5, 1 + Math.floor(day / 2))).toISOString()
  for (let day = 0; day < 7; day++) {
    await add(family.ada, `diary ${day}`, { category: 'diary', observedAt: at(day), ...(day % 3 === 0 && { personId: family.ids.ada }) })
  }
  const all: string[] = []
  let cursor: string | undefined
  do {
    const page = await family.ada.api.memory.chunks({ query: { category: 'diary', limit: 2, ...(cursor && { cursor }) } })
    all.push(...page.chunks.map(({ content }) => content))
    cursor = page.nextCursor ?? undefined
  } while (cursor)
  expect(all).toEqual([6, 5, 4, 3, 2, 1, 0].map((day) => `diary ${day}`))
  expect(await listed(family.ben, { category: 'diary' })).toEqual([5, 4, 2, 1].map((day) => `diary ${day}`))
  expect(await listed(family.owner, { category: 'diary', source: 'nothing' })).toEqual([])
  expect(await outcome(family.ada.fetch('/api/memory/chunks?cursor=nonsense'))).toBe('400 validation_failed')
})

test('what is forgotten is found no more', async () => {
  const chunk = await add(family.ada, 'The spare key hangs behind the wisteria')
  expect((await found(family.ada, 'wisteria'))[0]).toBe(chunk.content)
  await family.ada.api.memory.removeChunk({ params: { id: chunk.id }, query: {} })
  expect(await found(family.ada, 'wisteria')).not.toContain(chunk.content)
  expect(await outcome(family.ada.fetch(`/api/memory/chunks/${chunk.id}`))).toBe('404 not_found')
})

test('any text is only text', async () => {
  const texts = [
    '🎂🎈 birthday cake 🎂',
    'מפתח הבית מתחת לעציץ',
    'ملاحظة عن المفتاح',
    '鍵は植木鉢の下にあります',
    "Robert'); DROP TABLE memory_chunk;--",
  ]
  for (const text of texts) await add(family.ada, text)
  expect(await found(family.ada, '🎂')).toContain(texts[0])
  expect((await found(family.ada, 'מפתח'))[0]).toBe(texts[1])
  expect((await found(family.ada, 'المفتاح'))[0]).toBe(texts[2])
  expect((await found(family.ada, '植木鉢'))[0]).toBe(texts[3])
  const hostile = [
    '"',
    '*',
    'NEAR(a b)',
    'title:x',
    'a AND',
    '^a',
    '-',
    '(',
    '{content}: x',
    '\u202e',
    ' ',
    "' OR 1=1 --",
    'x'.repeat(90_000),
    '🎂'.repeat(20_000),
  ]
  for (const q of hostile) {
    const answer = await family.ada.fetch(`/api/memory/chunks?q=${encodeURIComponent(q)}`)
    // a query of this length does not fit into the head of a request
    expect([200, 414, 431], q.slice(0, 20)).toContain(answer.status)
  }
})

test('what is too large is refused, and nothing is kept of it', async () => {
  const post = (content: string) => outcome(family.ada.fetch('/api/memory/chunks', json({ source: 'huge', content })))
  expect(await post('x'.repeat(1024 * 1024))).toBe('413 too_large')
  expect(await post('x'.repeat(200_001))).toBe('400 validation_failed')
  expect(await post(' \n ')).toBe('400 validation_failed')
  expect(await post('word '.repeat(39_000))).toBe('201')
  expect(await listed(family.ada, { source: 'huge' })).toHaveLength(1)
})

test('a person’s memory is handed out whole, and forgotten whole', async () => {
  const texts = Array.from({ length: 450 }, (_, n) => `Cleo’s secret number ${n}`)
  await Promise.all(texts.map((text) => add(family.cleo, text, { personId: family.ids.cleo })))
  const about = { params: { id: family.ids.cleo }, query: {} }
  const exported = (await (await family.cleo.api.memory.exportPerson(about)).json()) as { person: object; chunks: { content: string }[] }
  expect(exported.person).toEqual({ id: family.ids.cleo, displayName: 'Cleo' })
  expect(new Set(exported.chunks.map(({ content }) => content))).toEqual(new Set([...texts, 'Cleo likes plums', 'planted']))
  const erased = family.cleo.api.memory.erasePerson(about)
  await erased
  expect(await listed(family.owner, { personId: family.ids.cleo })).toEqual([])
  expect(await found(family.owner, 'Cleo’s secret number 7')).not.toContain(texts[7])
  expect((await listed(family.owner)).length).toBeGreaterThan(5)
  expect(await outcome(family.owner.fetch(`/api/memory/people/${crypto.randomUUID()}`))).toBe('404 not_found')
})

test('a key of member scope sees what a member of the owner’s name would', async () => {
  const own = await family.ben.api.memory.addChunk({ body: { source: 'note', content: 'Ben hides his diary', personId: family.ids.ben } })
  const key = async (scope: 'member' | 'admin') =>
    family.house.bearer((await family.owner.api.keys.create({ body: { label: scope, scope } })).key)
  const [member, admin] = [await key('member'), await key('admin')]
  expect(await outcome(member.fetch(`/api/memory/chunks/${own.chunk.id}`))).toBe('404 not_found')
  expect(await listed(member)).not.toContain('Ben hides his diary')
  expect(await listed(admin)).toContain('Ben hides his diary')
})

test('two changes of one memory at once are both kept', async () => {
  const { chunk } = await family.ada.api.memory.addChunk({ body: { source: 'note', title: 'Cellar', content: 'Two shelves' } })
  const change = (body: object) => family.ada.api.memory.updateChunk({ params: { id: chunk.id }, body })
  await Promise.all([change({ content: 'Three shelves' }), change({ title: 'Attic' }), change({ category: 'house' })])
  expect(await family.ada.api.memory.chunk({ params: { id: chunk.id } })).toMatchObject({
    title: 'Attic',
    content: 'Three shelves',
    category: 'house',
  })
})

test('guests have no part in it', async () => {
  const guest: Device = await family.house.pair('Visitor', 'guest')
  expect(await outcome(guest.fetch('/api/memory/chunks'))).toBe('403 forbidden')
  expect(await outcome(guest.fetch('/api/memory'))).toBe('403 forbidden')
  expect(await outcome(guest.fetch('/api/memory/raw'))).toBe('403 forbidden')
})
