import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '../../server/db/database.ts'
import { migrations } from '../../server/db/migrations/all.ts'
import { createLog } from '../../server/kit/log.ts'
import { type ChunkRow, ChunkTable, VectorTable } from '../../server/modules/memory/memory.table.ts'
import { tables } from '../../server/tables.ts'

export interface MemoryDatabase {
  db: Database
  databasePath: string
  /** Where graphs are kept. */
  folder: string
  close(): Promise<void>
}

/** A database of its own in a folder of its own. */
export async function openMemoryDatabase(): Promise<MemoryDatabase> {
  const root = mkdtempSync(join(tmpdir(), 'hearth-memory-'))
  const databasePath = join(root, 'hearth.sqlite')
  const db = await openDatabase({
    path: databasePath,
    backupsPath: join(root, 'backups'),
    tables,
    migrations,
    wasUnclean: false,
    log: createLog('silent'),
    onDiskFailure(error) {
      throw error
    },
  })
  return {
    db,
    databasePath,
    folder: join(root, 'index'),
    async close() {
      await db.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Numbers from 0 to 1 that are the same at every run. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A vector of unit length, around one of some centres as those of texts are. */
export function createVectorMaker(dimensions: number, seed = 1): () => Float32Array {
  const random = seeded(seed)
  const gauss = () => Math.sqrt(-2 * Math.log(random() || 1e-9)) * Math.cos(2 * Math.PI * random())
  const centres = Array.from({ length: 200 }, () => Float32Array.from({ length: dimensions }, gauss))
  return () => {
    const centre = centres[Math.floor(random() * centres.length)] as Float32Array
    const vector = centre.map((value) => value + 0.7 * gauss())
    const length = Math.hypot(...vector)
    return vector.map((value) => value / length)
  }
}

export const chunkRow = (content: string, more: Partial<ChunkRow> = {}): ChunkRow => {
  const at = new Date().toISOString()
  return {
    seq: null,
    id: randomUUID(),
    householdId: randomUUID(),
    personId: null,
    source: 'note',
    category: 'general',
    title: content.slice(0, 100),
    content,
    observedAt: at,
    pinned: false,
    promoted: false,
    embeddingModel: '',
    conversationId: null,
    messageId: null,
    supersededById: null,
    createdAt: at,
    updatedAt: at,
    ...more,
  }
}

export const bytesOf = (vector: Float32Array): Buffer => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)

/** Writes chunks that have their vectors already. */
export async function writeEmbedded(
  db: Database,
  model: string,
  chunks: { seq: number; vector: Float32Array; personId?: string | null }[],
): Promise<void> {
  for (let from = 0; from < chunks.length; from += 500) {
    await db.write((tx) => {
      for (const { seq, vector, personId = null } of chunks.slice(from, from + 500)) {
        tx.insert(ChunkTable, chunkRow(`text ${seq}`, { seq, personId, embeddingModel: model }))
        tx.insert(VectorTable, { seq, model, vector: bytesOf(vector) })
      }
    })
  }
}
