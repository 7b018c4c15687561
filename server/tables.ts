import type { EntitySchema } from 'typeorm'
import { OwnerSessionTable, OwnerTable } from './modules/auth/auth.table.ts'
import { ConversationTable, MessageTable } from './modules/chat/chat.table.ts'
import { HouseholdTable, InstanceTable, PersonTable } from './modules/household/household.table.ts'
import { ApiKeyTable } from './modules/keys/keys.table.ts'
import { DeviceSessionTable, PairedDeviceTable, SpentRefreshTokenTable } from './modules/paired-devices/paired-devices.table.ts'
import { PairingTable, PairRequestTable } from './modules/pairing/pairing.table.ts'

/** Every table, for the database to open and for the test that holds the migrations to them. */
export const tables = [
  InstanceTable,
  HouseholdTable,
  PersonTable,
  OwnerTable,
  OwnerSessionTable,
  ApiKeyTable,
  PairedDeviceTable,
  DeviceSessionTable,
  SpentRefreshTokenTable,
  PairingTable,
  PairRequestTable,
  ConversationTable,
  MessageTable,
] as unknown as EntitySchema<never>[]
