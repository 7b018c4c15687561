import { z } from 'zod'
import { editable, endpoint } from '../../kit/endpoint.ts'
import { event } from '../../kit/events.ts'
import { nameText } from '../../kit/name-text.ts'

const isTimezone = (zone: string) => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return /^[A-Za-z]/.test(zone)
  } catch {
    return false
  }
}

/** As the zone database spells it; a newer name stays the one that was chosen, even where the platform knows it by an older. */
function inItsSpelling(zone: string): string {
  const known = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  if (known.toLowerCase() === zone.toLowerCase()) return known
  return zone === zone.toLowerCase() ? zone.replaceAll(/(?<=^|[/_-])\p{L}/gu, (letter) => letter.toUpperCase()) : zone
}

const isLocale = (tag: string) => {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

export const Timezone = z
  .string()
  .max(64)
  .refine(isTimezone, { error: 'is not an IANA time zone', abort: true })
  .transform(inItsSpelling)
  .describe('IANA zone name.')
export const Locale = z.string().max(35).refine(isLocale, 'is not a language tag').describe('BCP 47 language tag.')
export const NewPassword = z.string().min(10, 'needs at least 10 characters').max(1024)

export const HouseholdSettings = z.strictObject({
  displayName: nameText(100),
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

const name = nameText(100)

/** A person as they are submitted. What is absent keeps its stored value, for a new person the default. */
export const SubmittedPerson = editable(
  {
    id: z.uuid().optional(),
    displayName: name,
    pronouns: nameText(50, 0).optional(),
    role: Person.shape.role.optional(),
    aliases: z.array(name).max(20).optional(),
    birthDate: z.iso.date().nullable().optional(),
  },
  ['householdId'],
)
export type SubmittedPerson = z.output<typeof SubmittedPerson>

/** The whole state of a household, as it is submitted. */
export const SubmittedHousehold = editable(
  {
    displayName: name,
    timezone: Timezone,
    locale: Locale,
    mode: Household.shape.mode,
    persons: z.array(SubmittedPerson).min(1).max(100),
  },
  ['id'],
)
export type SubmittedHousehold = z.output<typeof SubmittedHousehold>

export const householdContract = {
  get: endpoint({
    method: 'GET',
    path: '/api/household',
    access: 'member',
    summary: 'The household and its people',
    returns: z.object({ household: Household, persons: z.array(Person) }),
  }),
  replace: endpoint({
    method: 'PUT',
    path: '/api/household',
    access: 'admin',
    summary: 'Change the household and replace the list of its people, all or nothing',
    description:
      'A submitted person keeps the id of the stored one of the same id or displayName. 409 `household_has_members` when mode would be single with several people, 409 `owner_required` when the owner would be removed.',
    body: SubmittedHousehold,
    returns: z.object({ household: Household, persons: z.array(Person) }),
  }),
}

/** The household or its people changed. */
export const householdChanged = event('household.changed', z.object({}))
