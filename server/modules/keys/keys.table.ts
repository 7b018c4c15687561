import { id, table, text, textOrNull } from '../../db/table.ts'
import type { Scope } from '../paired-devices/paired-devices.contract.ts'

export interface ApiKeyRow {
  id: string
  label: string
  scope: Scope
  /** SHA-256 of the key, in hex. */
  keyHash: string
  createdAt: string
  expiresAt: string | null
  lastUsedAt: string | null
}
export const ApiKeyTable = table<ApiKeyRow>(
  'api_key',
  { id, label: text, scope: text, keyHash: text, createdAt: text, expiresAt: textOrNull, lastUsedAt: textOrNull },
  [{ name: 'api_key_hash', columns: ['keyHash'], unique: true }],
)
