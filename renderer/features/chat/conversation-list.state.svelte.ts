import type { Conversation } from '../../../server/modules/chat/chat.contract.ts'
import type { HearthClient } from '../../api.ts'

/** A conversation in the list; `snippet` is the text around what a search found. */
export type Entry = Conversation & { snippet?: string }

const SEARCH_WAIT_MS = 200
/** The most the server hands out; older ones are found by searching. */
export const LIST_LIMIT = 500

const newestFirst = (a: Entry, b: Entry) => (a.updatedAt < b.updatedAt ? 1 : -1)

interface Deps {
  chat: HearthClient['chat']
  /** Calls that outlive the page. */
  parting: HearthClient['chat']
}

/** My conversations, newest first: found, renamed, and deleted once the time to undo it has passed. */
export class ConversationList {
  query = $state('')
  /** What the shown search results answer; behind `query` while a search is under way. */
  searched = $state('')
  loading = $state(false)
  error = $state.raw<unknown>(null)
  /** How far the list is scrolled, for when it is shown again. */
  scrollTop = 0
  /** False until the list or its failure is known. */
  loaded = $state(false)
  #all = $state.raw<Entry[]>([])
  #found = $state.raw<Entry[]>([])
  #leaving = $state.raw<ReadonlySet<string>>(new Set())
  readonly #deps: Deps
  #timer: ReturnType<typeof setTimeout> | undefined
  #current: AbortController | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  // A getter, since a derived value ends with the component that happened to be made around it.
  get shown(): Entry[] {
    return (this.searched ? this.#found : this.#all).filter(({ id }) => !this.#leaving.has(id))
  }

  find(id: string): Entry | undefined {
    return this.#all.find((entry) => entry.id === id) ?? this.#found.find((entry) => entry.id === id)
  }

  /** Reads the list, or what is searched for, anew. Never rejects: look at `error`. */
  async load(): Promise<void> {
    clearTimeout(this.#timer)
    this.#current?.abort()
    const mine = new AbortController()
    this.#current = mine
    const q = this.query.trim()
    this.loading = true
    try {
      const entries = await this.#read(q, mine.signal)
      if (mine.signal.aborted) return
      if (q === '') this.#all = entries
      else this.#found = entries
      this.searched = q
      this.error = null
    } catch (error) {
      if (mine.signal.aborted) return
      this.error = error
    }
    this.loading = false
    this.loaded = true
  }

  /** Searches once the typing pauses; an empty search shows the whole list at once. */
  search(query: string): void {
    this.query = query
    clearTimeout(this.#timer)
    if (query.trim() === '') void this.load()
    else this.#timer = setTimeout(() => void this.load(), SEARCH_WAIT_MS)
  }

  /** Puts a conversation where its last change belongs. */
  put({ id, deviceId, title, createdAt, updatedAt }: Conversation): void {
    const entry = { id, deviceId, title, createdAt, updatedAt }
    this.#all = [...this.#all.filter((other) => other.id !== id), entry].sort(newestFirst)
    this.#found = this.#found.map((other) => (other.id === id ? { ...other, ...entry } : other))
  }

  /** Shows the new title at once, and the old one again if the server refuses it; then rejects. */
  async rename(id: string, title: string): Promise<void> {
    const before = this.find(id)
    if (!before) return
    this.put({ ...before, title })
    try {
      this.put(await this.#deps.chat.rename({ params: { id }, body: { title } }))
    } catch (error) {
      this.put(before)
      throw error
    }
  }

  /**
   * Takes a conversation out of the list without deleting it yet. `keep` puts it back; `drop` deletes it and rejects,
   * with the conversation back in the list, where that fails. Leaving the page drops it.
   */
  setAside(id: string): { keep: () => void; drop: () => Promise<void> } {
    const mark = (leaving: boolean) => {
      const ids = new Set(this.#leaving)
      if (leaving) ids.add(id)
      else ids.delete(id)
      this.#leaving = ids
    }
    const ended = new AbortController()
    const part = () => {
      ended.abort()
      // The page is gone when the answer comes: a refusal shows when the list is next read.
      this.#deps.parting.remove({ params: { id } }).catch(() => undefined)
    }
    mark(true)
    window.addEventListener('pagehide', part, { signal: ended.signal })
    return {
      keep: () => {
        if (ended.signal.aborted) return
        ended.abort()
        mark(false)
      },
      drop: async () => {
        if (ended.signal.aborted) return
        ended.abort()
        await this.#remove(id).finally(() => mark(false))
      },
    }
  }

  async #remove(id: string): Promise<void> {
    await this.#deps.chat.remove({ params: { id } })
    this.#all = this.#all.filter((entry) => entry.id !== id)
    this.#found = this.#found.filter((entry) => entry.id !== id)
  }

  #read(q: string, signal: AbortSignal): Promise<Entry[]> {
    if (q !== '') return this.#deps.chat.search({ query: { q, limit: LIST_LIMIT } }, { signal })
    return this.#deps.chat.list({ query: { limit: LIST_LIMIT } }, { signal })
  }
}
