import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Caller } from '../../server/kit/caller.ts'
import { createEventBus } from '../../server/kit/events.ts'
import { createHouseholdService } from '../../server/modules/household/household.service.ts'
import { createMemory } from '../../server/modules/memory/memory.module.ts'
import { createDefaultEmbedder } from '../../server/modules/memory/ranking/default-embedder.ts'
import { loadWordVectors, wordHashes } from '../../server/modules/memory/ranking/word-vectors.ts'
import { type MemoryDatabase, openMemoryDatabase } from './memory-database.ts'

const RESOURCES = join(import.meta.dirname, '..', '..', 'resources')
const caller: Caller = { kind: 'owner', scope: 'admin', deviceId: 'd', userId: 'u', personId: null, sessionId: 's', via: 'cookie' }

let store: MemoryDatabase
let root: string
let lines: string[]
beforeEach(async () => {
  store = await openMemoryDatabase()
  root = mkdtempSync(join(tmpdir(), 'hearth-words-'))
  mkdirSync(join(root, 'memory'))
  copyFileSync(join(RESOURCES, 'soul.md'), join(root, 'soul.md'))
  lines = []
})
afterEach(async () => {
  await store.close()
  rmSync(root, { recursive: true, force: true })
})

async function startMemory() {
  const household = createHouseholdService({ db: store.db })
  if (!household.house())
    await store.db.write((tx) => household.found(tx, { ownerName: 'Ada', displayName: 'Home', timezone: 'Europe/Berlin', locale: 'en-GB' }))
  const defaultEmbedder = createDefaultEmbedder(root)
  const memory = createMemory({
    db: store.db,
    events: createEventBus((error) => {
      throw error
    }),
    household,
    dataPath: join(root, 'data'),
    resourcesPath: root,
    defaultEmbedder,
    embedders: { current: () => defaultEmbedder, onChange: () => () => undefined },
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
  })
  await memory.start?.()
  return { ...memory, [Symbol.asyncDispose]: async () => memory.stop?.() }
}

const damages: [string, () => void][] = [
  ['missing', () => undefined],
  ['of another kind', () => writeFileSync(join(root, 'memory', 'words.bin'), 'hello')],
  ['cut short', () => writeFileSync(join(root, 'memory', 'words.bin'), Buffer.concat([Buffer.from('HWV1'), Buffer.alloc(2_000, 7)]))],
]

test.each(damages)('with the word vectors %s, memory is found by its words, and the log says so once', async (_, damage) => {
  damage()
  await using memory = await startMemory()
  await memory.chunks.add(caller, { source: 'note', content: 'The boiler code is 4711' })
  await memory.chunks.add(caller, { source: 'note', content: 'The spare key is under the blue pot' })
  for (const q of ['boiler code', 'where is the spare key?', 'what is the boiler code?']) {
    const found = await memory.chunks.search(caller, q, { limit: 5 })
    expect(found[0]?.content, q).toContain(/boiler/.test(q) ? '4711' : 'blue pot')
    expect(await memory.recollection.formatted(q, found), q).not.toBe('')
  }
  expect((await memory.recollection.recall(caller, 'what is the boiler code?', 5)).answer).toContain('4711')
  expect((await memory.recollection.forPrompt(caller, 'what is the boiler code?')).block).toContain('4711')
  expect(lines.filter((line) => line.includes('found by its words alone'))).toHaveLength(1)
})

test('what was kept without the word vectors is embedded once they are back', async () => {
  let id: string
  {
    await using memory = await startMemory()
    const kept = await memory.chunks.add(caller, { source: 'note', content: 'The boiler code is 4711' })
    expect(kept.embeddingModel).toBe('')
    id = kept.id
  }
  copyFileSync(join(RESOURCES, 'memory', 'words.bin'), join(root, 'memory', 'words.bin'))
  await using memory = await startMemory()
  await expect.poll(() => memory.chunks.get(caller, id).embeddingModel, { timeout: 10_000 }).toBe('hearth-words-1')
})

test('a word is looked up to an end in a table that is full', async () => {
  const slots = 4
  const file = Buffer.alloc(16 + slots * 8 + 100)
  file.write('HWV1')
  file.writeUInt32LE(100, 4)
  file.writeUInt32LE(1, 8)
  file.writeUInt32LE(slots, 12)
  const [, check] = wordHashes('kettle')
  for (let slot = 0; slot < slots; slot++) {
    file.writeInt32LE(check + 1, 16 + slot * 8)
    file.writeInt32LE(1, 20 + slot * 8)
  }
  writeFileSync(join(root, 'memory', 'words.bin'), file)
  expect((await loadWordVectors(root)).find('kettle')).toBe(-1)
})
