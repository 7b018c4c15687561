import type { ActionEntry, ActionRun } from '../../../server/modules/actions/actions.contract.ts'
import type { McpServer } from '../../../server/modules/mcp/mcp.contract.ts'
import type { HearthClient } from '../../api.ts'
import type { Hearth } from '../../app-context.ts'
import { unlessGone } from '../../ui/edits.svelte.ts'
import { Resource } from '../../ui/resource.svelte.ts'
import { whileLive } from '../../ui/while-live.ts'

const PAGE = 50
const REFRESH_MS = 60_000

export interface ServerEdit {
  name: string
  url: string
  token?: string
  enabled: boolean
}

/** What the house can do, what was done, and the tool servers. */
export class ActionsState {
  readonly actions: Resource<ActionEntry[]>
  readonly servers: Resource<McpServer[]>
  readonly newest: Resource<ActionRun[]>
  /** Pages of runs after the newest. */
  older = $state.raw<ActionRun[]>([])
  hasOlder = $state(false)
  loadingOlder = $state(false)
  olderError = $state.raw<unknown>(null)
  readonly #client: HearthClient
  readonly #live: Hearth['live']

  constructor(client: HearthClient, live: Hearth['live']) {
    this.#client = client
    this.#live = live
    this.actions = new Resource((signal) => client.actions.list({}, { signal }))
    this.servers = new Resource((signal) => client.mcp.list({}, { signal }))
    this.newest = new Resource((signal) => client.actions.runs({ query: { limit: PAGE } }, { signal }))
  }

  get runs(): ActionRun[] | undefined {
    return this.newest.value && [...this.newest.value, ...this.older]
  }

  /** Reads what can be done, now and whenever tools came or went, of which an admin is told; returns what ends that. */
  watchActions(isAdmin: boolean): () => void {
    return whileLive(this.#live, isAdmin ? ['mcp.changed'] : [], () => void this.actions.load(), REFRESH_MS)
  }

  watchServers(): () => void {
    return whileLive(this.#live, ['mcp.changed'], () => void this.servers.load(), REFRESH_MS)
  }

  watchRuns(): () => void {
    return whileLive(this.#live, ['action.run'], () => void this.loadRuns(), REFRESH_MS)
  }

  /** Reads the newest runs; the older pages stay where they still follow them. */
  async loadRuns(): Promise<void> {
    const { value: was } = this.newest
    await this.newest.load()
    const { value } = this.newest
    if (!value || value === was) return
    const before = [...(was ?? []), ...this.older]
    const ids = new Set(value.map(({ id }) => id))
    const follows = before.some(({ id }) => ids.has(id))
    this.older = follows ? before.slice(value.length > 0 ? before.findLastIndex(({ id }) => ids.has(id)) + 1 : 0) : []
    if (this.older.length === 0) this.hasOlder = value.length === PAGE
  }

  async loadOlder(): Promise<void> {
    const before = this.runs?.at(-1)?.id
    if (!this.hasOlder || !before || this.loadingOlder) return
    this.loadingOlder = true
    this.olderError = null
    try {
      const page = await this.#client.actions.runs({ query: { limit: PAGE, before } })
      this.older = [...this.older, ...page]
      this.hasOlder = page.length === PAGE
    } catch (error) {
      this.olderError = error
    }
    this.loadingOlder = false
  }

  execute(name: string, params: Record<string, unknown>, signal: AbortSignal) {
    return this.#client.actions.execute({ params: { name }, body: params }, { signal })
  }

  serverNow({ id }: McpServer): Promise<McpServer | null> {
    return unlessGone(this.#client.mcp.get({ params: { id } }))
  }

  async addServer(edit: ServerEdit): Promise<void> {
    await this.#client.mcp.add({ body: edit })
    await this.servers.load()
  }

  async saveServer({ id }: McpServer, changes: Partial<ServerEdit>): Promise<void> {
    await this.#client.mcp.update({ params: { id }, body: changes })
    await this.servers.load()
  }

  async removeServer({ id }: McpServer): Promise<void> {
    await this.#client.mcp.remove({ params: { id } })
    await this.servers.load()
  }
}
