import type { Contract } from '../../kit/endpoint.ts'
import type { Module } from '../../kit/module.ts'
import { openApi } from '../../kit/openapi.ts'
import { routes } from '../../kit/routes.ts'
import type { SocketRegistry } from '../../kit/socket-registry.ts'
import { type Status, statusContract } from './status.contract.ts'

export interface StatusDeps {
  sockets: SocketRegistry
  /** What is wrong with this Hearth at the moment, one sentence each. */
  faults(): string[]
  contracts: Record<string, Contract>
  version: string
}

/** No media library yet: an empty house has no files. */
const noMedia: Status['mediaStats'] = { totalFiles: 0, totalSize: 0, byType: { video: 0, audio: 0, image: 0, document: 0 } }

export function createStatus({ sockets, faults, contracts, version }: StatusDeps): Module {
  const startedAt = performance.now()
  let document: ReturnType<typeof openApi> | undefined
  return {
    name: 'status',
    routes: [
      routes(statusContract, {
        get: () => ({
          status: faults().length > 0 ? ('degraded' as const) : ('ok' as const),
          uptime: Math.round((performance.now() - startedAt) / 100) / 10,
          connectedDevices: sockets.connectedDevices(),
          mediaStats: noMedia,
        }),
        openapi() {
          document ??= openApi(contracts, version)
          return document
        },
      }),
    ],
  }
}
