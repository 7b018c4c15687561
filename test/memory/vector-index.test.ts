import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../server/kit/log.ts'
import { createVectorIndex, type VectorIndex } from '../../server/modules/memory/vectors/vector-index.ts'
import { bytesOf, createVectorMaker, type MemoryDatabase, openMemoryDatabase, writeEmbedded } from './memory-database.ts'

const DIMENSIONS = 16
const MANY = 900
/** As the index decides with large numbers, with small ones. */
const LIMITS = { graphFrom: 600, renewFrom: 200 }
const FEW = 40
const PERSON = crypto.randomUUID()
const MODEL = 'model'

let store: MemoryDatabase
const next = createVectorMaker(DIMENSIONS)
const truth = new Map<number, Float32Array>()
const opened = new Set<VectorIndex>()

beforeAll(async () => {
  store = await openMemoryDatabase()
  for (let seq = 1; seq <= MANY + FEW; seq++) truth.set(seq, next())
  await writeEmbedded(
    store.db,
    MODEL,
    [...truth].map(([seq, vector]) => ({ seq, vector, personId: seq > MANY ? PERSON : null })),
  )
})
afterAll(async () => {
  await Promise.all([...opened].map((index) => index.stop()))
  await store.close()
})

async function open(model = MODEL): Promise<VectorIndex> {
  const index = createVectorIndex({
    db: store.db,
    model,
    databasePath: store.databasePath,
    folder: store.folder,
    log: createLog('silent'),
    limits: LIMITS,
  })
  opened.add(index)
  await index.open()
  return index
}

async function close(index: VectorIndex): Promise<void> {
  await index.stop()
  opened.delete(index)
}

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, place) => sum + value * (b[place] as number), 0)
const exact = (query: Float32Array, k: number, owns: (seq: number) => boolean = () => true) =>
  [...truth]
    .filter(([seq]) => owns(seq))
    .map(([seq, vector]) => ({ seq, similarity: dot(query, vector) }))
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, k)
    .map(({ seq }) => seq)

/** Of the ten nearest, the share that is found. */
async function recallOf(
  index: VectorIndex,
  owners: readonly (string | null)[] | 'all' = 'all',
  owns?: (seq: number) => boolean,
): Promise<number> {
  let hits = 0
  const rounds = 50
  for (let round = 0; round < rounds; round++) {
    const query = next()
    const found = new Set((await index.nearest(query, 10, owners)).map(({ seq }) => seq))
    hits += exact(query, 10, owns).filter((seq) => found.has(seq)).length
  }
  return hits / (10 * rounds)
}

const graphs = () => readdirSync(store.folder).filter((name) => name.endsWith('.hnsw'))

test('among many and among few it finds the nearest', async () => {
  const index = await open()
  expect(graphs()).toHaveLength(1)
  expect(await recallOf(index)).toBeGreaterThanOrEqual(0.98)
  expect(await recallOf(index, [PERSON], (seq) => seq > MANY)).toBe(1)
  expect(await recallOf(index, [null], (seq) => seq <= MANY)).toBeGreaterThanOrEqual(0.98)
  expect(await index.nearest(next(), 10, [crypto.randomUUID()])).toEqual([])
  expect(await index.nearest(new Float32Array(3), 10, 'all')).toEqual([])
  await close(index)
})

test('what is removed is found no more, what is added or changed at once', async () => {
  const index = await open()
  const query = truth.get(17) as Float32Array
  expect((await index.nearest(query, 1, 'all'))[0]?.seq).toBe(17)
  index.remove(17, null)
  expect((await index.nearest(query, 50, 'all')).map(({ seq }) => seq)).not.toContain(17)
  index.add(17, PERSON, query)
  expect((await index.nearest(query, 1, 'all'))[0]?.seq).toBe(17)
  expect((await index.nearest(query, 50, [null])).map(({ seq }) => seq)).not.toContain(17)
  index.remove(17, PERSON)
  index.add(18, null, query)
  const found = await index.nearest(query, 50, 'all')
  expect(found[0]?.seq).toBe(18)
  expect(found.filter(({ seq }) => seq === 18)).toHaveLength(1)
  index.add(19, null, new Float32Array(5))
  expect(await index.nearest(query, 5, 'all')).toHaveLength(5)
  await close(index)
})

test('what changed while it was off is as the database says', async () => {
  const swapped = next()
  await store.db.write((tx) => {
    tx.run('DELETE FROM "memory_chunk" WHERE "seq" BETWEEN 100 AND 199')
    tx.run('UPDATE "memory_vector" SET "vector" = ? WHERE "seq" = 200', [bytesOf(swapped)])
    tx.run(`UPDATE "memory_chunk" SET "supersededById" = 'x' WHERE "seq" = 201`)
  })
  const queries = new Map([100, 150, 199, 201].map((seq) => [seq, truth.get(seq) as Float32Array]))
  for (let seq = 100; seq < 200; seq++) truth.delete(seq)
  truth.delete(201)
  truth.set(200, swapped)
  const added = next()
  truth.set(100, added)
  await writeEmbedded(store.db, MODEL, [{ seq: 100, vector: added }])
  const index = await open()
  expect((await index.nearest(swapped, 1, 'all'))[0]?.seq).toBe(200)
  expect((await index.nearest(added, 1, 'all'))[0]?.seq).toBe(100)
  for (const seq of [150, 199, 201]) {
    expect((await index.nearest(queries.get(seq) as Float32Array, 50, 'all')).map((near) => near.seq)).not.toContain(seq)
  }
  expect(await recallOf(index)).toBeGreaterThanOrEqual(0.98)
  await close(index)
})

test.each<[string, (graph: string, note: string) => void]>([
  [
    'a changed byte',
    (graph) => {
      const bytes = readFileSync(graph)
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0xff
      writeFileSync(graph, bytes)
    },
  ],
  ['half a graph', (graph) => truncateSync(graph, 50_000)],
  ['no graph', (graph) => rmSync(graph)],
  ['a JPEG for a graph', (graph) => writeFileSync(graph, Buffer.from('ffd8ffe000104a464946', 'hex'))],
  ['no note', (_, note) => rmSync(note)],
  ['a note that is none', (_, note) => writeFileSync(note, '{"file":"../../etc/passwd"}')],
  [
    'a note of other dimensions',
    (_, note) => writeFileSync(note, readFileSync(note, 'utf8').replace(/"dimensions":\d+/, '"dimensions":99')),
  ],
])('with %s the index is made anew', async (_, damage) => {
  const [graph = ''] = graphs()
  const note = readdirSync(store.folder).find((name) => name.endsWith('.json')) ?? ''
  damage(join(store.folder, graph), join(store.folder, note))
  const index = await open()
  expect(await recallOf(index)).toBeGreaterThanOrEqual(0.98)
  expect(graphs()).toHaveLength(1)
  await close(index)
})

test('while it is being made it can be searched and stopped', async () => {
  rmSync(store.folder, { recursive: true })
  const index = createVectorIndex({
    db: store.db,
    model: MODEL,
    databasePath: store.databasePath,
    folder: store.folder,
    log: createLog('silent'),
    limits: LIMITS,
  })
  const opening = index.open()
  const fresh = next()
  index.add(90_000, null, fresh)
  expect((await index.nearest(fresh, 1, 'all'))[0]?.seq).toBe(90_000)
  expect(index.isReady()).toBe(false)
  await index.stop()
  await opening
})

test('many that are added become part of a graph, and stay to be found', async () => {
  const index = await open()
  const [before = ''] = graphs()
  const added = Array.from({ length: 500 }, (_, n) => ({ seq: 10_000 + n, vector: next() }))
  await writeEmbedded(store.db, MODEL, added)
  for (const { seq, vector } of added) {
    index.add(seq, null, vector)
    truth.set(seq, vector)
  }
  expect(await recallOf(index)).toBeGreaterThanOrEqual(0.98)
  await expect.poll(() => graphs().filter((name) => name !== before).length, { timeout: 20_000 }).toBe(1)
  await expect.poll(() => index.isMaking(), { timeout: 20_000 }).toBe(false)
  expect(await recallOf(index)).toBeGreaterThanOrEqual(0.98)
  await close(index)
})
