import { join } from 'node:path'
import type { Database } from '../../db/database.ts'
import type { Caller } from '../../kit/caller.ts'
import type { EventBus } from '../../kit/events.ts'
import type { Logger } from '../../kit/log.ts'
import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { ConversationTable } from '../chat/chat.table.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { PairedDeviceTable } from '../paired-devices/paired-devices.table.ts'
import { createChunksService } from './chunks.service.ts'
import type { Embedder } from './embedder.ts'
import { createFactsService } from './facts.service.ts'
import { createForgotten } from './forgotten.ts'
import { memoryActions } from './memory.actions.ts'
import { type Chunk, memoryContract } from './memory.contract.ts'
import { memoryBlock } from './memory-block.ts'
import { createNoteKeeper } from './notes.ts'
import { withoutOthers } from './origins.ts'
import { createPersonErasure } from './person-erasure.ts'
import { exportPerson } from './person-export.ts'
import { createRawFiles } from './raw-files.ts'
import { createRecollection } from './recollection.ts'
import { MOST_TOLD, toldOf } from './told-text.ts'
import { createChunkVectors, type Embedders } from './vectors/chunk-vectors.ts'

export interface MemoryDeps {
  db: Database
  events: EventBus
  household: HouseholdService
  /** The data root. */
  dataPath: string
  resourcesPath: string
  /** The one that needs no model. */
  defaultEmbedder: Embedder
  /** Which one is chosen. */
  embedders: Embedders
  log: Logger
}

/** Memory: facts, remembered texts with search by meaning, and the two files that people write. */
export function createMemory({ db, events, household, dataPath, resourcesPath, defaultEmbedder, embedders, log }: MemoryDeps) {
  const vectors = createChunkVectors({
    db,
    events,
    embedders,
    defaultEmbedder,
    databasePath: join(dataPath, 'hearth.sqlite'),
    folder: join(dataPath, 'index', 'memory'),
    log,
  })
  const facts = createFactsService({ db, events })
  const onFault = (err: unknown) => log.warn({ err }, 'the word vectors cannot be read; memory is found by its words alone')
  const chunks = createChunksService({ db, events, household, vectors, resourcesPath, onFault })
  const notes = createNoteKeeper({ db, chunks })
  const forgotten = createForgotten({ chunks, notes })
  function tellerIn(conversationId: string) {
    const conversation = db.get(ConversationTable, conversationId)
    if (!conversation) return null
    const { personId, deviceId } = conversation
    return { personId, deviceName: personId === null ? (db.get(PairedDeviceTable, deviceId)?.name ?? null) : null }
  }
  const recollection = createRecollection({ chunks, facts, household, resourcesPath, tellerIn, onFault })
  const erasable = {
    ...chunks,
    async erase(personId: string) {
      forgotten.drop(personId)
      const erased = await chunks.erase(personId)
      forgotten.drop(personId)
      return erased
    },
  }
  const erasure = createPersonErasure({ db, household, chunks: erasable })
  const rawFiles = createRawFiles({ dataPath, defaultSoulPath: join(resourcesPath, 'soul.md'), log })
  async function rawMemory() {
    const [soul, memory] = [await rawFiles.soul(), await rawFiles.memory()]
    return { soul, memory, told: { soul: toldOf(soul, MOST_TOLD.soul), memory: toldOf(memory, MOST_TOLD.memory) } }
  }

  const seenBy = (caller: Caller, some: readonly Chunk[]): Chunk[] => withoutOthers(db, some, caller)
  const oneSeenBy = (caller: Caller, chunk: Chunk): Chunk => seenBy(caller, [chunk])[0] as Chunk

  const module: Module = {
    name: 'memory',
    routes: [
      routes(memoryContract, {
        list: ({ query }) => ({ entries: facts.list(query) }),
        async set({ body }, { reply }) {
          const { entry, isNew } = await facts.set(body)
          if (!isNew) reply.status = 200
          return entry
        },
        remove: ({ params }) => facts.remove(params.id),
        raw: rawMemory,
        async setSoul({ body }) {
          rawFiles.setSoul(body.content)
          return rawMemory()
        },
        async chunks({ query }, { caller }) {
          const { q, ...filter } = query
          if (q === undefined) {
            const { chunks: page, nextCursor } = chunks.list(caller, filter)
            return { chunks: seenBy(caller, page), nextCursor }
          }
          if (q.trim() === '') {
            const { chunks: newest } = chunks.list(caller, { ...filter, history: false, cursor: undefined })
            return { chunks: seenBy(caller, newest), formatted: memoryBlock(newest, household.get()) }
          }
          const found = await chunks.search(caller, q, filter)
          return { chunks: seenBy(caller, found), formatted: await recollection.formatted(q, found) }
        },
        addChunk: async ({ body }, { caller }) => ({ chunk: await chunks.add(caller, body) }),
        chunk: ({ params }, { caller }) => oneSeenBy(caller, chunks.get(caller, params.id)),
        updateChunk: async ({ params, body }, { caller }) => oneSeenBy(caller, await chunks.update(caller, params.id, body)),
        async removeChunk({ params, query }, { caller }) {
          await chunks.remove(caller, params.id, query.earlier)
        },
        chunkHistory: ({ params }, { caller }) => ({ chunks: seenBy(caller, chunks.history(caller, params.id)) }),
        index: () => vectors.status(),
        exportPerson: ({ params }, call) => exportPerson(chunks, params.id, call),
        erasePerson: ({ params, query }, { caller }) => erasure.erase(caller, params.id, query),
      }),
    ],
    actions: memoryActions({ chunks, forgotten, notes, recollection, seenBy }),
    start: vectors.start,
    stop: vectors.stop,
  }
  return { ...module, facts, chunks, erasure, recollection, rawFiles }
}

export type Memory = ReturnType<typeof createMemory>
