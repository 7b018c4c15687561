import type { Database } from '../../db/database.ts'
import type { Caller } from '../../kit/caller.ts'
import { randomToken, sameSecret, sha256 } from '../../kit/crypto.ts'
import { forbidden } from '../../kit/errors.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { PairedDeviceTable } from '../paired-devices/paired-devices.table.ts'
import { FeedTable } from './calendar.table.ts'

export interface FeedDeps {
  db: Database
  household: HouseholdService
  /** Where others reach this server, best first. */
  addresses(): string[]
}

export type FeedService = ReturnType<typeof createFeedService>

/** Whose address it is: the person's, else the shared device's. */
const ownerOf = ({ personId, deviceId }: Caller): string => personId ?? deviceId

/** The addresses at which other calendars read this one, one for each person or shared device. Only hashes of their keys are kept. */
export function createFeedService({ db, household, addresses }: FeedDeps) {
  /** Who has left the house, or has no device left that may read the calendar, has an address no more. */
  function mayRead(id: string): boolean {
    const { ownerPersonId, consoleDeviceId } = household.mustHaveHouse()
    if (id === ownerPersonId || id === consoleDeviceId) return true
    if (household.person(id)) return db.find(PairedDeviceTable, { personId: id }).some(({ scope }) => scope !== 'guest')
    const device = db.get(PairedDeviceTable, id)
    return device !== undefined && device.scope !== 'guest'
  }

  return {
    /** A fresh address of the caller's own, told this once; their one before ends. */
    async renew(caller: Caller): Promise<{ url: string }> {
      const key = randomToken()
      const id = ownerOf(caller)
      await db.write((tx) => {
        tx.remove(FeedTable, { id })
        tx.insert(FeedTable, { id, keyHash: sha256(key), createdAt: new Date().toISOString() })
      })
      return { url: `${addresses()[0] ?? ''}/api/calendar.ics?key=${key}` }
    },

    /** Ends the caller's own, or everybody's. Throws 403 where that is not for them. */
    async end(caller: Caller, everybodys: boolean): Promise<void> {
      if (everybodys && caller.scope !== 'admin') throw forbidden('Only an admin ends the addresses of others.')
      await db.write((tx) => {
        if (everybodys) tx.run('DELETE FROM "calendar_feed"')
        else tx.remove(FeedTable, { id: ownerOf(caller) })
      })
    },

    isKey(key: string): boolean {
      const hash = sha256(key)
      return db.find(FeedTable).some(({ id, keyHash }) => sameSecret(hash, keyHash) && mayRead(id))
    },
  }
}
