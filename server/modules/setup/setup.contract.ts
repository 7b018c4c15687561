import { z } from 'zod'
import { endpoint } from '../../kit/endpoint.ts'
import { nameText } from '../../kit/name-text.ts'
import { User } from '../auth/auth.contract.ts'
import { HouseholdSettings, NewPassword } from '../household/household.contract.ts'

export const SetupRequest = z.strictObject({
  pin: z.string().max(32).describe('The one-time PIN printed to the server log.'),
  owner: z.strictObject({
    name: nameText(100),
    email: z.email().max(254).optional(),
    password: NewPassword,
  }),
  household: HouseholdSettings.partial().optional(),
  idp: z
    .strictObject({
      issuer: z.url({ protocol: /^https?$/ }).max(2048),
      clientId: z.string().min(1).max(512),
      clientSecret: z.string().min(1).max(2048),
    })
    .optional()
    .describe('An OpenID Connect provider the owner may sign in with.'),
})
export type SetupRequest = z.output<typeof SetupRequest>

export const setupContract = {
  state: endpoint({
    method: 'GET',
    path: '/api/setup',
    access: 'public',
    summary: 'Say whether this Hearth still has to be set up',
    returns: z.object({ required: z.boolean() }),
    beforeSetup: true,
  }),
  complete: endpoint({
    method: 'POST',
    path: '/api/setup',
    access: 'public',
    summary: 'Set this Hearth up: its owner, its household and its keys',
    description: 'Loopback only. Five wrong PINs print a new one and close this door for a minute.',
    body: SetupRequest,
    returns: z.object({ user: User }),
    status: 201,
    limit: 'sign-in',
    beforeSetup: true,
  }),
}
