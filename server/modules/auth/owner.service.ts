import type { Database, Transaction } from '../../db/database.ts'
import { AppError, conflict } from '../../kit/errors.ts'
import { createWindowLimit } from '../../kit/rate-limit.ts'
import type { HouseholdService } from '../household/household.service.ts'
import type { User } from './auth.contract.ts'
import { OwnerTable } from './auth.table.ts'
import { hashPassword, verifyPassword } from './password-hash.ts'

const TRIES = 5
const TRIES_WINDOW_MS = 15 * 60_000

export interface OwnerDeps {
  db: Database
  household: HouseholdService
  /** SERVICE_OWNER_PASSWORD, which rules over the stored one. */
  environmentPassword: string | undefined
  onWriteFailed(error: unknown): void
}

export type OwnerService = ReturnType<typeof createOwnerService>

/** The owner of the house and their password. */
export function createOwnerService({ db, household, environmentPassword, onWriteFailed }: OwnerDeps) {
  const tries = createWindowLimit(TRIES, TRIES_WINDOW_MS)
  let adopting: Promise<void> = Promise.resolve()

  const row = () => {
    const house = household.house()
    return house ? db.get(OwnerTable, house.ownerPersonId) : undefined
  }
  const patch = (values: Partial<{ passwordHash: string; email: string | null; name: string; picture: string | null }>) =>
    db.write((tx) => tx.update(OwnerTable, household.mustHaveHouse().ownerPersonId, { ...values, updatedAt: new Date().toISOString() }))

  async function adopt(): Promise<void> {
    if (environmentPassword === undefined || (await verifyPassword(environmentPassword, row()?.passwordHash ?? null))) return
    await patch({ passwordHash: await hashPassword(environmentPassword) })
  }

  return {
    /** Adds the owner's row inside the write that founds the house. */
    create(
      tx: Transaction,
      personId: string,
      { name, email, passwordHash }: { name: string; email: string | null; passwordHash: string | null },
    ): void {
      tx.insert(OwnerTable, { id: personId, name, email, picture: null, passwordHash, updatedAt: new Date().toISOString() })
    },

    /** Writes name, address and password anew, for a set-up that was cut off half way. */
    replace: (values: { name: string; email: string | null; passwordHash: string }) => patch(values),

    user(): User {
      const owner = row()
      if (!owner) throw new Error('The owner has no row')
      return { email: owner.email, name: owner.name, picture: owner.picture }
    },

    email: (): string | null => row()?.email ?? null,
    rememberProfile: (profile: { email: string; picture: string | null }) => patch(profile),

    /** Throws 401 for a wrong password, and 429 after five of them from one address in 15 minutes. */
    async checkPassword(password: string, address: string): Promise<void> {
      tries.take(address)
      await adopting.catch(() => {
        adopting = adopt() // the disk may have been full when it was first tried
        return adopting
      })
      if (!(await verifyPassword(password, row()?.passwordHash ?? null))) throw new AppError(401, 'unauthorized', 'Unauthorized')
      tries.giveBack(address)
    },

    /** Sets a new password; refused with 409 where the environment rules. */
    async setPassword(password: string): Promise<void> {
      if (environmentPassword !== undefined) throw conflict('setting_locked', 'The password is set by SERVICE_OWNER_PASSWORD.')
      await patch({ passwordHash: await hashPassword(password) })
    },

    /** Begins to bring the stored password in line with the environment's. Who signs in meanwhile waits for it; a failure is tried again then. */
    adoptEnvironmentPassword(): void {
      adopting = adopt()
      adopting.catch(onWriteFailed)
    },
  }
}
