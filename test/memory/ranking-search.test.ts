import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { expect, test } from 'vitest'
import { createRows } from '../../server/db/rows.ts'
import { type ChunkSearchOptions, createChunkSearch } from '../../server/modules/memory/ranking/chunk-search.ts'
import { createDefaultEmbedder } from '../../server/modules/memory/ranking/default-embedder.ts'

const RESOURCES = join(import.meta.dirname, '..', '..', 'resources')
const embedder = createDefaultEmbedder(RESOURCES)
const NOW = new Date('2026-03-11T12:00:00Z')

interface Note {
  content: string
  title?: string
  category?: string
  observedAt?: string
  personId?: string
  pinned?: boolean
  superseded?: boolean
}
interface Somebody {
  id: string
  displayName: string
  aliases?: string[]
}

/** A memory with these notes in order, each on a day of its own unless it says when, and a search over it. */
async function remember(notes: (string | Note)[], people: Somebody[] = [], { withVectors = true } = {}) {
  const database = new BetterSqlite3(':memory:')
  database.exec(`
    CREATE TABLE memory_chunk (seq integer PRIMARY KEY, id text, personId text, category text, title text, content text, observedAt text,
      pinned integer, supersededById text, updatedAt text);
    CREATE VIRTUAL TABLE memory_chunk_search USING fts5(title, content, content='memory_chunk', content_rowid='seq',
      tokenize='porter unicode61 remove_diacritics 2');
    CREATE TABLE person (id text, displayName text, aliases text);`)
  const all = notes.map((note) => (typeof note === 'string' ? { content: note } : note) as Note)
  all.forEach(({ content, title = '', category = '', observedAt, personId = null, pinned = false, superseded = false }, at) => {
    const observed = observedAt ?? new Date(NOW.getTime() - (all.length - at) * 86_400_000).toISOString()
    database
      .prepare('INSERT INTO memory_chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
      .run(at + 1, `note ${at}`, personId, category, title, content, observed, pinned ? 1 : 0, superseded ? randomUUID() : null, observed)
    database.prepare('INSERT INTO memory_chunk_search (rowid, title, content) VALUES (?, ?, ?)').run(at + 1, title, content)
  })
  for (const { id, displayName, aliases = [] } of people) {
    database.prepare('INSERT INTO person VALUES (?, ?, ?)').run(id, displayName, JSON.stringify(aliases))
  }
  const vectors = await embedder.embed(
    all.map(({ content }) => content),
    'passage',
  )
  const asked: unknown[] = []
  const { search } = createChunkSearch({
    db: createRows(database),
    resourcesPath: RESOURCES,
    embed: async (text) => (withVectors ? ((await embedder.embed([text], 'query'))[0] ?? null) : null),
    async nearest(vector, k, owners) {
      asked.push(owners)
      const closeness = (other: Float32Array) => other.reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0)
      return vectors
        .map((other, at) => ({ seq: at + 1, closeness: closeness(other) }))
        .sort((a, b) => b.closeness - a.closeness)
        .slice(0, k)
    },
  })
  /** The contents found, best first. */
  const ask = async (q: string, options: Partial<ChunkSearchOptions> = {}) => {
    const found = await search({ q, personIds: 'all', includeHousehold: true, limit: 20, now: NOW, timezone: 'Europe/Berlin', ...options })
    return found.map(({ seq }) => all[seq - 1]?.content ?? '')
  }
  return { ask, search, asked }
}

const HOUSE = [
  'The boiler code is 4711',
  'Grandma is allergic to hazelnuts',
  'The dentist moved to Bridge Street',
  'We keep the spare key with the neighbours',
  'Our car goes to the garage for new tyres',
  'Football practice is on Tuesdays at five',
  'The recipe for plum cake needs 200 grams of butter',
  'The plumber is called Mr Jansen',
]

test.each([
  ['What is the boiler code?', 'The boiler code is 4711'],
  ['Is granny allergic to anything?', 'Grandma is allergic to hazelnuts'],
  ['Where is the tooth doctor?', 'The dentist moved to Bridge Street'],
  ['Who has the spare keys?', 'We keep the spare key with the neighbours'],
  ['What is wrong with the vehicle?', 'Our car goes to the garage for new tyres'],
  ['soccer training', 'Football practice is on Tuesdays at five'],
])('%s', async (question, answer) => {
  const { ask } = await remember(HOUSE)
  expect((await ask(question))[0]).toBe(answer)
})

test('without vectors, words and their meaning still find', async () => {
  const { ask } = await remember(HOUSE, [], { withVectors: false })
  expect((await ask('the code of our boiler'))[0]).toBe('The boiler code is 4711')
})

test('other languages are found by their words and their spelling', async () => {
  const { ask } = await remember([
    'Der Schlüssel für den Fahrradkeller hängt im Flur',
    'Die Oma mag keine Pilze',
    '冷蔵庫の鍵は台所',
    'المفتاح عند الجار',
  ])
  expect((await ask('Wo ist der Fahrradkellerschlüssel?'))[0]).toContain('Fahrradkeller')
  expect((await ask('Pilz'))[0]).toContain('Pilze')
  expect((await ask('冷蔵庫'))[0]).toContain('冷蔵庫')
  expect((await ask('المفتاح'))[0]).toContain('المفتاح')
})

test('an answer is found by the question before it, in the same talk alone', async () => {
  const at = '2026-01-05T18:00:00.000Z'
  const talk = (content: string, category = 'evening') => ({ content, category, observedAt: at })
  const { ask } = await remember([
    talk('Ann: Hello!'),
    talk('Ann: Did you find a colour for the nursery walls?'),
    talk('Ben: Yes, a pale green.'),
    talk('Ben: Yes, a pale blue.', 'another evening'),
  ])
  const found = await ask('What colour are the nursery walls?')
  expect(found.slice(0, 2).sort()).toEqual(['Ann: Did you find a colour for the nursery walls?', 'Ben: Yes, a pale green.'])
  expect(found.indexOf('Ben: Yes, a pale green.')).toBeLessThan(found.indexOf('Ben: Yes, a pale blue.'))
})

test('a name in the question is who said it, who it belongs to, or who is named', async () => {
  const said = await remember(['Ann: I love hiking', 'Ben: I love hiking'])
  expect((await said.ask('What does Ben love?'))[0]).toBe('Ben: I love hiking')
  const belongs = await remember(
    [
      { content: 'Loves hiking in spring', personId: 'ann' },
      { content: 'Loves hiking in autumn', personId: 'ben' },
    ],
    [
      { id: 'ann', displayName: 'Ann' },
      { id: 'ben', displayName: 'Benjamin', aliases: ['Ben'] },
    ],
  )
  expect((await belongs.ask('When does Ben love hiking?'))[0]).toBe('Loves hiking in autumn')
  const named = await remember(['Ann likes tea', 'Ben likes tea'])
  expect((await named.ask('What does Ben like?'))[0]).toBe('Ben likes tea')
})

test('a time in the question prefers what was observed then', async () => {
  const { ask } = await remember([
    { content: 'We went camping at the lake', observedAt: '2025-06-14T10:00:00.000Z' },
    { content: 'We went camping in the hills', observedAt: '2025-08-20T10:00:00.000Z' },
  ])
  expect((await ask('Where did we camp in June?'))[0]).toContain('lake')
  expect((await ask('Where did we camp in August 2025?'))[0]).toContain('hills')
})

test('among equals the pinned, the asker’s own and the newer go first', async () => {
  const pinned = await remember([{ content: 'Bread is in the blue box', pinned: true }, 'Bread is in the grey box'])
  expect((await pinned.ask('Where is the bread?'))[0]).toContain('blue')
  const own = await remember([
    { content: 'The locker code is 12', personId: 'ann' },
    { content: 'The locker code is 34', personId: 'ben' },
  ])
  expect((await own.ask('locker code', { preferPersonId: 'ann' }))[0]).toContain('12')
  const newer = await remember([
    { content: 'The meeting room is A', observedAt: '2022-01-01T00:00:00.000Z' },
    { content: 'The meeting room is B', observedAt: '2026-03-01T00:00:00.000Z' },
  ])
  expect((await newer.ask('meeting room'))[0]).toContain('B')
})

test('what is superseded or of others never comes out, not even by way of vectors', async () => {
  const { ask, asked } = await remember([
    { content: 'Secret surprise party for Ann', personId: 'ben' },
    { content: 'Ann wants a party with cake', personId: 'ann' },
    { content: 'Party plates are in the cellar' },
    { content: 'Party plates are in the attic', superseded: true },
  ])
  const mine = { personIds: ['ann'], includeHousehold: true }
  expect((await ask('party', mine)).sort()).toEqual(['Ann wants a party with cake', 'Party plates are in the cellar'])
  expect(await ask('party', { personIds: ['ann'], includeHousehold: false })).toEqual(['Ann wants a party with cake'])
  expect(await ask('party', { personIds: [], includeHousehold: true })).toEqual(['Party plates are in the cellar'])
  expect(await ask('party', { personId: 'ben' })).toEqual(['Secret surprise party for Ann'])
  expect(await ask('party', { ...mine, personId: 'ben' })).toEqual([])
  expect(asked).toEqual([[null, 'ann'], ['ann'], [null], ['ben'], []])
})

test.each([
  '"',
  '* NEAR(',
  'boiler AND (code OR',
  'title:code',
  '-code',
  "'; DROP TABLE memory_chunk; --",
  '{}[]^:',
  '🎂',
  '\ud800',
  'ة'.repeat(50),
])('plain text is plain text: %s', async (q) => {
  const { ask } = await remember(HOUSE)
  expect(await ask(q)).toBeInstanceOf(Array)
  expect((await ask(`boiler code ${q}`))[0]).toBe('The boiler code is 4711')
})

test('a question of 100 KB is cut, an empty one finds nothing', async () => {
  const { ask } = await remember(HOUSE)
  expect((await ask(`boiler code ${'and more words '.repeat(7_000)}`))[0]).toBe('The boiler code is 4711')
  expect(await ask('  ')).toEqual([])
})

test('what stands deep in a long text is found, and a long text does not win by length', async () => {
  const long = `${'The minutes of the house meeting were read and agreed by all. '.repeat(600)}The cistern valve sits behind the panel.`
  const { ask } = await remember([long, ...HOUSE])
  expect((await ask('Where is the cistern valve?'))[0]).toHaveLength(long.length)
  expect((await ask('What is the boiler code?'))[0]).toBe('The boiler code is 4711')
})

test('a changed text is read anew', async () => {
  const { search } = await remember(['The wifi password is tulip'])
  const options = { q: 'wifi password', personIds: 'all', includeHousehold: true, limit: 5, now: NOW, timezone: 'UTC' } as const
  const [first] = await search(options)
  const [again] = await search(options)
  expect(again?.score).toBe(first?.score)
  expect(first?.score).toBeGreaterThan(1)
  const [unmet] = await search({ ...options, q: 'giraffe neck length' })
  expect(unmet?.score ?? 0).toBeLessThan(0.6)
})

test('a single character of a script without spaces is found wherever it stands', async () => {
  const notes = ['日本語のメモ 鍵は冷蔵庫の上', '犬の名前はポチです', '合鍵は隣の家', 'Bins go out on Tuesdays', ...HOUSE]
  for (const withVectors of [true, false]) {
    const { ask } = await remember(notes, [], { withVectors })
    expect(new Set((await ask('鍵')).slice(0, 2)), `${withVectors}`).toEqual(new Set(['日本語のメモ 鍵は冷蔵庫の上', '合鍵は隣の家']))
    expect((await ask('犬の名前は'))[0]).toBe('犬の名前はポチです')
    expect((await ask('冷蔵庫'))[0]).toBe('日本語のメモ 鍵は冷蔵庫の上')
  }
})
