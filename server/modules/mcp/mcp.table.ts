import { id, table, text, textOrNull } from '../../db/table.ts'

export interface McpServerRow {
  id: string
  name: string
  url: string
  /** AES-256-GCM under SERVICE_SECRETS_KEY. */
  sealedToken: string | null
  enabled: boolean
  createdAt: string
}
export const McpServerTable = table<McpServerRow>(
  'mcp_server',
  { id, name: text, url: text, sealedToken: textOrNull, enabled: { type: 'boolean' }, createdAt: text },
  [{ name: 'mcp_server_name', columns: ['name'], unique: true }],
)
