import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema, type Tool } from '@modelcontextprotocol/sdk/types.js'
import { type Endpoint, listen } from '../support/listener.ts'

type Run = (args: Record<string, unknown>, signal: AbortSignal) => CallToolResult | Promise<CallToolResult>

export interface StandIn {
  /** Its MCP address. */
  url: string
  endpoint: Endpoint
  /** How often its list was read, by pages. */
  readonly listed: number
  /** The bearer tokens that came, newest last. */
  tokens: (string | undefined)[]
  tool(tool: Partial<Tool> & { name: string }, run?: Run): void
  clear(): void
  /** Tells everybody who listens that the tools are others now. */
  announce(): Promise<void>
  /** Answers everything by this instead; null is the real server again. */
  misbehave(handle: Endpoint['handle'] | null): void
  /** Forgets every session, as a server does that started anew. */
  forget(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export const words = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })

/** A tool server of the official SDK with sessions, on loopback. */
export async function startStandIn(): Promise<StandIn> {
  const tools = new Map<string, { tool: Tool; run: Run }>()
  const sessions = new Map<string, { server: Server; transport: StreamableHTTPServerTransport }>()
  const tokens: (string | undefined)[] = []
  let listed = 0

  async function open() {
    const server = new Server({ name: 'stand-in', version: '1' }, { capabilities: { tools: { listChanged: true } } })
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
      listed += 1
      const all = [...tools.values()].map(({ tool }) => tool)
      const from = Number(params?.cursor ?? 0)
      return { tools: all.slice(from, from + 50), ...(from + 50 < all.length && { nextCursor: String(from + 50) }) }
    })
    server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
      const known = tools.get(params.name)
      if (!known) throw new Error('no such tool')
      return known.run(params.arguments ?? {}, signal)
    })
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
    })
    await server.connect(transport as Parameters<Server['connect']>[0])
    return transport
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const id = req.headers['mcp-session-id']
    if (id !== undefined && !sessions.has(String(id))) return void res.writeHead(404).end()
    const transport = id === undefined ? await open() : sessions.get(String(id))?.transport
    await transport?.handleRequest(req, res)
  }

  const endpoint = await listen((req, res) => {
    tokens.push(req.headers.authorization)
    void serve(req, res)
  })
  const wellBehaved = endpoint.handle
  const forget = async () => {
    for (const [id, { server }] of sessions) {
      sessions.delete(id)
      await server.close()
    }
  }
  return {
    url: `${endpoint.url}/mcp`,
    endpoint,
    get listed() {
      return listed
    },
    tokens,
    tool: (tool, run = () => words('Done.')) =>
      void tools.set(tool.name, { tool: { description: `Does ${tool.name}`, inputSchema: { type: 'object' }, ...tool }, run }),
    clear: () => tools.clear(),
    async announce() {
      for (const { server } of sessions.values()) await server.sendToolListChanged()
    },
    misbehave(handle) {
      endpoint.handle = handle ?? wellBehaved
    },
    forget,
    async [Symbol.asyncDispose]() {
      await forget()
      await endpoint[Symbol.asyncDispose]()
    },
  }
}
