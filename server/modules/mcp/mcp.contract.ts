import { z } from 'zod'
import { ById, editable, endpoint, nothing } from '../../kit/endpoint.ts'
import { event } from '../../kit/events.ts'

export const McpServer = z
  .object({
    id: z.uuid(),
    name: z.string().describe('Its tools are called `mcp.<name>.<tool>`.'),
    url: z.string(),
    enabled: z.boolean(),
    hasToken: z.boolean(),
    status: z.enum(['connected', 'connecting', 'error', 'disabled']),
    error: z.string().nullable(),
    tools: z.array(z.object({ name: z.string(), description: z.string() })),
    leftOut: z
      .array(z.object({ name: z.string(), why: z.string() }))
      .describe('Tools that cannot be used, because of their schemas, and a word for those beyond the first 128; at most 20 are told.'),
  })
  .meta({ id: 'McpServer' })
export type McpServer = z.output<typeof McpServer>

const fields = {
  name: z
    .string()
    .max(40)
    .regex(/^[a-z0-9][a-z0-9_-]*$/, 'takes small letters, digits, - and _'),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url), 'carries a password; put it into the token'),
  token: z
    .string()
    .max(4096)
    .regex(/^[\x21-\x7e]+$/, 'takes letters, digits and signs without spaces')
    .nullable()
    .describe('Sent as Bearer; written and never read back.'),
  enabled: z.boolean(),
}
const readOnly = ['id', 'hasToken', 'status', 'error', 'tools', 'leftOut'] as const

/** JSON-RPC as MCP's Streamable HTTP carries it; the SDK reads it in full. */
const Rpc = z.looseObject({ jsonrpc: z.literal('2.0') })
export const RpcBody = z.union([Rpc, z.array(Rpc).min(1).max(20)])
export type RpcBody = z.output<typeof RpcBody>

export const mcpContract = {
  serve: endpoint({
    method: 'POST',
    path: '/mcp',
    access: 'member',
    summary: 'The actions as tools of the Model Context Protocol (Streamable HTTP), those that the caller may have done',
    description:
      'Tools of other servers that this house uses are not among them: two houses that use each other would offer each other’s without end. Whoever wants those connects to their servers. What people or other servers wrote comes marked as data.',
    body: RpcBody,
    returns: z.string(),
    kind: 'stream',
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/mcp/servers',
    access: 'admin',
    summary: 'Tool servers (Model Context Protocol) whose tools became actions',
    returns: z.array(McpServer),
  }),
  add: endpoint({
    method: 'POST',
    path: '/api/mcp/servers',
    access: 'admin',
    summary: 'Add a tool server; its tools become actions of high risk',
    body: z.strictObject({ name: fields.name, url: fields.url, token: fields.token.optional(), enabled: fields.enabled.default(true) }),
    returns: McpServer,
    status: 201,
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/mcp/servers/{id}',
    access: 'admin',
    summary: 'One tool server',
    params: ById,
    returns: McpServer,
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/api/mcp/servers/{id}',
    access: 'admin',
    summary: 'Change a tool server and connect to it anew',
    params: ById,
    body: editable(z.object(fields).partial().shape, readOnly),
    returns: McpServer,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/mcp/servers/{id}',
    access: 'admin',
    summary: 'Remove a tool server and its actions',
    params: ById,
    returns: nothing,
  }),
}

/** A tool server was added, changed or removed, came or went, or has other tools. */
export const toolServersChanged = event('mcp.changed', z.object({}))
