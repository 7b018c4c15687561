import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../config.ts'
import { openDatabase } from '../db/database.ts'
import { migrations } from '../db/migrations/all.ts'
import { createLog } from '../kit/log.ts'
import { createSocketRegistry } from '../kit/socket-registry.ts'
import { createOwnerService } from '../modules/auth/owner.service.ts'
import { createOwnerSessions } from '../modules/auth/owner-sessions.ts'
import { createHouseholdService } from '../modules/household/household.service.ts'
import { findPaths } from '../paths.ts'
import { tables } from '../tables.ts'
import { ask } from './ask.ts'

/**
 * Sets a new owner password on the data itself and signs every browser out. A running Hearth may go on meanwhile: it
 * reads both anew at every request.
 */
const config = readConfig(process.env, findPaths(`${import.meta.dirname}/..`).checkout)
const path = join(config.dataPath, 'hearth.sqlite')

function end(line: string, status: number): never {
  process.stdout.write(`${line}\n`)
  process.exit(status)
}

if (!existsSync(path)) end(`There is no Hearth in ${config.dataPath} yet.`, 1)
const password = await ask('New owner password, at least 10 characters: ', { hidden: true })
if (password.length < 10) end('That is too short. Nothing was changed.', 1)

const log = createLog('error')
const fail = (error: unknown) => end(`The password was not changed: ${error instanceof Error ? error.message : String(error)}`, 1)
const db = await openDatabase({
  path,
  backupsPath: join(config.dataPath, 'backups'),
  tables,
  migrations,
  wasUnclean: false,
  log,
  onDiskFailure: fail,
})
const household = createHouseholdService({ db })
if (household.house() === null) end('This Hearth is not set up yet.', 1)
const owner = createOwnerService({ db, household, environmentPassword: config.env.SERVICE_OWNER_PASSWORD })
const sessions = createOwnerSessions({ db, household, sockets: createSocketRegistry(), secret: () => undefined, onWriteFailed: fail })
try {
  await owner.setPassword(password)
  await sessions.endOthers(null)
} catch (error) {
  fail(error)
}
await db.close()
end('The password is set. Every browser has to sign in again.', 0)
