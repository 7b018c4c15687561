import { id, table, text, textOrNull } from '../../db/table.ts'
import type { DeviceInfo, DeviceType, QuietHours, Scope } from './paired-devices.contract.ts'

export interface PairedDeviceRow {
  id: string
  name: string
  type: DeviceType
  scope: Scope
  /** Null for a shared device. */
  personId: string | null
  platform: string | null
  osVersion: string | null
  appVersion: string | null
  push: NonNullable<DeviceInfo['push']> | null
  quietHours: QuietHours | null
  createdAt: string
  lastSeenAt: string
}
export const PairedDeviceTable = table<PairedDeviceRow>('paired_device', {
  id,
  name: text,
  type: text,
  scope: text,
  personId: textOrNull,
  platform: textOrNull,
  osVersion: textOrNull,
  appVersion: textOrNull,
  push: { type: 'simple-json', nullable: true },
  quietHours: { type: 'simple-json', nullable: true },
  createdAt: text,
  lastSeenAt: text,
})

/** One way a device stays signed in: refresh tokens, a browser's cookie, or a version 1 token. */
export interface DeviceSessionRow {
  id: string
  deviceId: string
  kind: 'tokens' | 'browser' | 'v1'
  /** The `sessionId` of its access tokens; a new one ends all that were given out. */
  accessId: string
  /** SHA-256 of the refresh token or cookie that works now, in hex. */
  tokenHash: string
  createdAt: string
  lastUsedAt: string
  expiresAt: string
}
export const DeviceSessionTable = table<DeviceSessionRow>(
  'device_session',
  { id, deviceId: text, kind: text, accessId: text, tokenHash: text, createdAt: text, lastUsedAt: text, expiresAt: text },
  [
    { name: 'device_session_device', columns: ['deviceId'] },
    { name: 'device_session_access', columns: ['accessId'], unique: true },
    { name: 'device_session_token', columns: ['tokenHash'], unique: true },
  ],
  [
    {
      name: 'device_session_device_fk',
      columnNames: ['deviceId'],
      target: 'paired_device',
      referencedColumnNames: ['id'],
      onDelete: 'CASCADE',
    },
  ],
)

/** A refresh token that was used; seen again it gives its thief away. */
export interface SpentRefreshTokenRow {
  /** SHA-256 of the token, in hex. */
  id: string
  sessionId: string
  spentAt: string
  successorHash: string
  /** The successor, AES-256-GCM under a key derived from the spent token: `iv.tag.data` in base64url. Null once the grace is over. */
  sealedSuccessor: string | null
}
export const SpentRefreshTokenTable = table<SpentRefreshTokenRow>(
  'spent_refresh_token',
  { id, sessionId: text, spentAt: text, successorHash: text, sealedSuccessor: textOrNull },
  [
    { name: 'spent_refresh_token_session', columns: ['sessionId'] },
    { name: 'spent_refresh_token_age', columns: ['spentAt'] },
  ],
  [
    {
      name: 'spent_refresh_token_session_fk',
      columnNames: ['sessionId'],
      target: 'device_session',
      referencedColumnNames: ['id'],
      onDelete: 'CASCADE',
    },
  ],
)
