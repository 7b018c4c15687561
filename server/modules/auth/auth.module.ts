import { forbidden, unauthorized } from '../../kit/errors.ts'
import { isLocalPeer } from '../../kit/gate.ts'
import type { Module } from '../../kit/module.ts'
import type { RequestFacts } from '../../kit/request-facts.ts'
import { routes } from '../../kit/routes.ts'
import type { DeviceSessions } from '../paired-devices/device-sessions.ts'
import type { PairedDevicesService } from '../paired-devices/paired-devices.service.ts'
import { authContract } from './auth.contract.ts'
import {
  deviceCookie,
  loginCookie,
  noDeviceCookie,
  noLoginCookie,
  noOwnerCookie,
  ownerCookie,
  readDeviceCookie,
  readLoginCookie,
} from './cookies.ts'
import type { DesktopTickets } from './desktop-tickets.ts'
import type { OidcService, Profile } from './oidc.service.ts'
import type { OwnerService } from './owner.service.ts'
import type { OwnerSessions } from './owner-sessions.ts'
import { localPath } from './return-to.ts'

export interface AuthDeps {
  owner: OwnerService
  sessions: OwnerSessions
  oidc: OidcService
  tickets: DesktopTickets
  devices: PairedDevicesService
  deviceSessions: DeviceSessions
  /** SERVICE_ALLOWED_EMAILS in lower case; undefined lets in the owner's own address alone. */
  allowedEmails: string[] | undefined
}

const wantsPage = ({ headers }: RequestFacts) => headers.accept?.startsWith('text/html') ?? false

export function createAuth({ owner, sessions, oidc, tickets, devices, deviceSessions, allowedEmails }: AuthDeps): Module {
  /** Whether this address may sign in; the first one from this machine becomes the owner's, where none is stored. */
  function mayEnter({ email }: Profile, facts: RequestFacts): boolean {
    const given = email.toLowerCase()
    if (allowedEmails) return allowedEmails.includes(given)
    const own = owner.email()?.toLowerCase()
    return own ? own === given : isLocalPeer(facts)
  }

  async function leave(facts: RequestFacts, reply: { cookie(line: string): void }): Promise<void> {
    const session = sessions.callerOf(facts)
    if (session) await sessions.end(session.sessionId)
    reply.cookie(noOwnerCookie(facts))
  }

  return {
    name: 'auth',
    routes: [
      routes(authContract, {
        async session(_input, { request, reply }) {
          if (sessions.callerOf(request)) return { user: owner.user() }
          const cookie = readDeviceCookie(request)
          const held = cookie ? await deviceSessions.keepBrowser(cookie) : null
          if (!cookie || !held) return { user: null }
          reply.cookie(deviceCookie(request, cookie, deviceSessions.lifetimeDays))
          return { user: null, device: devices.get(held.deviceId) }
        },

        async login({ query }, { request, reply }) {
          if (!oidc.isConfigured()) return reply.redirect(`/login?returnTo=${encodeURIComponent(localPath(query.returnTo))}`)
          if (!oidc.fits(request)) return reply.redirect('/login?reason=provider-elsewhere')
          const { location, browser } = await oidc.begin(localPath(query.returnTo))
          reply.cookie(loginCookie(request, browser))
          reply.redirect(location)
        },

        async callback(_input, { request, reply }) {
          try {
            const { profile, returnTo } = await oidc.finish(request, readLoginCookie(request))
            if (!mayEnter(profile, request)) throw forbidden('This address may not sign in here.', 'not_allowed')
            if ((owner.email() ?? profile.email).toLowerCase() === profile.email.toLowerCase()) await owner.rememberProfile(profile)
            reply.cookie(noLoginCookie(request))
            reply.cookie(ownerCookie(request, await sessions.open(request)))
            reply.redirect(returnTo)
          } catch (error) {
            if (!wantsPage(request)) throw error
            reply.redirect(`/login?reason=${(error as { code?: string }).code ?? 'internal'}`)
          }
        },

        async local({ body }, { request, reply }) {
          await owner.checkPassword(body.password, request.address)
          reply.cookie(ownerCookie(request, await sessions.open(request)))
        },

        async desktop({ body }, { request, reply }) {
          if (!tickets.redeem(body.ticket)) throw unauthorized()
          reply.cookie(ownerCookie(request, await sessions.open(request)))
        },

        async password({ body }, { request, caller }) {
          await owner.checkPassword(body.current, request.address)
          await owner.setPassword(body.next)
          await sessions.endOthers(caller.sessionId)
        },

        async logout(_input, { request, reply }) {
          await leave(request, reply)
          const cookie = readDeviceCookie(request)
          if (!cookie) return
          await deviceSessions.endBrowser(cookie)
          reply.cookie(noDeviceCookie(request))
        },

        async logoutPage(_input, { request, reply }) {
          await leave(request, reply)
          reply.redirect('/login')
        },

        sessions: (_input, { caller }) => sessions.list(caller.sessionId),
        endSession: ({ params }) => sessions.end(params.id),
      }),
    ],
  }
}
