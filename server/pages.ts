import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Router from '@koa/router'
import type { Context, Middleware } from 'koa'
import sirv from 'sirv'
import { AppError } from './kit/errors.ts'
import { isLocalPeer, setupLoopbackOnly } from './kit/gate.ts'
import type { FactsReader, RequestFacts } from './kit/request-facts.ts'

const PAGES = ['/', '/login', '/chat', '/chat/:id', '/paired-devices', '/settings', '/pair', '/docs']

/** Pages run our own scripts alone, are framed by nobody, and post nowhere else. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'geolocation=(), payment=(), usb=()',
}

export interface PagesDeps {
  /** The built window: `index.html` and its assets. */
  root: string
  isSetUp(): boolean
  readFacts: FactsReader
  /** What `/login` may offer to this browser, as attributes of its `hearth-sign-in` meta element. */
  signIn(facts: RequestFacts): { content: string; at: string }
}

const NOT_BUILT = '<!doctype html><title>Hearth</title><p>The window of Hearth is not built yet. Run <code>npm start</code>.</p>'
const inAttribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** Serves the window: its pages, which are all one document, and its files, which never change under their name. */
export function createPages({ root, isSetUp, readFacts, signIn }: PagesDeps): Middleware {
  const index = existsSync(join(root, 'index.html')) ? readFileSync(join(root, 'index.html'), 'utf8') : NOT_BUILT
  const files = existsSync(root)
    ? sirv(root, {
        // looks at the disk each time: its list made at the start would end the server once a file of it is gone
        dev: true,
        etag: true,
        extensions: [],
        setHeaders(res, path) {
          for (const [name, value] of Object.entries(PAGE_HEADERS)) res.setHeader(name, value)
          res.setHeader('cache-control', path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
        },
      })
    : null

  function sendPage(ctx: Context, status: number): void {
    const facts = readFacts(ctx.req, '')
    const { content, at } = signIn(facts)
    ctx.status = status
    ctx.set(PAGE_HEADERS)
    ctx.set('cache-control', 'no-cache')
    ctx.type = 'html'
    ctx.body = index.replace('<head>', `<head><meta name="hearth-sign-in" content="${inAttribute(content)}" data-at="${inAttribute(at)}">`)
  }

  function sendFailure(ctx: Context, { status, code, message }: AppError): void {
    ctx.status = status
    ctx.set(PAGE_HEADERS)
    ctx.body = { error: message, code, requestId: ctx.response.get('x-request-id') }
  }

  /** Until the house is set up, every page but the wizard is closed; the document finds its way to it. */
  const sendClosed = (ctx: Context) => sendPage(ctx, ctx.path === '/setup' ? 200 : 503)

  const router = new Router()
  router.get(PAGES, (ctx) => (isSetUp() ? sendPage(ctx, 200) : sendClosed(ctx)))

  const serveFile = (ctx: Context): Promise<boolean> =>
    new Promise((resolve) => {
      if (!files || (ctx.method !== 'GET' && ctx.method !== 'HEAD') || ctx.path === '/index.html') return resolve(false)
      ctx.res.statusCode = 200
      ctx.res.once('close', () => resolve(true))
      files(ctx.req, ctx.res, () => resolve(false))
    })

  const find = router.routes()
  return async (ctx, next) => {
    if (!isSetUp() && !isLocalPeer(readFacts(ctx.req, ''))) return sendFailure(ctx, setupLoopbackOnly())
    await find(ctx as Parameters<typeof find>[0], async () => {
      ctx.respond = false
      if (await serveFile(ctx)) return
      ctx.respond = true
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
        ctx.set('allow', 'GET, HEAD')
        sendFailure(ctx, new AppError(405, 'method_not_allowed', 'This is only to be read.'))
      } else if (isSetUp()) sendPage(ctx, 404)
      else sendClosed(ctx)
    })
    await next()
  }
}
