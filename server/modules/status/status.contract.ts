import { z } from 'zod'
import { endpoint } from '../../kit/endpoint.ts'

export const Status = z
  .object({
    status: z.enum(['ok', 'degraded']),
    uptime: z.number().describe('Seconds since the start.'),
    connectedDevices: z.number().int().describe('Paired devices with an open socket.'),
    mediaStats: z.object({
      totalFiles: z.number().int(),
      totalSize: z.number().int().describe('Bytes.'),
      byType: z.object({ video: z.number().int(), audio: z.number().int(), image: z.number().int(), document: z.number().int() }),
    }),
  })
  .meta({ id: 'Status' })
export type Status = z.output<typeof Status>

export const statusContract = {
  get: endpoint({
    method: 'GET',
    path: '/api/status',
    access: 'public',
    summary: 'Whether this Hearth is well',
    returns: Status,
    beforeSetup: true,
  }),
  openapi: endpoint({
    method: 'GET',
    path: '/api/openapi.json',
    access: 'public',
    summary: 'This document: every endpoint, made from the schemas that check it',
    returns: z.looseObject({ openapi: z.string() }),
  }),
}
