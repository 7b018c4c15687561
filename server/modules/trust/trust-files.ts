import type { Middleware } from 'koa'
import type { Authority } from './authority.service.ts'
import { iosProfile } from './ios-profile.ts'

/**
 * The authority’s certificate for devices to install: `/trust/hearth-ca.crt`, and as a profile for iOS. It is public, and any
 * page may read it: by fetching it over TLS the page on plain HTTP sees whether the device trusts it.
 */
export function createTrustFiles(authority: Pick<Authority, 'certificate'>): Middleware {
  return async (ctx, next) => {
    const isProfile = ctx.path === '/trust/hearth.mobileconfig'
    if (!isProfile && ctx.path !== '/trust/hearth-ca.crt') return next()
    const certificate = authority.certificate()
    if (!certificate || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next()
    ctx.status = 200
    ctx.set('cache-control', 'no-store')
    ctx.set('x-content-type-options', 'nosniff')
    ctx.set('access-control-allow-origin', '*')
    // Safari installs a profile that it opens, and only stores one that is an attachment.
    if (!isProfile) ctx.set('content-disposition', 'attachment; filename="hearth-ca.crt"')
    ctx.set('content-type', isProfile ? 'application/x-apple-aspen-config' : 'application/x-x509-ca-cert')
    ctx.body = isProfile ? Buffer.from(iosProfile(certificate)) : certificate.raw
  }
}
