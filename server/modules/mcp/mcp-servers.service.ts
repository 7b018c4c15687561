import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../db/database.ts'
import type { ActionRegistry } from '../../kit/actions.ts'
import { sealWith, unsealWith } from '../../kit/crypto.ts'
import { conflict, notFound } from '../../kit/errors.ts'
import type { EventBus } from '../../kit/events.ts'
import type { Logger } from '../../kit/log.ts'
import { type McpServer, toolServersChanged } from './mcp.contract.ts'
import { type McpServerRow, McpServerTable } from './mcp.table.ts'
import { createToolServer, type ToolServer, type ToolServerState } from './tool-server.ts'

export interface McpServersDeps {
  db: Database
  actions: ActionRegistry
  events: Pick<EventBus, 'publish'>
  /** SERVICE_SECRETS_KEY, where there is one. */
  secretsKey(): string | undefined
  version: string
  log: Logger
}

/** What may be set; an undefined field stays as it is, a null token goes. */
interface McpServerPatch {
  name?: string | undefined
  url?: string | undefined
  token?: string | null | undefined
  enabled?: boolean | undefined
}

const MAX_SERVERS = 32
const UNREADABLE: ToolServerState = {
  status: 'error',
  error: 'Its token cannot be read any more, since the key of this Hearth’s secrets has changed. Enter it anew.',
  tools: [],
  leftOut: [],
}

/** The tool servers this house uses, each with its connection. */
export function createMcpServersService({ db, actions, events, secretsKey, version, log }: McpServersDeps) {
  const connections = new Map<string, ToolServer>()
  const unreadable = new Set<string>()
  let isStarted = false

  const announce = () => events.publish(toolServersChanged, {})

  function toServer({ id, name, url, enabled, sealedToken }: McpServerRow): McpServer {
    const off: ToolServerState = { status: enabled ? 'connecting' : 'disabled', error: null, tools: [], leftOut: [] }
    const state = unreadable.has(id) ? UNREADABLE : (connections.get(id)?.state() ?? off)
    return { id, name, url, enabled, hasToken: sealedToken !== null, ...state }
  }

  function seal(token: string): string {
    const key = secretsKey()
    if (!key) throw conflict('secrets_key_missing', 'Set SERVICE_SECRETS_KEY first: without it a token cannot be kept safe.')
    return sealWith(key, token)
  }

  /** Null where there is none, undefined where it cannot be read any more. */
  function tokenOf({ sealedToken }: McpServerRow): string | null | undefined {
    if (sealedToken === null) return null
    const key = secretsKey()
    try {
      return key && unsealWith(key, sealedToken)
    } catch {
      return undefined // shown as what its server suffers from
    }
  }

  const mustGet = (id: string): McpServerRow => {
    const row = db.get(McpServerTable, id)
    if (!row) throw notFound('This tool server')
    return row
  }

  /** Its actions are gone when this returns; what still runs of it ends by itself. */
  function disconnect(id: string): Promise<void> {
    const stopped = connections.get(id)?.stop()
    connections.delete(id)
    unreadable.delete(id)
    return stopped ?? Promise.resolve()
  }

  function connect(row: McpServerRow): void {
    void disconnect(row.id)
    if (!isStarted || !row.enabled) return
    const token = tokenOf(row)
    if (token === undefined) return void unreadable.add(row.id)
    const address = { name: row.name, url: row.url, token }
    const connection = createToolServer({ address, actions, version, log, onChanged: announce })
    connections.set(row.id, connection)
    connection.start()
  }

  function checkName(name: string, id: string): void {
    const known = db.first(McpServerTable, { name })
    if (known && known.id !== id) throw conflict('name_taken', `There is a tool server called ${name} already.`)
  }

  async function save(write: (tx: Transaction) => McpServerRow): Promise<McpServer> {
    const row = await db.write(write)
    connect(row)
    announce()
    return toServer(row)
  }

  return {
    list: (): McpServer[] => db.find(McpServerTable, {}, { order: 'name asc' }).map(toServer),
    /** Throws 404. */
    get: (id: string): McpServer => toServer(mustGet(id)),

    /** Throws 409 `name_taken`, `secrets_key_missing`, or `too_many`. */
    async add({ name, url, token, enabled }: { name: string; url: string; token?: string | null | undefined; enabled: boolean }) {
      const row = { id: randomUUID(), name, url, enabled, sealedToken: token ? seal(token) : null, createdAt: new Date().toISOString() }
      return save((tx) => {
        checkName(name, row.id)
        if (db.find(McpServerTable).length >= MAX_SERVERS) throw conflict('too_many', `There are ${MAX_SERVERS} tool servers already.`)
        tx.insert(McpServerTable, row)
        return row
      })
    },

    /** Connects anew. A token stays with the origin it was given for: with another address it has to be entered again. */
    async update(id: string, { token, ...patch }: McpServerPatch): Promise<McpServer> {
      const sealed = token ? seal(token) : null
      return save((tx) => {
        const row = mustGet(id)
        const { name = row.name, url = row.url, enabled = row.enabled } = patch
        checkName(name, id)
        const next: McpServerRow = { ...row, name, url, enabled }
        const isElsewhere = new URL(url).origin !== new URL(row.url).origin
        if (token !== undefined || isElsewhere) next.sealedToken = sealed
        tx.update(McpServerTable, id, next)
        return next
      })
    },

    /** Throws 404. */
    async remove(id: string): Promise<void> {
      const removed = await db.write((tx) => tx.remove(McpServerTable, { id }))
      if (removed === 0) throw notFound('This tool server')
      void disconnect(id)
      announce()
    },

    start(): void {
      isStarted = true
      for (const row of db.find(McpServerTable)) connect(row)
    },
    async stop(): Promise<void> {
      isStarted = false
      await Promise.all([...connections.keys()].map(disconnect))
    },
  }
}
