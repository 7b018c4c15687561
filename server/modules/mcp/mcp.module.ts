import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { mcpContract } from './mcp.contract.ts'
import { createMcpServersService, type McpServersDeps } from './mcp-servers.service.ts'
import { createToolEndpoint } from './tool-endpoint.ts'

/** The Model Context Protocol both ways: the house's actions as tools for others, others' tools as actions here. */
export function createMcp(deps: McpServersDeps): Module {
  const servers = createMcpServersService(deps)
  const serve = createToolEndpoint(deps)
  return {
    name: 'mcp',
    routes: [
      routes(mcpContract, {
        serve: ({ body }, call) => serve(body, call),
        list: () => servers.list(),
        add: ({ body }) => servers.add(body),
        get: ({ params }) => servers.get(params.id),
        update: ({ params, body }) => servers.update(params.id, body),
        remove: ({ params }) => servers.remove(params.id),
      }),
    ],
    async start() {
      servers.start()
    },
    stop: () => servers.stop(),
  }
}
