import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import Router from '@koa/router'
import type { Context, Middleware } from 'koa'
import { AppError } from './kit/errors.ts'
import { isLocalPeer, setupLoopbackOnly } from './kit/gate.ts'
import type { FactsReader, RequestFacts } from './kit/request-facts.ts'

const PAGES = [
  '/',
  '/login',
  '/chat',
  '/chat/:id',
  '/calendar',
  '/todos',
  '/timers',
  '/notifications',
  '/household',
  '/memory',
  '/actions',
  '/models',
  '/paired-devices',
  '/settings',
  '/pair',
  '/docs',
  '/trust',
]

/** Pages run our own scripts alone, are framed by nobody, and post nowhere else. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
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

interface WindowFile {
  body: Buffer
  etag: string
}

/**
 * The files of the window by their address, less than a megabyte. They are read once: neither a rebuild nor a lack of
 * file handles takes one from a server that runs, and a stream of a file that cannot be opened would end it.
 */
function readFiles(root: string, folder = ''): Map<string, WindowFile> {
  const files = new Map<string, WindowFile>()
  const names = existsSync(root) ? readdirSync(join(root, folder)).filter((name) => !name.startsWith('.')) : []
  for (const name of names.map((last) => `${folder}/${last}`)) {
    if (statSync(join(root, name)).isDirectory()) for (const [address, file] of readFiles(root, name)) files.set(address, file)
    else {
      const body = readFileSync(join(root, name))
      files.set(name, { body, etag: createHash('sha256').update(body).digest('base64url') })
    }
  }
  return files
}

/** Serves the window: its pages, which are all one document, and its files, which never change under their name. */
export function createPages({ root, isSetUp, readFacts, signIn }: PagesDeps): Middleware {
  const files = readFiles(root)
  const index = files.get('/index.html')?.body.toString('utf8') ?? NOT_BUILT
  files.delete('/index.html')

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

  function sendFile(ctx: Context, { body, etag }: WindowFile): void {
    ctx.status = 200
    ctx.set(PAGE_HEADERS)
    ctx.set('cache-control', ctx.path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
    ctx.type = extname(ctx.path)
    ctx.etag = etag
    if (ctx.fresh) ctx.status = 304
    else ctx.body = body
  }

  const find = router.routes()
  return async (ctx, next) => {
    if (!isSetUp() && !isLocalPeer(readFacts(ctx.req, ''))) return sendFailure(ctx, setupLoopbackOnly())
    await find(ctx as Parameters<typeof find>[0], async () => {
      const file = files.get(ctx.path)
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
        ctx.set('allow', 'GET, HEAD')
        sendFailure(ctx, new AppError(405, 'method_not_allowed', 'This is only to be read.'))
      } else if (file) sendFile(ctx, file)
      else if (isSetUp()) sendPage(ctx, 404)
      else sendClosed(ctx)
    })
    await next()
  }
}
