import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../db/database.ts'
import { faultOf } from '../db/integrity.ts'
import { migrations } from '../db/migrations/all.ts'
import { createLog } from '../kit/log.ts'
import { createSocketRegistry } from '../kit/socket-registry.ts'
import { createOwnerService } from '../modules/auth/owner.service.ts'
import { createOwnerSessions } from '../modules/auth/owner-sessions.ts'
import { createHouseholdService } from '../modules/household/household.service.ts'
import { tables } from '../tables.ts'
import { configOrEnd, end, openTerminal } from './terminal.ts'

/**
 * Sets a new owner password on the data itself and signs every browser out. A running Hearth may go on meanwhile: it
 * reads both anew at every request.
 */
const config = configOrEnd()
const path = join(config.dataPath, 'hearth.sqlite')

if (!existsSync(path)) end(`There is no Hearth in ${config.dataPath} yet.`, 1)
const password = await openTerminal().ask('New owner password, at least 10 characters: ', { hidden: true })
if (password.length < 10) end('That is too short. Nothing was changed.', 1)

const fail = (error: unknown) => end(`The password was not changed: ${error instanceof Error ? error.message : String(error)}`, 1)
try {
  // Mending is for the server, which may be running on these files.
  const fault = faultOf(path, true)
  if (fault) end(`The database is damaged (${fault}). Start Hearth, which sees to that, and try again.`, 1)
  await reset()
} catch (error) {
  fail(error)
}

async function reset(): Promise<never> {
  const db = await openDatabase({
    path,
    backupsPath: join(config.dataPath, 'backups'),
    tables,
    migrations,
    wasUnclean: false,
    log: createLog('error'),
    onDiskFailure: fail,
  })
  const household = createHouseholdService({ db })
  if (household.house() === null) end('This Hearth is not set up yet.', 1)
  const owner = createOwnerService({
    db,
    household,
    environmentPassword: config.env.SERVICE_OWNER_PASSWORD,
    onWriteFailed(error) {
      throw error
    },
  })
  const sessions = createOwnerSessions({ db, household, sockets: createSocketRegistry(), secret: () => undefined, onWriteFailed: fail })
  await owner.setPassword(password)
  await sessions.endOthers(null)
  await db.close()
  end('The password is set. Every browser has to sign in again.', 0)
}
