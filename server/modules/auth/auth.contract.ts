import { z } from 'zod'
import { ById, endpoint, nothing } from '../../kit/endpoint.ts'
import { NewPassword } from '../household/household.contract.ts'
import { PairedDevice } from '../paired-devices/paired-devices.contract.ts'

export const User = z.object({ email: z.string().nullable(), name: z.string(), picture: z.string().nullable() }).meta({ id: 'User' })
export type User = z.output<typeof User>

export const OwnerSession = z
  .object({
    id: z.uuid(),
    createdAt: z.string(),
    lastSeenAt: z.string(),
    expiresAt: z.string(),
    address: z.string().describe('The address this browser signed in from.'),
    userAgent: z.string(),
    current: z.boolean().describe('This is the session that asks.'),
  })
  .meta({ id: 'OwnerSession' })
export type OwnerSession = z.output<typeof OwnerSession>

export const authContract = {
  session: endpoint({
    method: 'GET',
    path: '/api/auth/session',
    access: 'public',
    summary: 'Who is signed in here: the owner, a paired browser, or nobody',
    returns: z.object({
      user: User.nullable(),
      device: PairedDevice.optional().describe('Present for a browser that is paired as a device.'),
    }),
  }),
  login: endpoint({
    method: 'GET',
    path: '/api/auth/login',
    access: 'public',
    summary: 'Go to the identity provider, or to the sign-in page where none is set',
    query: z.object({ returnTo: z.string().max(512).optional().describe('A path of this server.') }),
    returns: nothing,
    kind: 'stream',
    limit: 'sign-in',
  }),
  callback: endpoint({
    method: 'GET',
    path: '/api/auth/callback',
    access: 'public',
    summary: 'Where the identity provider sends the owner back to',
    query: z.looseObject({ code: z.string().max(4096).optional(), state: z.string().max(512).optional() }),
    returns: nothing,
    kind: 'stream',
    limit: 'sign-in',
  }),
  local: endpoint({
    method: 'POST',
    path: '/api/auth/local',
    access: 'public',
    summary: 'Sign in with the owner password',
    body: z.strictObject({ password: z.string().min(1).max(1024) }),
    returns: nothing,
    limit: 'sign-in',
  }),
  desktop: endpoint({
    method: 'POST',
    path: '/api/auth/desktop',
    access: 'public',
    summary: 'Trade the desktop window’s single-use ticket for a session',
    body: z.strictObject({ ticket: z.string().min(1).max(200) }),
    returns: nothing,
    limit: 'sign-in',
    loopbackOnly: true,
  }),
  password: endpoint({
    method: 'POST',
    path: '/api/auth/password',
    access: 'owner',
    summary: 'Change the owner password; every other session ends',
    body: z.strictObject({ current: z.string().min(1).max(1024), next: NewPassword }),
    returns: nothing,
    limit: 'sign-in',
  }),
  logout: endpoint({
    method: 'POST',
    path: '/api/auth/logout',
    access: 'public',
    summary: 'End this browser’s session',
    returns: nothing,
  }),
  logoutPage: endpoint({
    method: 'GET',
    path: '/api/auth/logout',
    access: 'public',
    summary: 'End this browser’s session and go to the sign-in page',
    returns: nothing,
    kind: 'stream',
    changes: true,
  }),
  sessions: endpoint({
    method: 'GET',
    path: '/api/auth/sessions',
    access: 'owner',
    summary: 'The browsers signed in as the owner',
    returns: z.array(OwnerSession),
  }),
  endSession: endpoint({
    method: 'DELETE',
    path: '/api/auth/sessions/{id}',
    access: 'owner',
    summary: 'Sign one of those browsers out',
    params: ById,
    returns: nothing,
  }),
}
