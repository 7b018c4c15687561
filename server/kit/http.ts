import type { IncomingMessage, ServerResponse } from 'node:http'
import findMyWay from 'find-my-way'
import type { Context, Middleware } from 'koa'
import type { z } from 'zod'
import { readJson, readUpload } from './body.ts'
import type { Caller } from './caller.ts'
import type { EndpointSpec, Limit } from './endpoint.ts'
import { AppError, detailsOf, invalid, notFound, unauthorized } from './errors.ts'
import { checkAccess, checkHost, checkSetup, checkSite } from './gate.ts'
import type { Logger } from './log.ts'
import type { OwnHosts } from './own-hosts.ts'
import type { RateLimit } from './rate-limit.ts'
import { createReply } from './reply.ts'
import type { FactsReader, RequestFacts } from './request-facts.ts'
import type { AnyHandler, RouteSet } from './routes.ts'

/** Finds out who asks. A credential that is present but not valid gives null, as none does. */
export type Authenticate = (facts: RequestFacts) => Caller | null | Promise<Caller | null>

export interface HttpDeps {
  routes: RouteSet[]
  authenticate: Authenticate
  readFacts: FactsReader
  ownHosts: OwnHosts
  isSetUp(): boolean
  publicUrl(): string | null
  /** Buckets per address for the narrow limits; `general` is per credential, or address where there is none. */
  limits: Record<Exclude<Limit, 'free'> | 'general', RateLimit>
  /** Turns failures of the database and the disk into expected ones; anything else comes back unchanged. */
  translate(error: unknown): unknown
  uploadsPath: string
  log: Logger
}

interface Route {
  spec: EndpointSpec
  handler: AnyHandler
}

type Match = { methods: Map<string, Route>; params: Record<string, string | undefined> }

/**
 * Routes are found by find-my-way's radix tree instead of @koa/router, which tries its routes one after the other on
 * every request; pages, of which there are few, use @koa/router.
 */
function createFinder(sets: RouteSet[]): (path: string) => Match | null {
  const byPath = new Map<string, Map<string, Route>>()
  for (const { contract, handlers } of sets) {
    for (const [name, spec] of Object.entries(contract) as [string, EndpointSpec][]) {
      const handler = handlers[name]
      if (!handler || !spec.access) throw new Error(`${spec.method} ${spec.path} declares no ${handler ? 'audience' : 'handler'}`)
      const methods = byPath.get(spec.path) ?? new Map<string, Route>()
      if (methods.has(spec.method)) throw new Error(`${spec.method} ${spec.path} is declared twice`)
      byPath.set(spec.path, methods.set(spec.method, { spec, handler }))
    }
  }
  const tree = findMyWay({ caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: 200 })
  for (const [path, methods] of byPath) tree.on('GET', path.replace(/\{(\w+)\}/g, ':$1'), () => undefined, methods)
  const fixed = new Map([...byPath].filter(([path]) => !path.includes('{')).map(([path, methods]) => [path, { methods, params: {} }]))
  return (path) => {
    const known = fixed.get(path)
    if (known) return known
    const found = tree.find('GET', path)
    // `/api/keys/` is no key without a name, but an address that nobody declared.
    return found && !path.endsWith('/') ? { methods: found.store as Map<string, Route>, params: found.params } : null
  }
}

function parse(part: string, schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw invalid(detailsOf(part, result.error))
}

/** A query as a record; a name given twice is a fault, since readers disagree about which one counts. */
function readQuery(search: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(search)) {
    if (name in query) throw invalid([{ path: `query.${name.slice(0, 50)}`, message: 'is given twice' }])
    query[name] = value
  }
  return query
}

/** HEAD is answered as GET without its body, except where GET changes something or streams. */
function pick(methods: Map<string, Route>, method: string): Route | undefined {
  const asked = methods.get(method)
  if (asked || method !== 'HEAD') return asked
  const read = methods.get('GET')
  return read?.spec.changes || read?.spec.kind === 'stream' ? undefined : read
}

const wrongMethod = (methods: Map<string, Route>) =>
  new AppError(405, 'method_not_allowed', 'This cannot be done here.', { headers: { allow: [...methods.keys()].join(', ') } })

function lazySignal(res: ServerResponse): () => AbortSignal {
  let controller: AbortController | undefined
  return () => {
    if (!controller) {
      const made = new AbortController()
      controller = made
      if (res.destroyed) made.abort()
      else res.once('close', () => !res.writableFinished && made.abort())
    }
    return controller.signal
  }
}

/** Under these nothing is a page. */
const ENDPOINTS = /^\/(?:api|v1|mcp)(?:[/?]|$)/

/** Koa middleware that serves every declared endpoint; other paths beside them are 404, or 401 without a credential. */
export function createHttp(deps: HttpDeps): Middleware {
  const { authenticate, readFacts, ownHosts, limits, log } = deps
  const find = createFinder(deps.routes)

  async function admit(facts: RequestFacts): Promise<{ route: Route; caller: Caller | null; params: Match['params'] }> {
    const match = find(facts.path)
    checkSetup(
      deps.isSetUp(),
      [...(match?.methods.values() ?? [])].some(({ spec }) => spec.beforeSetup),
      facts,
    )
    checkHost(facts, ownHosts)
    const found = authenticate(facts)
    const caller = found instanceof Promise ? await found : found
    const route = match ? pick(match.methods, facts.method) : undefined
    if (route?.spec.limit !== 'free') limits.general.take(caller?.sessionId ?? facts.address)
    if (!caller && !route) throw unauthorized()
    if (!match) throw notFound('This address')
    if (!route) throw wrongMethod(match.methods)
    const { limit } = route.spec
    if (limit && limit !== 'free') limits[limit].take(limit === 'webhook' ? facts.path : facts.address)
    checkAccess(route.spec, facts, caller, deps.publicUrl())
    checkSite(route.spec, facts, caller)
    return { route, caller, params: match.params }
  }

  async function run(ctx: Context, facts: RequestFacts, answer: ReturnType<typeof createReply>): Promise<void> {
    const { route, caller, params } = await admit(facts)
    const { spec, handler } = route
    const input: Record<string, unknown> = {}
    if (spec.params) input.params = parse('params', spec.params, params)
    if (spec.query) input.query = parse('query', spec.query, facts.search === '' ? {} : readQuery(facts.search))
    const upload = spec.kind === 'upload' ? await readUpload(ctx, deps.uploadsPath) : null
    try {
      if (spec.body) input.body = parse('body', spec.body, upload ? upload.fields : await readJson(ctx))
      if (upload) input.files = upload.files
      const signal = lazySignal(ctx.res)
      const call = { caller, request: facts, reply: answer.reply, get signal() { return signal() } } // biome-ignore format: one line
      const given = handler(input as never, call as never)
      const result = given instanceof Promise ? await given : given
      if (ctx.res.headersSent || spec.kind === 'stream') return
      const returned = spec.returns.parse(result)
      if (returned === undefined) answer.empty(answer.reply.status ?? 204)
      else answer.json(answer.reply.status ?? spec.status ?? 200, returned)
    } finally {
      await upload?.clear()
    }
  }

  function fail(error: unknown, facts: RequestFacts, res: ServerResponse, answer: ReturnType<typeof createReply>): void {
    const known = deps.translate(error)
    const failure = known instanceof AppError ? known : new AppError(500, 'internal', 'Something went wrong.')
    const request = { requestId: facts.id, method: facts.method, path: facts.path }
    if (failure !== known) log.error({ err: known, ...request }, 'a bug failed a request')
    else if (failure.cause !== undefined) log.warn({ err: failure.cause, code: failure.code, ...request }, 'a request failed')
    else log.debug({ code: failure.code, ...request }, 'a request was refused')
    if (res.headersSent) res.destroy()
    else answer.failure(failure)
  }

  return async (ctx, next) => {
    const requestId = requestIdOf(ctx.req)
    if (!ENDPOINTS.test(ctx.req.url ?? '')) {
      ctx.set('x-request-id', requestId)
      return next()
    }
    ctx.respond = false
    const facts = readFacts(ctx.req, requestId)
    const answer = createReply(ctx.res, facts.id)
    try {
      await run(ctx, facts, answer)
    } catch (error) {
      fail(error, facts, ctx.res, answer)
    }
  }
}

const startedAt = Date.now().toString(36)
let counter = 0

/** Ids that are unique to this run of the server; cheaper than random ones and in order in the log. */
function requestIdOf(_req: IncomingMessage): string {
  counter += 1
  return `${startedAt}-${counter.toString(36)}`
}
