import { z } from 'zod'
import { ById, endpoint, nothing } from '../../kit/endpoint.ts'
import { nameText } from '../../kit/name-text.ts'
import { DeviceInfo, DeviceType, PairedDevice, Scope } from '../paired-devices/paired-devices.contract.ts'

export const TokenPair = z.object({
  accessToken: z.string(),
  refreshToken: z.string(),
  expiresIn: z.number().describe('Seconds until the access token ends.'),
})

/** What the link of a pairing carries, as base64url JSON. */
export const PairingLink = z.object({
  v: z.literal(2),
  code: z.string(),
  secret: z.string(),
  servers: z.array(z.string()),
  name: z.string(),
})

const PairingProof = z.strictObject({ code: z.string().max(64), secret: z.string().max(256), deviceInfo: DeviceInfo })
const Completed = TokenPair.extend({ device: PairedDevice })
const InBrowser = z.object({ device: PairedDevice })

export const pairingContract = {
  start: endpoint({
    method: 'POST',
    path: '/api/auth/pair/start',
    access: 'owner',
    summary: 'Make a pairing link for a phone, tablet or TV',
    body: z
      .strictObject({
        scope: Scope.default('member'),
        personId: z.uuid().optional(),
        name: nameText(100).optional().describe('A name for the device in place of the one it gives itself.'),
      })
      .default({ scope: 'member' }),
    returns: z.object({
      qr: z.string().describe('Link for the app: hearth://pair?d=<payload>.'),
      webQr: z.string().describe('Link for any browser: <server>/pair#d=<payload>.'),
      pairing: z.object({ id: z.uuid(), code: z.string(), scope: Scope, expiresAt: z.string() }),
    }),
    status: 201,
    limit: 'pairing',
  }),
  state: endpoint({
    method: 'GET',
    path: '/api/auth/pair/{id}',
    access: 'admin',
    summary: 'Whether a pairing was completed yet',
    params: ById,
    returns: z.object({ status: z.enum(['pending', 'completed', 'expired', 'cancelled']), device: PairedDevice.optional() }),
  }),
  cancel: endpoint({
    method: 'DELETE',
    path: '/api/auth/pair/{id}',
    access: 'owner',
    summary: 'Cancel a pairing that is still waiting',
    params: ById,
    returns: nothing,
  }),
  complete: endpoint({
    method: 'POST',
    path: '/api/auth/pair/complete',
    access: 'public',
    summary: 'Become a paired device with tokens',
    description: 'A code that is unknown, expired, used or burned, and a wrong secret, are one and the same 401.',
    body: PairingProof,
    returns: Completed,
    limit: 'pairing',
  }),
  browser: endpoint({
    method: 'POST',
    path: '/api/auth/pair/browser',
    access: 'public',
    summary: 'Become a paired device with a cookie, for browsers',
    body: PairingProof,
    returns: InBrowser,
    limit: 'pairing',
  }),
  request: endpoint({
    method: 'POST',
    path: '/api/auth/pair/request',
    access: 'lan',
    summary: 'Ask to be paired, for a TV that cannot scan',
    body: z.strictObject({ deviceInfo: DeviceInfo }),
    returns: z.object({
      id: z.uuid(),
      userCode: z.string().describe('Shown large; the owner enters it.'),
      pollSecret: z.string(),
      expiresAt: z.string(),
    }),
    status: 201,
    limit: 'pair-request',
  }),
  approve: endpoint({
    method: 'POST',
    path: '/api/auth/pair/approve',
    access: 'owner',
    summary: 'Let in the device that shows this code',
    body: z.strictObject({ userCode: z.string().max(32), scope: Scope.default('member'), personId: z.uuid().optional() }),
    returns: z.object({ id: z.uuid(), name: z.string(), type: DeviceType, scope: Scope }),
    limit: 'pairing',
  }),
  poll: endpoint({
    method: 'POST',
    path: '/api/auth/pair/request/{id}',
    access: 'lan',
    summary: 'Ask whether the owner approved: 202 until then, once the device',
    params: ById,
    body: z.strictObject({ pollSecret: z.string().max(256), browser: z.boolean().default(false) }),
    returns: z.union([Completed, InBrowser, z.object({ status: z.literal('pending') })]),
  }),
  refresh: endpoint({
    method: 'POST',
    path: '/api/auth/refresh',
    access: 'public',
    summary: 'Trade the refresh token, sent as Bearer, for a new pair',
    description:
      'Each refresh token works once. A used one seen again ends the session, except within 10 seconds while its successor is unused.',
    returns: TokenPair,
    limit: 'refresh',
  }),
}
