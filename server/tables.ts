import type { EntitySchema } from 'typeorm'
import { ActionRunTable } from './modules/actions/actions.table.ts'
import { OwnerSessionTable, OwnerTable } from './modules/auth/auth.table.ts'
import { CalendarEventTable, FeedTable, SubscriptionTable } from './modules/calendar/calendar.table.ts'
import { ConversationTable, MessageTable } from './modules/chat/chat.table.ts'
import { HouseholdTable, InstanceTable, PersonTable } from './modules/household/household.table.ts'
import { ApiKeyTable } from './modules/keys/keys.table.ts'
import { McpServerTable } from './modules/mcp/mcp.table.ts'
import { ChunkTable, ExtractionTable, MemoryEntryTable, VectorTable } from './modules/memory/memory.table.ts'
import { ModelDownloadTable } from './modules/models/models.table.ts'
import { NotificationTable } from './modules/notifications/notifications.table.ts'
import { DeviceSessionTable, PairedDeviceTable, SpentRefreshTokenTable } from './modules/paired-devices/paired-devices.table.ts'
import { PairingTable, PairRequestTable } from './modules/pairing/pairing.table.ts'
import { TimerTable } from './modules/timers/timers.table.ts'
import { TodoTable } from './modules/todos/todos.table.ts'

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
  MemoryEntryTable,
  ChunkTable,
  VectorTable,
  ExtractionTable,
  NotificationTable,
  SubscriptionTable,
  CalendarEventTable,
  FeedTable,
  TodoTable,
  TimerTable,
  ActionRunTable,
  McpServerTable,
  ModelDownloadTable,
] as unknown as EntitySchema<never>[]
