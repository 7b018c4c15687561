import { z } from 'zod'
import { ById, endpoint, nothing } from '../../kit/endpoint.ts'
import { nameText } from '../../kit/name-text.ts'
import { Scope } from '../paired-devices/paired-devices.contract.ts'

export const ApiKey = z
  .object({
    id: z.uuid(),
    label: z.string(),
    scope: Scope,
    createdAt: z.string(),
    expiresAt: z.string().nullable(),
    lastUsedAt: z.string().nullable(),
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.output<typeof ApiKey>

export const keysContract = {
  list: endpoint({ method: 'GET', path: '/api/keys', access: 'owner', summary: 'The API keys', returns: z.array(ApiKey) }),
  create: endpoint({
    method: 'POST',
    path: '/api/keys',
    access: 'owner',
    summary: 'Make an API key; it is shown this once',
    body: z.strictObject({
      label: nameText(100),
      scope: Scope,
      expiresAt: z.iso
        .datetime()
        .refine((at) => Date.parse(at) > Date.now(), 'is in the past')
        .nullable()
        .optional(),
    }),
    returns: ApiKey.extend({ key: z.string() }),
    status: 201,
  }),
  revoke: endpoint({
    method: 'DELETE',
    path: '/api/keys/{id}',
    access: 'owner',
    summary: 'Revoke an API key at once',
    params: ById,
    returns: nothing,
  }),
}
