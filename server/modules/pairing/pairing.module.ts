import { unauthorized } from '../../kit/errors.ts'
import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { deviceCookie } from '../auth/cookies.ts'
import type { DeviceSessions } from '../paired-devices/device-sessions.ts'
import type { PairRequestsService } from './pair-requests.service.ts'
import { pairingContract } from './pairing.contract.ts'
import type { PairingService } from './pairing.service.ts'

const BEARER = /^Bearer ([\w-]{20,200})$/

export interface PairingModuleDeps {
  pairing: PairingService
  requests: PairRequestsService
  sessions: DeviceSessions
}

export function createPairing({ pairing, requests, sessions }: PairingModuleDeps): Module {
  return {
    name: 'pairing',
    routes: [
      routes(pairingContract, {
        start: ({ body }) => pairing.start(body),
        state: ({ params }) => pairing.state(params.id),
        cancel: ({ params }) => pairing.cancel(params.id),
        complete: ({ body }) => pairing.complete(body),
        async browser({ body }, { request, reply }) {
          const { cookie, device } = await pairing.completeInBrowser(body)
          reply.cookie(deviceCookie(request, cookie, sessions.lifetimeDays))
          return { device }
        },
        request: ({ body }) => requests.request(body.deviceInfo),
        approve: ({ body }) => requests.approve(body),
        async poll({ params, body }, { request, reply }) {
          const granted = await requests.poll(params.id, body.pollSecret, body.browser)
          if (!granted) {
            reply.status = 202
            return { status: 'pending' as const }
          }
          if (!('cookie' in granted)) return granted
          reply.cookie(deviceCookie(request, granted.cookie, sessions.lifetimeDays))
          return { device: granted.device }
        },
        refresh(_input, { request }) {
          const token = BEARER.exec(request.headers.authorization ?? '')?.[1]
          if (!token) throw unauthorized()
          return sessions.refresh(token)
        },
      }),
    ],
  }
}
