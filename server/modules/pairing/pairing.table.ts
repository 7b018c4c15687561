import { id, integer, table, text, textOrNull } from '../../db/table.ts'
import type { DeviceInfo, Scope } from '../paired-devices/paired-devices.contract.ts'

/** A link the owner made, waiting for its device. */
export interface PairingRow {
  id: string
  codeHash: string
  secretHash: string
  scope: Scope
  personId: string | null
  name: string | null
  /** `burned` after too many wrong secrets. */
  state: 'pending' | 'completed' | 'cancelled' | 'burned'
  wrongTries: number
  deviceId: string | null
  createdAt: string
  expiresAt: string
}
export const PairingTable = table<PairingRow>(
  'pairing',
  {
    id,
    codeHash: text,
    secretHash: text,
    scope: text,
    personId: textOrNull,
    name: textOrNull,
    state: text,
    wrongTries: integer,
    deviceId: textOrNull,
    createdAt: text,
    expiresAt: text,
  },
  [
    { name: 'pairing_code', columns: ['codeHash'] },
    { name: 'pairing_age', columns: ['expiresAt'] },
  ],
)

/** A TV that shows a code, waiting for the owner. */
export interface PairRequestRow {
  id: string
  userCodeHash: string
  pollSecretHash: string
  deviceInfo: DeviceInfo
  /** Set by the approval. */
  scope: Scope | null
  personId: string | null
  createdAt: string
  expiresAt: string
}
export const PairRequestTable = table<PairRequestRow>(
  'pair_request',
  {
    id,
    userCodeHash: text,
    pollSecretHash: text,
    deviceInfo: { type: 'simple-json' },
    scope: textOrNull,
    personId: textOrNull,
    createdAt: text,
    expiresAt: text,
  },
  [
    { name: 'pair_request_code', columns: ['userCodeHash'] },
    { name: 'pair_request_age', columns: ['expiresAt'] },
  ],
)
