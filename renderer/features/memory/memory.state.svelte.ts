import type { Household, Person } from '../../../server/modules/household/household.contract.ts'
import { type Chunk, type MemoryEntry, memoryContract } from '../../../server/modules/memory/memory.contract.ts'
import type { HearthClient } from '../../api.ts'
import type { Hearth } from '../../app-context.ts'
import { t } from '../../messages/messages.ts'
import { createPartingClient } from '../../parting.ts'
import { unlessGone } from '../../ui/edits.svelte.ts'
import { Leaving } from '../../ui/leaving.svelte.ts'
import { Resource } from '../../ui/resource.svelte.ts'
import { whileLive } from '../../ui/while-live.ts'

const PAGE = 50
const REFRESH_MS = 30_000
const MOST_FACTS = 500
/** How often an open dialog looks what others made of what it changes. */
export const LOOK_MS = 5000

export interface MemoryFilter {
  q: string
  personId: string
  source: string
  history: boolean
}

export interface ChunkEdit {
  content: string
  title: string
  category: string
  personId: string | null
}

type Deps = Pick<Hearth, 'client' | 'toasts' | 'live'>
export type Index = Awaited<ReturnType<HearthClient['memory']['index']>>

/** The memories that fit a filter, page by page. */
export class Memories {
  filter = $state.raw<MemoryFilter>({ q: '', personId: '', source: '', history: false })
  readonly first: Resource<{ chunks: Chunk[]; nextCursor: string | null }>
  readonly home: Resource<{ household: Household; persons: Person[] }>
  readonly index: Resource<Index>
  older = $state.raw<Chunk[]>([])
  nextCursor = $state.raw<string | null>(null)
  loadingOlder = $state(false)
  readonly #client: HearthClient
  readonly #live: Deps['live']
  readonly #toasts: Hearth['toasts']
  readonly #leaving: Leaving

  constructor({ client, toasts, live }: Deps) {
    this.#client = client
    this.#live = live
    this.#toasts = toasts
    this.#leaving = new Leaving(toasts)
    this.first = new Resource(async (signal) => {
      const { chunks, nextCursor = null } = await client.memory.chunks({ query: this.#query() }, { signal })
      return { chunks, nextCursor }
    })
    this.home = new Resource((signal) => client.household.get({}, { signal }))
    this.index = new Resource((signal) => client.memory.index({}, { signal }))
  }

  get shown(): Chunk[] | undefined {
    return this.first.value && [...this.first.value.chunks, ...this.older].filter(({ id }) => !this.#leaving.has(id))
  }

  get people(): Person[] {
    return this.home.value?.persons ?? []
  }

  async load(): Promise<void> {
    await this.first.load()
    this.older = []
    this.nextCursor = this.first.value?.nextCursor ?? null
  }

  async loadOlder(): Promise<void> {
    if (this.nextCursor === null || this.loadingOlder) return
    this.loadingOlder = true
    try {
      const { chunks, nextCursor = null } = await this.#client.memory.chunks({ query: { ...this.#query(), cursor: this.nextCursor } })
      this.older = [...this.older, ...chunks]
      this.nextCursor = nextCursor
    } finally {
      this.loadingOlder = false
    }
  }

  /** Looks how far the index is, now and as it goes on; returns what ends that. */
  watchIndex(): () => void {
    return whileLive(this.#live, ['memory.index'], () => void this.index.load(), REFRESH_MS)
  }

  one(id: string): Promise<Chunk> {
    return this.#client.memory.chunk({ params: { id } })
  }

  async add(edit: ChunkEdit): Promise<void> {
    const { title, category, ...rest } = edit
    await this.#client.memory.addChunk({ body: { source: 'note', ...rest, ...(title && { title }), ...(category && { category }) } })
    await this.load()
  }

  async update({ id }: Chunk, changes: Partial<ChunkEdit & Pick<Chunk, 'pinned' | 'promoted'>>): Promise<void> {
    this.#put(await this.#client.memory.updateChunk({ params: { id }, body: changes }))
  }

  /** Shows a change at once and takes it back where the server refuses. */
  async mark(chunk: Chunk, changes: Partial<Pick<Chunk, 'pinned' | 'promoted'>>): Promise<void> {
    this.#put({ ...chunk, ...changes })
    try {
      await this.update(chunk, changes)
    } catch (error) {
      this.#put(chunk)
      throw error
    }
  }

  /** What a memory was before, the newest first. */
  async history({ id }: Chunk): Promise<Chunk[]> {
    return (await this.#client.memory.chunkHistory({ params: { id } })).chunks
  }

  /** Forgets a memory at once, with what it was before or in its favour. */
  async forgetNow({ id }: Chunk, earlier: 'forget' | 'restore'): Promise<void> {
    await this.#client.memory.removeChunk({ params: { id }, query: { earlier } })
    await this.load()
  }

  /** Forgets a memory once the time to undo that has passed. */
  forget(chunk: Chunk): void {
    const { id, title } = chunk
    const which = { params: { id }, query: {} }
    this.#leaving.add(id, {
      text: t('memory.forgotten', title),
      remove: async () => {
        await this.#client.memory.removeChunk(which)
        this.#replace((chunks) => chunks.filter((other) => other.id !== id))
      },
      part: () => createPartingClient({ memory: memoryContract }).memory.removeChunk(which),
      onfailed: () => this.#toasts.show(t('memory.forgetFailed', title), { tone: 'loss' }),
    })
  }

  #put(chunk: Chunk): void {
    this.#replace((chunks) => chunks.map((other) => (other.id === chunk.id ? chunk : other)))
  }

  #replace(change: (chunks: Chunk[]) => Chunk[]): void {
    if (this.first.value) this.first.value = { ...this.first.value, chunks: change(this.first.value.chunks) }
    this.older = change(this.older)
  }

  #query() {
    const { q, personId, source, history } = this.filter
    return {
      limit: PAGE,
      ...(q && { q }),
      ...(personId && { personId }),
      ...(source && { source }),
      ...(history && !q && { history: 'true' }),
    }
  }
}

/** Facts by category and name. */
export class Facts {
  q = $state('')
  readonly entries: Resource<MemoryEntry[]>
  readonly #client: HearthClient['memory']
  readonly #toasts: Hearth['toasts']
  readonly #leaving: Leaving

  constructor({ client, toasts }: Deps) {
    this.#client = client.memory
    this.#toasts = toasts
    this.#leaving = new Leaving(toasts)
    this.entries = new Resource(async (signal) => (await this.#client.list({ query: this.q ? { q: this.q } : {} }, { signal })).entries)
  }

  get shown(): MemoryEntry[] | undefined {
    return this.entries.value?.filter(({ id }) => !this.#leaving.has(id))
  }

  /** Null for one that is no longer kept. */
  async factNow(fact: MemoryEntry): Promise<MemoryEntry | null> {
    const { entries } = await this.#client.list({ query: { category: fact.category, limit: MOST_FACTS } })
    // Where not all of them are told, it may be among the rest.
    return entries.find(({ id }) => id === fact.id) ?? (entries.length < MOST_FACTS ? null : fact)
  }

  /** Keeps a fact; under a new name the one `before` goes. */
  async save(before: MemoryEntry | null, fact: Pick<MemoryEntry, 'category' | 'key' | 'value'>): Promise<void> {
    await this.#client.set({ body: fact })
    if (before && (before.category !== fact.category || before.key !== fact.key))
      await unlessGone(this.#client.remove({ params: { id: before.id } }))
    await this.entries.load()
  }

  forget({ id, key }: MemoryEntry): void {
    const params = { id }
    this.#leaving.add(id, {
      text: t('memory.forgotten', key),
      remove: async () => {
        await this.#client.remove({ params })
        this.entries.value = this.entries.value?.filter((other) => other.id !== id) ?? []
      },
      part: () => createPartingClient({ memory: memoryContract }).memory.remove({ params }),
      onfailed: () => this.#toasts.show(t('memory.forgetFailed', key), { tone: 'loss' }),
    })
  }
}
