import { z } from 'zod'
import { endpoint } from '../../kit/endpoint.ts'

const isTimezone = (zone: string) => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return /^[A-Za-z]/.test(zone)
  } catch {
    return false
  }
}

const isLocale = (tag: string) => {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

export const Timezone = z.string().max(64).refine(isTimezone, 'is not an IANA time zone').describe('IANA zone name.')
export const Locale = z.string().max(35).refine(isLocale, 'is not a language tag').describe('BCP 47 language tag.')
export const NewPassword = z.string().min(10, 'needs at least 10 characters').max(1024)

export const HouseholdSettings = z.strictObject({
  displayName: z.string().trim().min(1).max(100),
  timezone: Timezone,
  locale: Locale,
})

export const Household = z
  .object({
    id: z.uuid(),
    displayName: z.string(),
    mode: z.enum(['single', 'multi']),
    timezone: z.string(),
    locale: z.string(),
  })
  .meta({ id: 'Household' })
export type Household = z.output<typeof Household>

export const Person = z
  .object({
    id: z.uuid(),
    householdId: z.uuid(),
    displayName: z.string(),
    pronouns: z.string(),
    role: z.enum(['owner', 'adult', 'child', 'guest', 'other']),
    aliases: z.array(z.string()),
    birthDate: z.string().nullable().describe('YYYY-MM-DD.'),
  })
  .meta({ id: 'Person' })
export type Person = z.output<typeof Person>

export const householdContract = {
  get: endpoint({
    method: 'GET',
    path: '/api/household',
    access: 'member',
    summary: 'The household and its people',
    returns: z.object({ household: Household, persons: z.array(Person) }),
  }),
}
