import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEventBus } from '../../server/kit/events.ts'
import { createLog } from '../../server/kit/log.ts'
import type { Embedder } from '../../server/modules/memory/embedder.ts'
import { memoryIndexed } from '../../server/modules/memory/memory.contract.ts'
import { ChunkTable } from '../../server/modules/memory/memory.table.ts'
import { type ChunkVectors, createChunkVectors } from '../../server/modules/memory/vectors/chunk-vectors.ts'
import { chunkRow, type MemoryDatabase, openMemoryDatabase } from './memory-database.ts'

/** Embeds by the letters of a text; `turn` makes models that do not understand each other. */
function letters(name: string, dimensions: number, before: () => Promise<void> = async () => undefined): Embedder & { asked: string[] } {
  const asked: string[] = []
  return {
    name,
    dimensions,
    asked,
    async embed(texts, _kind, signal) {
      await before()
      signal?.throwIfAborted()
      asked.push(...texts)
      return texts.map((text) => {
        const vector = new Float32Array(dimensions)
        for (const letter of text)
          vector[((letter.charCodeAt(0) * dimensions) % 31) % dimensions] =
            (vector[((letter.charCodeAt(0) * dimensions) % 31) % dimensions] as number) + 1
        const length = Math.hypot(...vector) || 1
        return vector.map((value) => value / length)
      })
    },
  }
}

let store: MemoryDatabase
let current: Embedder
let listener: ((embedder: Embedder) => void) | undefined
let vectors: ChunkVectors
const told: { done: number; total: number; embeddingModel: string }[] = []
const built = letters('built-in', 8)

function start(): ChunkVectors {
  const events = createEventBus((error) => {
    throw error
  })
  events.on(memoryIndexed, (progress) => void told.push(progress))
  return createChunkVectors({
    db: store.db,
    events,
    embedders: {
      current: () => current,
      onChange(heard) {
        listener = heard
        return () => undefined
      },
    },
    defaultEmbedder: built,
    databasePath: store.databasePath,
    folder: store.folder,
    log: createLog('silent'),
  })
}

const change = (embedder: Embedder) => {
  current = embedder
  listener?.(embedder)
}

async function add(content: string): Promise<string> {
  const row = chunkRow(content)
  const embedded = await vectors.embed(row)
  row.embeddingModel = vectors.modelOf(embedded)
  await store.db.write((tx) => {
    tx.insert(ChunkTable, row)
    const seq = store.db.select<{ seq: number }>('SELECT max("seq") AS "seq" FROM "memory_chunk"')[0]?.seq ?? 0
    vectors.put(tx, seq, null, embedded)
  })
  return row.embeddingModel
}

async function best(text: string): Promise<string | undefined> {
  const vector = await vectors.embedQuery(text)
  const [near] = vector ? await vectors.nearest(vector, 1, 'all') : []
  return near && store.db.select<{ content: string }>('SELECT "content" FROM "memory_chunk" WHERE "seq" = (? + 0)', [near.seq])[0]?.content
}

const models = () =>
  store.db
    .select<{ model: string; n: number }>('SELECT "model", count(*) AS "n" FROM "memory_vector" GROUP BY "model" ORDER BY "model"')
    .map(({ model, n }) => `${model} ${n}`)
const isReady = () => expect.poll(() => vectors.status().status, { timeout: 10_000 }).toBe('ready')

beforeEach(async () => {
  store = await openMemoryDatabase()
  current = built
  listener = undefined
  told.length = 0
  built.asked.length = 0
  vectors = start()
  await vectors.start()
})
afterEach(async () => {
  await vectors.stop()
  await store.close()
})

test('nothing is embedded, read or made before there is something to remember', () => {
  expect(built.asked).toEqual([])
  expect(vectors.status()).toEqual({ embeddingModel: 'built-in', chunks: 0, embedded: 0, status: 'ready' })
})

test('another model takes over with progress; until then the one before goes on serving', async () => {
  for (let n = 0; n < 60; n++) await add(`${'abcdefghijklmnopqrstuvwxyz'.slice(n % 26)} ${n}`)
  let isHeld = true
  const other = letters('other', 13, async () => {
    while (isHeld) await wait(5)
  })
  change(other)
  await expect.poll(() => vectors.status().status).toBe('building')
  expect(await best('xyz 24')).toMatch(/xyz/)
  expect(await add('zzzz while it is changing')).toBe('')
  expect(await best('zzzz while it is changing')).toBe('zzzz while it is changing')
  isHeld = false
  await isReady()
  await expect.poll(models, { timeout: 5_000 }).toEqual(['other 61'])
  expect(vectors.status()).toEqual({ embeddingModel: 'other', chunks: 61, embedded: 61, status: 'ready' })
  expect(await best('zzzz while it is changing')).toBe('zzzz while it is changing')
  expect(told.at(-1)).toEqual({ embeddingModel: 'other', done: 61, total: 61 })
  expect(told.length).toBeGreaterThan(1)
})

test('stopped half way through, it goes on where it was', async () => {
  for (let n = 0; n < 60; n++) await add(`chunk ${n}`)
  let batches = 0
  const other = letters('other', 13, async () => {
    batches += 1
    if (batches > 1) await new Promise(() => undefined)
  })
  change(other)
  await expect.poll(() => vectors.status().embedded).toBe(24)
  await Promise.race([vectors.stop(), wait(50)])
  const rest = letters('other', 13)
  current = rest
  vectors = start()
  await vectors.start()
  await isReady()
  expect(rest.asked).toHaveLength(36)
  await expect.poll(models).toEqual(['other 60'])
})

test('going back before it is done leaves what was', async () => {
  for (let n = 0; n < 30; n++) await add(`chunk ${n}`)
  change(letters('stuck', 4, () => new Promise((_, reject) => setTimeout(reject, 20, new Error('it broke')))))
  await expect.poll(() => vectors.status().status).toBe('error')
  expect(vectors.status().detail).toBe('it broke')
  expect(await best('chunk 7')).toMatch(/chunk/)
  change(built)
  await isReady()
  expect(await best('chunk 29')).toMatch(/chunk/)
})

test('a slow model does not hold up whoever writes, and a text that it cannot take holds up no other', async () => {
  const slow = letters('slow', 8, () => wait(400))
  current = {
    ...slow,
    async embed(texts, kind, signal) {
      if (texts.some((text) => text.includes('poison'))) throw new Error('I cannot take this')
      return slow.embed(texts, kind, signal)
    },
  }
  const began = performance.now()
  expect(await add('first')).toBe('')
  expect(performance.now() - began).toBeLessThan(380)
  await add('poison')
  await add('last')
  await expect.poll(models, { timeout: 10_000 }).toEqual(['slow 2'])
  await isReady()
})

test('what a crash left without a vector gets one at the next start', async () => {
  await vectors.stop()
  await store.db.write((tx) => tx.insert(ChunkTable, chunkRow('left alone')))
  vectors = start()
  await vectors.start()
  await expect.poll(models).toEqual(['built-in 1'])
  expect(await best('left alone')).toBe('left alone')
})
