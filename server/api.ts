import { actionsContract } from './modules/actions/actions.contract.ts'
import { authContract } from './modules/auth/auth.contract.ts'
import { calendarContract } from './modules/calendar/calendar.contract.ts'
import { chatContract } from './modules/chat/chat.contract.ts'
import { householdContract } from './modules/household/household.contract.ts'
import { keysContract } from './modules/keys/keys.contract.ts'
import { mcpContract } from './modules/mcp/mcp.contract.ts'
import { memoryContract } from './modules/memory/memory.contract.ts'
import { modelsContract } from './modules/models/models.contract.ts'
import { notificationsContract } from './modules/notifications/notifications.contract.ts'
import { openaiContract } from './modules/openai/openai.contract.ts'
import { pairedDevicesContract } from './modules/paired-devices/paired-devices.contract.ts'
import { pairingContract } from './modules/pairing/pairing.contract.ts'
import { pushContract } from './modules/push/push.contract.ts'
import { settingsContract } from './modules/settings/settings.contract.ts'
import { setupContract } from './modules/setup/setup.contract.ts'
import { statusContract } from './modules/status/status.contract.ts'
import { timersContract } from './modules/timers/timers.contract.ts'
import { todosContract } from './modules/todos/todos.contract.ts'
import { trustContract } from './modules/trust/trust.contract.ts'

/** Every contract by domain, for the server, the window, the tests and the documents. */
export const api = {
  setup: setupContract,
  auth: authContract,
  pairing: pairingContract,
  pairedDevices: pairedDevicesContract,
  keys: keysContract,
  settings: settingsContract,
  trust: trustContract,
  household: householdContract,
  notifications: notificationsContract,
  push: pushContract,
  calendar: calendarContract,
  todos: todosContract,
  timers: timersContract,
  memory: memoryContract,
  actions: actionsContract,
  chat: chatContract,
  models: modelsContract,
  openai: openaiContract,
  mcp: mcpContract,
  status: statusContract,
}
