import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import type { JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'
import { type Action, type ActionCall, type ActionRegistry, type ActionResult, foreignAction } from '../../kit/actions.ts'
import { AppError } from '../../kit/errors.ts'
import { SchemaError } from '../../kit/json-schema.ts'
import type { Logger } from '../../kit/log.ts'
import { createSchemaCache } from '../../kit/schema-cache.ts'
import type { McpServer } from './mcp.contract.ts'
import { createPinnedFetch } from './pinned-fetch.ts'
import { toolName } from './tool-names.ts'
import { faultInWords, isConnectionFault } from './tool-server-faults.ts'

interface ToolServerDeps {
  /** `name` is the part of its tools' names. */
  address: { name: string; url: string; token: string | null }
  actions: ActionRegistry
  version: string
  log: Logger
  /** Called after each change of its state. */
  onChanged?(): void
  waits?: typeof WAITS
}

export type ToolServerState = Pick<McpServer, 'status' | 'error' | 'tools' | 'leftOut'>

/** A connection to a tool server that comes back by itself. */
export interface ToolServer {
  state(): ToolServerState
  start(): void
  /** Takes its actions out at once; resolves when nothing of it runs any more. */
  stop(): Promise<void>
}

/**
 * Milliseconds: for one answer; between looks whether it is there; before another try, at first and at most; between readings of its list,
 * after one change and where changes do not end.
 */
const WAITS = { answerMs: 10_000, lookMs: 60_000, againMs: 1_000, mostMs: 300_000, listMs: 2_000, listMostMs: 30_000 }
const CALL_MS = 60_000
const MAX_TOOLS = 128
const MAX_PAGES = 20
const MAX_LEFT_OUT = 20
const MAX_NAME = 200
const MAX_OUTPUT = 16_000
const MAX_DATA = 65_536

/** The SDK is loaded with the first server. */
const loadSdk = () =>
  Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ])

/** What a tool answers is data for whoever called it; the SDK's own check of it would run the server's patterns unguarded. */
const unchecked = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (data) => ({ valid: true, data: data as T, errorMessage: undefined }),
}

function toResult({ content, structuredContent, isError }: CallToolResult): ActionResult {
  const words = content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n')
  const output = words.length > MAX_OUTPUT ? `${words.slice(0, MAX_OUTPUT)}…` : words
  if (isError) throw new Error(output || 'The tool failed without a word.')
  const fits = structuredContent !== undefined && JSON.stringify(structuredContent).length <= MAX_DATA
  return { output: output || 'Done.', ...(fits && { data: structuredContent }) }
}

interface ToolList {
  tools: Tool[]
  /** It has more than are taken. */
  hasMore: boolean
}

async function listTools(client: Client, timeout: number): Promise<ToolList> {
  const tools: Tool[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page += 1) {
    const { tools: more, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout })
    tools.push(...more)
    cursor = nextCursor
    if (nextCursor === undefined) break
  }
  return { tools: tools.slice(0, MAX_TOOLS), hasMore: tools.length > MAX_TOOLS || cursor !== undefined }
}

/** Connects in the background and offers the server's tools as actions for as long as it is there. */
export function createToolServer({ address, actions, version, log, onChanged, waits = WAITS }: ToolServerDeps): ToolServer {
  const { name, url, token } = address
  const stopping = new AbortController()
  const { signal } = stopping
  let state: ToolServerState = { status: 'connecting', error: null, tools: [], leftOut: [] }
  const schemas = createSchemaCache()
  /** What it said last, for a connection that comes again soon. */
  let listed: { list: ToolList; at: number } | null = null
  /** What it said last was taken for what it says now. */
  let isAssumed = false
  let hurried = 0
  const withdrawals: (() => void)[] = []
  let failures = 0
  let wake = Promise.withResolvers<void>()
  let changed = false
  let running: Promise<void> | undefined

  function become(next: ToolServerState): void {
    const isSame = JSON.stringify(next) === JSON.stringify(state)
    state = next
    if (!isSame) onChanged?.()
  }

  function withdraw(): void {
    for (const remove of withdrawals.splice(0)) remove()
  }

  async function callTool(client: Client, tool: string, params: Record<string, unknown>, call: ActionCall): Promise<ActionResult> {
    try {
      const options = { signal: call.signal, timeout: CALL_MS, maxTotalTimeout: CALL_MS }
      return toResult((await client.callTool({ name: tool, arguments: params }, undefined, options)) as CallToolResult)
    } catch (error) {
      if (call.signal.aborted || (error instanceof Error && error.constructor === Error) || !isConnectionFault(error)) throw error
      wake.resolve()
      throw new AppError(502, 'upstream_failed', `The tool server ${name} failed. ${faultInWords(error)}`, { cause: error })
    }
  }

  /** Every tool is of high risk: a hint that it only reads is the word of its own server. Throws SchemaError. */
  function asAction(client: Client, tool: Tool, taken: Pick<ReadonlySet<string>, 'has'>): Action {
    return foreignAction({
      name: toolName(name, tool.name, taken),
      description: tool.description ?? tool.title ?? '',
      parameters: tool.inputSchema,
      compile: schemas.compile,
      risk: 'high',
      access: 'admin',
      run: (params, call) => callTool(client, tool.name, params, call),
    })
  }

  const isRecent = () => listed !== null && performance.now() - listed.at < waits.listMostMs

  /** Its list, as it was read just now where nothing was said to have changed since. */
  async function readList(client: Client): Promise<ToolList> {
    isAssumed = isRecent() && !changed
    if (listed && isAssumed) return listed.list
    hurried = isRecent() ? hurried + 1 : 0
    changed = false
    listed = { list: await listTools(client, waits.answerMs), at: performance.now() }
    return listed.list
  }

  async function offer(client: Client): Promise<void> {
    const made: Action[] = []
    const leftOut: ToolServerState['leftOut'] = []
    const { tools, hasMore } = await readList(client)
    if (hasMore) leftOut.push({ name: '…', why: `It has more than ${MAX_TOOLS} tools, of which the first are taken.` })
    const own = new Set(state.tools.map(({ name: known }) => known))
    const taken = { has: (known: string) => used.has(known) || (actions.find(known) !== undefined && !own.has(known)) }
    const used = new Set<string>()
    for (const tool of tools) {
      try {
        const action = asAction(client, tool, taken)
        made.push(action)
        used.add(action.name)
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error
        log.warn({ err: error, server: name }, 'a tool is left out')
        leftOut.push({ name: tool.name.slice(0, MAX_NAME), why: error.message })
      }
      await new Promise((resolve) => setImmediate(resolve)) // each schema takes its time to compile
    }
    schemas.sweep()
    signal.throwIfAborted()
    withdraw()
    for (const action of made) withdrawals.push(actions.add(action))
    const told = made.map(({ name: tool, description }) => ({ name: tool, description }))
    become({ status: 'connected', error: null, tools: told, leftOut: leftOut.slice(0, MAX_LEFT_OUT) })
  }

  /** Until something happens or it is time to look. */
  async function rest(): Promise<void> {
    const enough = new AbortController()
    const rested = AbortSignal.any([signal, enough.signal])
    await Promise.race([wake.promise, wait(waits.lookMs, undefined, { signal: rested, ref: false })])
    enough.abort()
    wake = Promise.withResolvers<void>()
    signal.throwIfAborted()
  }

  /** One connection, from its beginning until it fails, which rejects. */
  async function live(): Promise<never> {
    const [{ Client }, { StreamableHTTPClientTransport }, { ToolListChangedNotificationSchema }] = await loadSdk()
    signal.throwIfAborted()
    const client = new Client({ name: 'hearth', version }, { jsonSchemaValidator: unchecked })
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      fetch: createPinnedFetch(new URL(url).origin),
      requestInit: token === null ? {} : { headers: { authorization: `Bearer ${token}` } },
      reconnectionOptions: {
        initialReconnectionDelay: 5_000,
        maxReconnectionDelay: 60_000,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 1_000,
      },
    })
    const close = () => void client.close().catch((error: unknown) => log.debug({ err: error }, 'a tool server did not close'))
    signal.addEventListener('abort', close, { once: true })
    client.onerror = () => wake.resolve()
    client.onclose = () => wake.resolve()
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changed = true
      wake.resolve()
    })
    try {
      // the SDK's type of `sessionId` does not allow for undefined where its class has it
      await client.connect(transport as Parameters<Client['connect']>[0], { timeout: waits.answerMs })
      await offer(client)
      for (;;) {
        await rest()
        if (changed || (isAssumed && !isRecent())) await offer(client)
        else await client.ping({ timeout: waits.answerMs })
        failures = 0
        await wait(Math.min(waits.listMostMs, waits.listMs * 2 ** Math.min(hurried, 20)), undefined, { signal, ref: false })
      }
    } finally {
      signal.removeEventListener('abort', close)
      close()
    }
  }

  async function keep(): Promise<void> {
    while (!signal.aborted) {
      try {
        await live()
      } catch (error) {
        withdraw()
        if (signal.aborted) return
        log.debug({ err: error, server: name }, 'a tool server is not there')
        become({ status: 'error', error: faultInWords(error), tools: [], leftOut: [] })
      }
      const pause = Math.min(waits.mostMs, waits.againMs * 2 ** failures)
      failures = Math.min(failures + 1, 20)
      await wait(pause, undefined, { signal, ref: false }).catch(() => undefined) // stopped meanwhile
    }
  }

  return {
    state: () => state,
    start() {
      running ??= keep()
    },
    async stop() {
      stopping.abort()
      withdraw()
      await running
    },
  }
}
