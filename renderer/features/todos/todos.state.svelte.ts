import { untrack } from 'svelte'
import { type Todo, todosContract } from '../../../server/modules/todos/todos.contract.ts'
import type { Hearth } from '../../app-context.ts'
import { describeError } from '../../messages/describe-error.ts'
import { hasStatus } from '../../messages/field-errors.ts'
import { t } from '../../messages/messages.ts'
import { createPartingClient } from '../../parting.ts'
import { Leaving } from '../../ui/leaving.svelte.ts'
import { Resource } from '../../ui/resource.svelte.ts'
import { whileLive } from '../../ui/while-live.ts'
import { bySoonest, listKey, SHOPPING } from './todo-words.ts'

type Deps = Pick<Hearth, 'client' | 'toasts' | 'live'>
type TodoEdit = Parameters<Deps['client']['todos']['update']>[0]['body']
type NewTodo = Parameters<Deps['client']['todos']['create']>[0]['body']

const REFRESH_MS = 60_000
/** What was ticked stays where it is for that long after the last tick, so that nothing moves under the thumb. */
export const SETTLE_MS = 2500
const DONE_LIMIT = 200
const PAGE = 500
/** So many pages are read at once: what stands on a list is sought among all. */
const FIRST_PAGES = 4

/** The lists of the house and what stands on them. */
export class TodosState {
  loaded = $state(false)
  loading = $state(false)
  error = $state.raw<unknown>(null)
  /** Whether more is open than was read. */
  hasMore = $state(false)
  /** Whether more is done than was read. */
  hasMoreDone = $state(false)
  now = $state(Date.now())
  readonly done: Resource<Todo[]>
  readonly #deps: Deps
  readonly #leaving: Leaving
  #open = $state.raw<Todo[]>([])
  #pages = FIRST_PAGES
  #donePages = 1
  #ticked = $state.raw<ReadonlySet<string>>(new Set())
  #reads = 0
  #settling: ReturnType<typeof setTimeout> | undefined
  #toast: number | null = null

  constructor(deps: Deps) {
    this.#deps = deps
    this.#leaving = new Leaving(deps.toasts)
    this.done = new Resource(async (signal) => {
      const { items, isWhole } = await this.#read('completed', this.#donePages, DONE_LIMIT, signal)
      this.hasMoreDone = !isWhole
      return items
    })
  }

  /** What stands on any list, with what was ticked just now. */
  get all(): Todo[] {
    return this.#open.filter(({ id }) => !this.#leaving.has(id))
  }

  /** What stands on a list, with what was ticked just now. */
  on(list: string): Todo[] {
    const key = listKey(list)
    return this.#open.filter((todo) => listKey(todo.list) === key && !this.#leaving.has(todo.id)).sort(bySoonest)
  }

  doneOn(list: string): Todo[] {
    const key = listKey(list)
    const shown = (todo: Todo) => listKey(todo.list) === key && !this.#leaving.has(todo.id) && !this.#open.some(({ id }) => id === todo.id)
    return this.done.value?.filter(shown) ?? []
  }

  isTicked(todo: Todo): boolean {
    return this.#ticked.has(todo.id)
  }

  /** Every list but the plain to-dos, shopping first, each once, with how much is open there. */
  get lists(): { name: string; open: number }[] {
    const found = new Map([[SHOPPING, { name: SHOPPING, open: 0 }]])
    for (const todo of this.#open) {
      if (!todo.list) continue
      const entry = found.get(listKey(todo.list)) ?? { name: todo.list, open: 0 }
      found.set(listKey(todo.list), { ...entry, open: entry.open + Number(!this.isTicked(todo)) })
    }
    const [shopping, ...others] = found.values()
    return [...(shopping ? [shopping] : []), ...others.sort((a, b) => a.name.localeCompare(b.name))]
  }

  openOn(list: string): number {
    return this.on(list).filter((todo) => !this.isTicked(todo)).length
  }

  /** Reads now and whenever something changed somewhere in the house; returns what ends that. */
  watch(): () => void {
    const look = () => {
      void this.load()
      if (this.done.value) void this.done.load()
    }
    // What the first look reads is no reason to watch anew.
    return untrack(() => whileLive(this.#deps.live, ['todo.changed'], look, REFRESH_MS))
  }

  /** Never rejects: look at `error`. */
  async load(): Promise<void> {
    const mine = ++this.#reads
    this.loading = true
    this.now = Date.now()
    try {
      const { items: open, isWhole } = await this.#read('open', this.#pages, PAGE)
      if (mine !== this.#reads) return
      this.hasMore = !isWhole
      const here = new Set(open.map(({ id }) => id))
      // What was ticked just now is open no more, but stays to be seen until it settles.
      this.#open = [...open, ...this.#open.filter((todo) => this.#ticked.has(todo.id) && !here.has(todo.id))]
      this.error = null
      this.loaded = true
    } catch (error) {
      if (mine !== this.#reads) return
      this.error = error
    }
    this.loading = false
  }

  async showMore(): Promise<void> {
    this.#pages++
    await this.load()
  }

  async showMoreDone(): Promise<void> {
    this.#donePages++
    await this.done.load()
  }

  /** So many pages of what is open or done, one behind the other. */
  async #read(
    status: 'open' | 'completed',
    pages: number,
    limit: number,
    signal?: AbortSignal,
  ): Promise<{ items: Todo[]; isWhole: boolean }> {
    const items: Todo[] = []
    for (let page = 0; page < pages; page++) {
      const after = items.at(-1)?.id
      const query = { status, limit, ...(after === undefined ? {} : { after }) }
      const found = await this.#deps.client.todos.list({ query }, signal ? { signal } : {})
      items.push(...found)
      if (found.length < limit) return { items, isWhole: true }
    }
    return { items, isWhole: false }
  }

  /** Adds one after another; rejects with what is left in `rest` where one is refused. */
  async add(titles: string[], list: string): Promise<{ rest: string[]; error: unknown }> {
    for (const [index, title] of titles.entries()) {
      try {
        const todo = await this.#deps.client.todos.create({ body: { title, ...(list ? { list } : {}) } })
        this.#set([...this.#open.filter(({ id }) => id !== todo.id), todo])
      } catch (error) {
        return { rest: titles.slice(index), error }
      }
    }
    return { rest: [], error: null }
  }

  /** Ticks or unticks at once; what the server refuses shows as it was before. */
  async tick(todo: Todo, done: boolean): Promise<void> {
    await (done ? this.#complete(todo) : this.reopen(todo))
  }

  async reopen(todo: Todo): Promise<void> {
    const { completedAt: _, ...open } = todo
    const before = this.#open
    this.#tick(todo.id, false)
    this.#set([...before.filter(({ id }) => id !== todo.id), open])
    try {
      await this.#deps.client.todos.update({ params: { id: todo.id }, body: { completed: false } })
      await this.load()
    } catch (error) {
      this.#set(before)
      this.#failed(todo, error)
    }
    if (this.done.value) void this.done.load()
  }

  /** Rejects where the server refuses it. */
  async addWhole(body: NewTodo): Promise<void> {
    const todo = await this.#deps.client.todos.create({ body })
    this.#set([...this.#open.filter(({ id }) => id !== todo.id), todo])
  }

  /** Rejects where the server refuses it. */
  async save({ id }: Todo, body: TodoEdit): Promise<void> {
    const saved = await this.#deps.client.todos.update({ params: { id }, body })
    this.#set(this.#open.map((other) => (other.id === id ? saved : other)))
    if (this.done.value) this.done.value = this.done.value.map((other) => (other.id === id ? saved : other))
  }

  /** Takes it off its list, and deletes it once the time to undo that has passed. */
  remove(todo: Todo): void {
    const params = { id: todo.id }
    this.#leaving.add(todo.id, {
      text: t('todos.deleted', todo.title),
      remove: async () => {
        await this.#deps.client.todos.remove({ params }).catch((error: unknown) => {
          if (!hasStatus(error, 404)) throw error
        })
        this.#set(this.#open.filter(({ id }) => id !== todo.id))
        if (this.done.value) this.done.value = this.done.value.filter(({ id }) => id !== todo.id)
      },
      part: () => createPartingClient({ todos: todosContract }).todos.remove({ params }),
      onfailed: (error) => this.#failed(todo, error),
    })
  }

  async #complete(todo: Todo): Promise<void> {
    this.#tick(todo.id, true)
    this.#offerUndo(todo)
    try {
      await this.#deps.client.todos.complete({ params: { id: todo.id } })
    } catch (error) {
      this.#tick(todo.id, false)
      this.#failed(todo, error)
      if (hasStatus(error, 404)) void this.load()
      return
    }
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => this.#settle(), SETTLE_MS)
  }

  /** One offer at a time: a shopping trip would fill the window with them. */
  #offerUndo(todo: Todo): void {
    const { toasts } = this.#deps
    if (this.#toast !== null) toasts.remove(this.#toast)
    this.#toast = toasts.undoable(t('todos.doneNow', todo.title), t('ui.undo'), () => void this.reopen(todo))
  }

  #settle(): void {
    this.#set(this.#open.filter(({ id }) => !this.#ticked.has(id)))
    this.#ticked = new Set()
    void this.load()
    if (this.done.value) void this.done.load()
  }

  #tick(id: string, ticked: boolean): void {
    const ids = new Set(this.#ticked)
    if (ticked) ids.add(id)
    else ids.delete(id)
    this.#ticked = ids
  }

  #failed(todo: Todo, error: unknown): void {
    if (this.#toast !== null) this.#deps.toasts.remove(this.#toast)
    this.#deps.toasts.show(t('todos.failed', todo.title, describeError(error).what), { tone: 'loss' })
  }

  /** Also drops a read under way, whose answer would be older. */
  #set(open: Todo[]): void {
    this.#reads++
    this.loading = false
    this.#open = open
  }
}

const states = new WeakMap<Deps['client'], TodosState>()

/** The lists as this window knows them, so that what is being undone outlives a look at another page. */
export function todosOf({ client, toasts, live }: Deps): TodosState {
  const state = states.get(client) ?? new TodosState({ client, toasts, live })
  states.set(client, state)
  return state
}
