import { authContract } from './modules/auth/auth.contract.ts'
import { chatContract } from './modules/chat/chat.contract.ts'
import { householdContract } from './modules/household/household.contract.ts'
import { keysContract } from './modules/keys/keys.contract.ts'
import { modelsContract } from './modules/models/models.contract.ts'
import { pairedDevicesContract } from './modules/paired-devices/paired-devices.contract.ts'
import { pairingContract } from './modules/pairing/pairing.contract.ts'
import { settingsContract } from './modules/settings/settings.contract.ts'
import { setupContract } from './modules/setup/setup.contract.ts'
import { statusContract } from './modules/status/status.contract.ts'

/** Every contract by domain, for the server, the window, the tests and the documents. */
export const api = {
  setup: setupContract,
  auth: authContract,
  pairing: pairingContract,
  pairedDevices: pairedDevicesContract,
  keys: keysContract,
  settings: settingsContract,
  household: householdContract,
  chat: chatContract,
  models: modelsContract,
  status: statusContract,
}
