import { join } from 'node:path'
import { type Load, load } from './support/load.ts'
import { interleave, median, report } from './support/measure.ts'
import { credentials, startPeer, startServer } from './support/server-process.ts'

/** Small JSON reads, authentication and revocation check included, against bare servers that answer the same. */
const ROUNDS = 7
const MS = 1_500
const peer = (name: string) => startPeer(join(import.meta.dirname, 'support', `peer-${name}.ts`), 0)

const [hearth, fastify, koa] = await Promise.all([startServer({ core: 0 }), peer('fastify'), peer('koa')])
const { accessToken } = await credentials(hearth)
const headers = { authorization: `Bearer ${accessToken}` }
const run =
  (server: { url: string; pid: number }, path: string, extra: Record<string, string> = {}) =>
  () =>
    load({ ...server, url: server.url + path, connections: 64, ms: MS, headers: extra })

const contenders = {
  fastify: run(fastify, '/api/status'),
  koa: run(koa, '/api/status'),
  status: run(hearth, '/api/status'),
  authenticated: run(hearth, '/api/household', headers),
}
await interleave(1, contenders) // warms all of them up
const results = await interleave(ROUNDS, contenders)
const ratio = (ours: Load[], theirs: Load[]) => median(ours.map(({ rate }, round) => rate / (theirs[round]?.rate ?? Number.NaN)))
const cpu = (ours: Load[], theirs: Load[]) => median(theirs.map((other) => other.cpu)) / median(ours.map((own) => own.cpu))

report('GET /api/status, requests a second over bare fastify', ratio(results.status, results.fastify), '≥ 0.5')
report('GET /api/status, requests a second over koa + router', ratio(results.status, results.koa), '≥ 1.0')
report('GET /api/status, requests per CPU second over bare fastify', cpu(results.status, results.fastify), '≥ 0.5')
report('GET /api/status, requests per CPU second over koa + router', cpu(results.status, results.koa), '≥ 1.0')
report('authenticated read, requests a second over bare fastify', ratio(results.authenticated, results.fastify), '≥ 0.5')
report('authenticated read, requests a second over koa + router', ratio(results.authenticated, results.koa), '≥ 1.0')
report('authenticated read, requests per CPU second over bare fastify', cpu(results.authenticated, results.fastify), '≥ 0.5')
report('authenticated read, requests per CPU second over koa + router', cpu(results.authenticated, results.koa), '≥ 1.0')
await Promise.all([hearth.stop(), fastify.stop(), koa.stop()])
