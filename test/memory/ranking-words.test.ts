import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { expect, test } from 'vitest'
import { createDefaultEmbedder } from '../../server/modules/memory/ranking/default-embedder.ts'
import { fitOf, periodIn } from '../../server/modules/memory/ranking/spoken-dates.ts'
import { stem } from '../../server/modules/memory/ranking/stem.ts'
import { loadWordVectors } from '../../server/modules/memory/ranking/word-vectors.ts'
import { wordsOf } from '../../server/modules/memory/ranking/words.ts'

const RESOURCES = join(import.meta.dirname, '..', '..', 'resources')
const embedder = createDefaultEmbedder(RESOURCES)

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (!a || !b) throw new Error('A vector is missing')
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
}

test('words are found in any writing, and their short forms are undone', () => {
  expect(wordsOf('Papa’s "boiler" code — 4711!')).toEqual(['papa', 'boiler', 'code', '4711'])
  expect(wordsOf("We don't, they'll")).toEqual(['we', 'do', 'they', 'll'].slice(0, 3))
  expect(wordsOf('Zoë isst Brötchen')).toEqual(['zoe', 'isst', 'brotchen'])
  expect(wordsOf('冷蔵庫の鍵')).toEqual(['冷蔵', '蔵庫', '庫の', 'の鍵'])
  expect(wordsOf('שלום עולם 🎂')).toEqual(['שלום', 'עולם', '🎂'])
  expect(wordsOf('')).toEqual([])
})

test('stems are those of the full-text index', () => {
  const words =
    'caresses ponies painting painted agreed hopping filing happily relational conferences adoption controlling yesterday sky'.split(' ')
  const db = new BetterSqlite3(':memory:')
  db.exec(`CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61'); CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')`)
  words.forEach((word, at) => {
    db.prepare('INSERT INTO t (rowid, x) VALUES (?, ?)').run(at + 1, word)
  })
  const indexed = db.prepare('SELECT term FROM v ORDER BY doc').all() as { term: string }[]
  expect(words.map(stem)).toEqual(indexed.map(({ term }) => term))
  db.close()
})

test('word vectors know what is akin', async () => {
  const vectors = await loadWordVectors(RESOURCES)
  const akin = (a: string, b: string) => vectors.similarity(vectors.find(a), vectors.find(b))
  expect(akin('doctor', 'physician')).toBeGreaterThan(akin('doctor', 'curtain') + 0.3)
  expect(akin('kettle', 'kettle')).toBeCloseTo(1, 1)
  expect(vectors.find('qwrtzuiop')).toBe(-1)
  expect(vectors.frequency(vectors.find('the'))).toBeGreaterThan(vectors.frequency(vectors.find('kettle')))
})

test('a file that is none of ours is refused by name', async () => {
  await expect(loadWordVectors(join(RESOURCES, 'nowhere'))).rejects.toThrow('words.bin')
})

test('what means the same lies closer than what does not', async () => {
  const [cat, kitten, tax] = await embedder.embed(
    ['The cat sleeps on the carpet', 'A kitten was napping on the rug', 'The tax return is due in May'],
    'passage',
  )
  expect(cosine(cat, kitten)).toBeGreaterThan(cosine(cat, tax) + 0.2)
})

test('every text has a vector of length one, even one that nobody can read', async () => {
  const texts = ['', '   ', '?!', '🎂', 'xyzzyq', 'سيارة', 'a'.repeat(200_000)]
  const vectors = await embedder.embed(texts, 'passage')
  expect(vectors.map(({ length }) => length)).toEqual(texts.map(() => embedder.dimensions))
  for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 4)
})

test('unknown words are close when they are spelled alike', async () => {
  const [one, other, far] = await embedder.embed(['Kühlschranktür', 'Kühlschranktüren', 'Rasenmähermesser'], 'passage')
  expect(cosine(one, other)).toBeGreaterThan(0.7)
  expect(cosine(one, far)).toBeLessThan(0.3)
})

test('embedding stops when it is no longer wanted', async () => {
  await expect(embedder.embed(['x'], 'query', AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
})

test.each([
  ['When did we paint the shed in June 2024?', '2024-06-01', '2024-06-30'],
  ['What happened on 5 July 2025?', '2025-07-05', '2025-07-05'],
  ['and on March 3rd?', '--03-03', '--03-03'],
  ['Who came in October?', '--10-01', '--10-31'],
  ['What did I say yesterday?', '2026-03-10', '2026-03-10'],
  ['What did Papa cook last week?', '2026-03-02', '2026-03-08'],
  ['the trip last month', '2026-02-01', '2026-02-28'],
  ['two months ago', '2026-01-01', '2026-01-31'],
  ['What was on last Friday?', '2026-03-06', '2026-03-06'],
  ['the holidays of 2023', '2023-01-01', '2023-12-31'],
  ['on 2025-12-24', '2025-12-24', '2025-12-24'],
])('%s', (question, from, to) => {
  expect(periodIn(question, '2026-03-11')).toEqual({ from, to })
})

test.each(['May I march on?', 'the boiler code 4711', 'How many sisters has Ann?', 'on 99 March'])('%s names no time', (question) => {
  expect(periodIn(question, '2026-03-11')).toBeNull()
})

test('a month without a year fits every year, and a fortnight after it by half', () => {
  const period = { from: '--12-01', to: '--12-31' }
  expect(['2024-12-24', '2025-12-01', '2026-01-10', '2026-02-01', '2025-11-30'].map((day) => fitOf(day, period))).toEqual([1, 1, 0.5, 0, 0])
})
