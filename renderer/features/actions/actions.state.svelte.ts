import type { ActionEntry, ActionRun } from '../../../server/modules/actions/actions.contract.ts'
import type { McpServer } from '../../../server/modules/mcp/mcp.contract.ts'
import type { HearthClient } from '../../api.ts'
import { Resource } from '../../ui/resource.svelte.ts'

const PAGE = 50

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
  readonly newest: Resource<{ items: ActionRun[]; nextCursor: string | null }>
  /** Pages of runs after the newest. */
  older = $state.raw<ActionRun[]>([])
  nextCursor = $state.raw<string | null>(null)
  loadingOlder = $state(false)
  olderError = $state.raw<unknown>(null)
  readonly #client: HearthClient

  constructor(client: HearthClient) {
    this.#client = client
    this.actions = new Resource((signal) => client.actions.list({}, { signal }))
    this.servers = new Resource((signal) => client.mcp.list({}, { signal }))
    this.newest = new Resource((signal) => client.actions.runs({ query: { limit: PAGE } }, { signal }))
  }

  get runs(): ActionRun[] | undefined {
    return this.newest.value && [...this.newest.value.items, ...this.older]
  }

  /** Reads the newest runs and forgets the older pages. */
  async loadRuns(): Promise<void> {
    await this.newest.load()
    this.older = []
    this.nextCursor = this.newest.value?.nextCursor ?? null
  }

  async loadOlder(): Promise<void> {
    if (this.nextCursor === null || this.loadingOlder) return
    this.loadingOlder = true
    this.olderError = null
    try {
      const { items, nextCursor } = await this.#client.actions.runs({ query: { limit: PAGE, cursor: this.nextCursor } })
      this.older = [...this.older, ...items]
      this.nextCursor = nextCursor
    } catch (error) {
      this.olderError = error
    }
    this.loadingOlder = false
  }

  execute(name: string, params: Record<string, unknown>, signal: AbortSignal) {
    return this.#client.actions.execute({ params: { name }, body: params }, { signal })
  }

  async saveServer(server: McpServer | null, edit: ServerEdit): Promise<void> {
    if (server) await this.#client.mcp.update({ params: { id: server.id }, body: edit })
    else await this.#client.mcp.add({ body: edit })
    await this.servers.load()
  }

  async removeServer({ id }: McpServer): Promise<void> {
    await this.#client.mcp.remove({ params: { id } })
    await this.servers.load()
  }
}
