import { conflict, notFound } from '../../kit/errors.ts'
import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import type { DeviceSessions } from './device-sessions.ts'
import { pairedDevicesContract } from './paired-devices.contract.ts'
import type { PairedDevicesService } from './paired-devices.service.ts'
import type { Version1 } from './version-1.ts'

const PRUNE_EVERY_MS = 6 * 3_600_000

export interface PairedDevicesModuleDeps {
  devices: PairedDevicesService
  /** Sends a device a notification that shows whether it hears. */
  sayHello(deviceId: string, name: string): Promise<unknown>
  sessions: DeviceSessions
  version1: Version1
  onWriteFailed(error: unknown): void
}

export function createPairedDevices({ devices, sayHello, sessions, version1, onWriteFailed }: PairedDevicesModuleDeps): Module {
  let timer: NodeJS.Timeout | undefined
  return {
    name: 'paired-devices',
    routes: [
      routes(pairedDevicesContract, {
        list: () => devices.list(),
        update: ({ params, body }) => devices.update(params.id, body),
        async test({ params: { id } }) {
          await sayHello(id, devices.mustReach(id))
        },
        revoke: ({ params }) => devices.revoke(params.id),
        async token({ query }) {
          const device = devices.get(query.deviceId)
          if (device.userId !== query.userId || device.type !== query.deviceType)
            throw conflict('conflict', 'The device is stored with another user or type.')
          const made = await sessions.tokenFor(device.id)
          if (!made) throw notFound('A session of this device')
          return made
        },
        pairV1: () => version1.start(),
        verifyV1: ({ body }) => version1.verify(body),
      }),
    ],
    async start() {
      await sessions.prune()
      timer = setInterval(() => sessions.prune().catch(onWriteFailed), PRUNE_EVERY_MS)
      timer.unref()
    },
    async stop() {
      clearInterval(timer)
    },
  }
}
