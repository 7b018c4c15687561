import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { type CookieStore, signIn } from '../../main/sign-in.ts'
import { texts } from '../../main/texts.ts'

type Cookie = Parameters<CookieStore['set']>[0]

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

interface Answer {
  status: number
  headers?: Record<string, string | string[]>
}

/** A loopback stand-in for the server's one endpoint that the shell calls. */
async function serve(answer: Answer) {
  const requests: { url: string; method: string; headers: IncomingMessage['headers']; body: string }[] = []
  const server = createServer(async (request, response) => {
    requests.push({ url: request.url ?? '', method: request.method ?? '', headers: request.headers, body: await text(request) })
    response.writeHead(answer.status, answer.headers).end()
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

async function signInAt(url: string) {
  const kept: Cookie[] = []
  await signIn(url, { ticket: async () => 'single-use', cookies: { set: async (cookie) => void kept.push(cookie) } })
  return kept
}

test('the ticket travels in the body and the session cookie is put where no script reads it', async () => {
  const cookies = ['theme=dark; Path=/', 'hearth_session=abc=.def; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000', 'hearth_device=no']
  const { url, requests } = await serve({ status: 204, headers: { 'set-cookie': cookies } })
  const kept = await signInAt(url)
  expect(requests).toHaveLength(1)
  expect(requests[0]).toMatchObject({ url: '/api/auth/desktop', method: 'POST', body: '{"ticket":"single-use"}' })
  expect(requests[0]?.headers['content-type']).toBe('application/json')
  expect(kept).toEqual([{ url, name: 'hearth_session', value: 'abc=.def', path: '/', httpOnly: true, secure: false, sameSite: 'lax' }])
})

test.each<[string, Answer]>([
  ['refused', { status: 401 }],
  ['without a session cookie', { status: 204, headers: { 'set-cookie': 'other=1' } }],
  ['with a cookie but an error', { status: 500, headers: { 'set-cookie': 'hearth_session=x' } }],
])('an answer %s signs nobody in', async (_name, answer) => {
  const { url } = await serve(answer)
  await expect(signInAt(url)).rejects.toThrow(texts.signInFailed)
})

test('the ticket does not follow a redirect', async () => {
  const elsewhere = await serve({ status: 204, headers: { 'set-cookie': 'hearth_session=stolen' } })
  const { url } = await serve({ status: 307, headers: { location: `${elsewhere.url}/api/auth/desktop` } })
  await expect(signInAt(url)).rejects.toThrow()
  expect(elsewhere.requests).toHaveLength(0)
})
