import type { Database } from '../../db/database.ts'
import { conflict } from '../../kit/errors.ts'
import type { Secrets } from '../../secrets.ts'
import type { OwnerService } from '../auth/owner.service.ts'
import { hashPassword } from '../auth/password-hash.ts'
import type { HouseholdService } from '../household/household.service.ts'
import type { SetupRequest } from './setup.contract.ts'

export interface SetupDeps {
  db: Database
  household: HouseholdService
  owner: OwnerService
  secrets: Secrets
}

export type SetupService = ReturnType<typeof createSetupService>

const machineDefaults = () => {
  const { timeZone, locale } = new Intl.DateTimeFormat().resolvedOptions()
  return { displayName: 'Home', timezone: timeZone || 'UTC', locale: locale || 'en' }
}

/** Makes a Hearth out of an empty data root: by the wizard, or by the environment. */
export function createSetupService({ db, household, owner, secrets }: SetupDeps) {
  let running = false

  /** Writes the household, its first person and the owner; what is there already stays. */
  async function found(
    name: string,
    email: string | null,
    passwordHash: string | null,
    chosen: SetupRequest['household'] = {},
  ): Promise<void> {
    const usual = machineDefaults()
    const settings = {
      displayName: chosen.displayName ?? usual.displayName,
      timezone: chosen.timezone ?? usual.timezone,
      locale: chosen.locale ?? usual.locale,
    }
    await db.write((tx) => {
      const house = household.house() ?? household.found(tx, { ownerName: name, ...settings })
      owner.create(tx, house.ownerPersonId, { name, email, passwordHash })
    })
  }

  return {
    isDone: (): boolean => secrets.get('AUTH_SECRET') !== undefined,

    /** Sets the house up; its keys are written last, so that a crash on the way leaves the wizard open. Throws 409 when done. */
    async complete({ owner: person, household: settings, idp }: SetupRequest): Promise<void> {
      if (this.isDone() || running) throw conflict('already_set_up', 'This Hearth is set up already.')
      running = true
      try {
        const passwordHash = await hashPassword(person.password)
        if (household.house() === null) await found(person.name, person.email ?? null, passwordHash, settings)
        else await owner.replace({ name: person.name, email: person.email ?? null, passwordHash })
        secrets.set({
          AUTH_SECRET: secrets.fresh(),
          SERVICE_JWT_SECRET: secrets.fresh(),
          SERVICE_SECRETS_KEY: secrets.fresh(),
          ...(idp && { AUTH_IDP_ISSUER: idp.issuer, AUTH_IDP_ID: idp.clientId, AUTH_IDP_SECRET: idp.clientSecret }),
        })
      } finally {
        running = false
      }
    },

    /** For a Hearth that the environment sets up: makes what is missing, and keeps a token secret of its own. */
    async adoptEnvironment(): Promise<void> {
      if (household.house() === null) await found('Owner', null, null)
      if (!secrets.get('SERVICE_JWT_SECRET')) secrets.set({ SERVICE_JWT_SECRET: secrets.fresh() })
      owner.adoptEnvironmentPassword()
    },
  }
}
