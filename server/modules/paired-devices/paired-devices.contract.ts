import { z } from 'zod'
import { ById, editable, endpoint, nothing } from '../../kit/endpoint.ts'
import { event } from '../../kit/events.ts'
import { nameText } from '../../kit/name-text.ts'
import { PushRegistration } from './push-registration.contract.ts'

export const Scope = z.enum(['admin', 'member', 'guest'])
export type Scope = z.output<typeof Scope>
export const DeviceType = z.enum(['phone', 'tablet', 'tv'])
export type DeviceType = z.output<typeof DeviceType>

const ClockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'is not a time like 22:00')
export const QuietHours = z.strictObject({ from: ClockTime, to: ClockTime }).describe('Household time; may pass midnight.')
export type QuietHours = z.output<typeof QuietHours>

export const PairedDevice = z
  .object({
    id: z.uuid(),
    name: z.string(),
    type: DeviceType,
    userId: z.uuid().describe('The person it belongs to, or the household’s id for a shared device.'),
    isConnected: z.boolean(),
    lastSeen: z.string(),
    scope: Scope,
    quietHours: QuietHours.nullable(),
  })
  .meta({ id: 'PairedDevice' })
export type PairedDevice = z.output<typeof PairedDevice>

const DeviceName = nameText(100)

export const DeviceInfo = z.strictObject({
  name: DeviceName,
  type: DeviceType,
  platform: z.string().max(100).optional(),
  osVersion: z.string().max(100).optional(),
  appVersion: z.string().max(100).optional(),
  push: PushRegistration.optional(),
})
export type DeviceInfo = z.output<typeof DeviceInfo>

const version1 = { description: 'Version 1, deprecated: 410 unless SERVICE_AUTH_V2=0.' }

/** What completes a pairing of version 1; a `deviceId` that is no UUID is replaced by one. */
export const VersionOneProof = z.strictObject({
  code: z.string().max(32),
  deviceId: z.string().min(1).max(100),
  deviceName: DeviceName,
  deviceType: DeviceType,
})

export const pairedDevicesContract = {
  list: endpoint({
    method: 'GET',
    path: '/api/paired-devices',
    access: 'admin',
    summary: 'Phones, tablets and TVs that may talk to this Hearth',
    returns: z.array(PairedDevice),
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/api/paired-devices/{id}',
    access: 'admin',
    summary: 'Rename a device, change what it may do, whose it is, or its quiet hours',
    description: 'A changed scope or person ends its access tokens and sockets at once; it goes on with its refresh token.',
    params: ById,
    body: editable(
      {
        name: DeviceName.optional(),
        scope: Scope.optional(),
        personId: z.uuid().nullable().optional().describe('null makes the device shared.'),
        quietHours: QuietHours.nullable().optional(),
      },
      ['id', 'type', 'userId', 'isConnected', 'lastSeen'],
    ),
    returns: PairedDevice,
  }),
  test: endpoint({
    method: 'POST',
    path: '/api/paired-devices/{id}/test',
    access: 'admin',
    summary: 'Send a device a test message',
    description: 'A notification, in quiet hours too. A device that is neither connected nor reached by push answers 409 `device_offline`.',
    params: ById,
    returns: nothing,
  }),
  revoke: endpoint({
    method: 'DELETE',
    path: '/api/paired-devices/{id}',
    access: 'admin',
    summary: 'Revoke a device: its tokens and sockets end at once',
    params: ById,
    returns: nothing,
  }),
  token: endpoint({
    method: 'GET',
    path: '/api/paired-devices/token',
    access: 'owner',
    summary: 'An access token of a paired device, for development',
    query: z.strictObject({ deviceId: z.uuid(), userId: z.uuid(), deviceType: DeviceType }),
    returns: z.object({ token: z.string(), expiresIn: z.number().describe('Seconds.') }),
    changes: true,
  }),
  pairV1: endpoint({
    method: 'POST',
    path: '/api/paired-devices/pair',
    access: 'admin',
    summary: 'Start pairing, version 1',
    ...version1,
    returns: z.object({ code: z.string(), expiresAt: z.string() }),
    status: 201,
  }),
  verifyV1: endpoint({
    method: 'POST',
    path: '/api/paired-devices/verify',
    access: 'public',
    summary: 'Complete pairing, version 1',
    ...version1,
    // Read where it is known that version 1 is on: while it is off, whatever is sent is told so.
    body: z.union([VersionOneProof, z.unknown()]),
    returns: z.object({ token: z.string() }),
    limit: 'pairing',
  }),
}

/** A device was let in, changed or revoked, or came or went. */
export const pairingChanged = event(
  'pairing.changed',
  z.object({ deviceId: z.uuid(), state: z.enum(['paired', 'changed', 'revoked', 'connected', 'disconnected']) }),
)
