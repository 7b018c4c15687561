import { existsSync, readdirSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import { createDefaultEmbedder } from '../../server/modules/memory/ranking/default-embedder.ts'
import type { Person } from '../support/house.ts'
import { BY_ENVIRONMENT, dataRoot, type ServerProcess, startServer } from '../support/process.ts'
import { bytesOf, chunkRow, createVectorMaker } from './memory-database.ts'

vi.setConfig({ testTimeout: 120_000 })

const ready = (person: Person) => expect.poll(async () => (await person.api.memory.index()).status, { timeout: 60_000 }).toBe('ready')
const found = async (person: Person, q: string) =>
  (await person.api.memory.chunks({ query: { q, limit: 50 } })).chunks.map(({ content }) => content)

test('what was kept before a kill is found after it, what was forgotten is not', async () => {
  using root = dataRoot()
  for (let round = 0; round < 2; round++) {
    await using server = await startServer(root.path, { env: BY_ENVIRONMENT })
    const owner = await server.owner()
    const keep = (content: string) => owner.api.memory.addChunk({ body: { source: 'note', content } })
    const { chunk } = await keep(`The marmalade of round ${round} is to be forgotten`)
    await keep(`The marmalade of round ${round} is to be kept`)
    await owner.api.memory.removeChunk({ params: { id: chunk.id }, query: {} })
    await server.kill()
  }
  await using server = await startServer(root.path, { env: BY_ENVIRONMENT })
  const owner = await server.owner()
  await ready(owner)
  expect((await found(owner, 'marmalade of round')).toSorted()).toEqual(
    [0, 1].map((round) => `The marmalade of round ${round} is to be kept`),
  )
})

/** Many chunks whose vectors mean nothing, as a household of years has, so that there is an index to save. */
async function fill(path: string): Promise<void> {
  const { name, dimensions } = createDefaultEmbedder('')
  const next = createVectorMaker(dimensions)
  const raw = new BetterSqlite3(path)
  raw.transaction(() => {
    for (let n = 0; n < 5_100; n++) {
      const row = chunkRow(`Filler ${n}`, { embeddingModel: name })
      const values = Object.values(row).map((value) => (typeof value === 'boolean' ? Number(value) : value))
      const columns = Object.keys(row).map((key) => `"${key}"`)
      const { lastInsertRowid } = raw
        .prepare(`INSERT INTO "memory_chunk" (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
        .run(...values)
      const seq = raw.prepare('SELECT "seq" FROM "memory_chunk" WHERE "id" = ?').pluck().get(row.id) ?? lastInsertRowid
      raw.prepare('INSERT INTO "memory_vector" VALUES (?, ?, ?)').run(seq, name, bytesOf(next()))
    }
  })()
  raw.close()
}

const graphs = (folder: string) =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.hnsw')) : []

test('killed before the index was saved, what was forgotten stays forgotten and what was kept is found', async () => {
  using root = dataRoot()
  const start = () => startServer(root.path, { env: BY_ENVIRONMENT })
  await (await start()).stop()
  await fill(root.file('hearth.sqlite'))
  const forgotten: string[] = []
  const kept: string[] = []
  for (let round = 0; round < 3; round++) {
    await using server: ServerProcess = await start()
    const owner = await server.owner()
    await ready(owner)
    expect(graphs(root.file('index'))).toHaveLength(1)
    for (const content of forgotten) expect(await found(owner, content)).not.toContain(content)
    for (const content of kept) expect((await found(owner, content))[0]).toBe(content)
    const { chunks } = await owner.api.memory.chunks({ query: { q: `Filler ${round * 7}`, limit: 1 } })
    for (const { id, content } of chunks) {
      await owner.api.memory.removeChunk({ params: { id }, query: {} })
      forgotten.push(content)
    }
    const content = `Saffron jar number ${round} stands on the top shelf`
    await owner.api.memory.addChunk({ body: { source: 'note', content } })
    kept.push(content)
    await server.kill()
  }
  expect(forgotten).toHaveLength(3)
})
