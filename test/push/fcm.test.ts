import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, type AgentOptions, createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { PushTarget } from '../../server/modules/notifications/pushers.ts'
import type { PushersDeps } from '../../server/modules/push/pushers.ts'
import { answer, bodyOf, device, message, pushersWith } from './push-setup.ts'

interface Sent {
  token: string
  notification: { title: string; body: string }
  data: Record<string, string>
  android: Record<string, unknown>
  apns: Record<string, unknown>
}

const dir = mkdtempSync(join(tmpdir(), 'hearth-fcm-'))
let asked: { path: string; headers: IncomingMessage['headers']; sent: Sent }[]
let onSend: (sent: Sent, res: ServerResponse) => void
let port: number
let stops: (() => Promise<void>)[] = []

const took = (_sent: Sent, res: ServerResponse) => answer(res, 200, { name: 'projects/home/messages/1' })
const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
const subject = ['-subj', '/CN=fcm.googleapis.com', '-addext', 'subjectAltName=DNS:fcm.googleapis.com,DNS:oauth2.googleapis.com']
execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...subject], {
  stdio: 'ignore',
})
const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, async (req, res) => {
  const body = String(await bodyOf(req))
  if (req.url === '/token')
    return answer(
      res,
      200,
      { access_token: 'for a signature', expires_in: 3600, token_type: 'Bearer' },
      { 'content-type': 'application/json' },
    )
  const { message: sent } = JSON.parse(body) as { message: Sent }
  asked.push({ path: req.url ?? '', headers: req.headers, sent })
  onSend(sent, res)
})

/** Leads every connection to the server of this test, which has a certificate for Google’s name. */
class ToTest extends Agent {
  override createConnection(options: AgentOptions & { servername?: string }, then: never) {
    return super.createConnection({ ...options, host: '127.0.0.1', port } as never, then)
  }
}

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
beforeEach(() => {
  asked = []
  onSend = took
})
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()))
  stops = []
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true, force: true })
})

function start(deps: Partial<PushersDeps> = {}) {
  const credential = { getAccessToken: async () => ({ access_token: 'of a service account', expires_in: 3600 }) }
  const fcm = { credential, projectId: 'home', httpAgent: new ToTest({ ca: readFileSync(cert) }) }
  const pushers = pushersWith({ fcm, ...deps })
  stops.push(pushers.stop)
  return pushers
}
const phone = (name: string): PushTarget => device('fcm', name)
const failure = (status: string, errorCode?: string, text = 'no') => ({
  error: {
    status,
    message: text,
    ...(errorCode && { details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }] }),
  },
})

test('a notification travels with its category, data and urgency, for Android and for iOS', async () => {
  const pushers = start()
  const [bins, smoke] = [
    message({ title: 'Bins', category: 'BACKUP_COMPLETE', data: { from: 'Ada', 'google.x': '1' } }),
    message({ title: 'Smoke', level: 'critical', seq: undefined }),
  ]
  expect(await pushers.push(phone('a'), bins)).toBe('sent')
  expect(await pushers.push(phone('b'), smoke)).toBe('sent')
  expect(asked[0]).toMatchObject({ path: '/v1/projects/home/messages:send', headers: { authorization: 'Bearer of a service account' } })
  expect(asked[0]?.sent).toMatchObject({
    token: 'a',
    notification: { title: 'Bins', body: 'is ready' },
    data: { id: bins.id, level: 'info', category: 'BACKUP_COMPLETE', seq: '1', data: '{"from":"Ada","google.x":"1"}' },
    android: { priority: 'normal', ttl: '604800s', notification: { tag: bins.id, click_action: 'BACKUP_COMPLETE' } },
    apns: { headers: { 'apns-priority': '5', 'apns-collapse-id': bins.id }, payload: { aps: { category: 'BACKUP_COMPLETE' } } },
  })
  expect(asked[1]?.sent).toMatchObject({ android: { priority: 'high' }, apns: { headers: { 'apns-priority': '10' } } })
  expect(Object.values(asked[1]?.sent.data ?? {}).every((value) => typeof value === 'string')).toBe(true)
})

const answers: [string, 'dead-token' | 'retry', number, unknown][] = [
  ['an app that was removed', 'dead-token', 404, failure('NOT_FOUND', 'UNREGISTERED')],
  [
    'a token that is none',
    'dead-token',
    400,
    failure('INVALID_ARGUMENT', 'INVALID_ARGUMENT', 'The registration token is not a valid FCM registration token'),
  ],
  [
    'a message that Google does not like',
    'retry',
    400,
    failure('INVALID_ARGUMENT', 'INVALID_ARGUMENT', 'Invalid value at message.android'),
  ],
  ['another project’s token', 'retry', 403, failure('PERMISSION_DENIED', 'SENDER_ID_MISMATCH')],
  ['a service account without rights', 'retry', 401, failure('UNAUTHENTICATED', 'THIRD_PARTY_AUTH_ERROR')],
  ['too many', 'retry', 429, failure('RESOURCE_EXHAUSTED', 'QUOTA_EXCEEDED')],
  ['a 500', 'retry', 500, failure('INTERNAL', 'INTERNAL')],
  ['a 404 in HTML', 'retry', 404, '<html>Not Found</html>'],
  ['garbage', 'retry', 200, '\0not json'],
  ['nothing at all', 'retry', 200, ''],
]
test.each(answers)('%s means %s', async (_name, outcome, status, body) => {
  onSend = (sent, res) => (sent.token === 'well' ? took(sent, res) : answer(res, status, body))
  const pushers = start()
  expect(await pushers.push(phone('a'), message())).toBe(outcome)
  expect(await pushers.push(phone('well'), message())).toBe('sent')
})

test('a phone about which Google asks to wait is left alone for that long, the others are not', async () => {
  onSend = (sent, res) =>
    sent.token === 'a' ? answer(res, 429, failure('RESOURCE_EXHAUSTED', 'QUOTA_EXCEEDED'), { 'retry-after': '2' }) : took(sent, res)
  const pushers = start()
  expect(await pushers.push(phone('a'), message())).toBe('retry')
  onSend = took
  expect(await pushers.push(phone('a'), message())).toBe('retry')
  expect(asked).toHaveLength(1)
  expect(await pushers.push(phone('b'), message())).toBe('sent')
  await vi.waitFor(async () => expect(await pushers.push(phone('a'), message())).toBe('sent'), { timeout: 10_000, interval: 100 })
})

test('silence is given up in time; what is still under way is waited for, not sent twice', async () => {
  const held: ServerResponse[] = []
  onSend = (_sent, res) => void held.push(res)
  const pushers = start({ waitMs: 300 })
  const [one, tea] = [phone('a'), message()]
  expect(await pushers.push(one, tea)).toBe('retry')
  const again = pushers.push(one, tea)
  await vi.waitFor(() => expect(held).toHaveLength(1))
  for (const res of held) answer(res, 200, { name: '1' })
  expect(await again).toBe('sent')
  expect(asked).toHaveLength(1)
})

test('a service account that cannot be read is said without what is in it, and read again once it is mended', async () => {
  const path = join(dir, 'account.json')
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const env = { CLOUD_MESSAGING_SERVICE_ACCOUNT: path }
  const httpAgent = new ToTest({ ca: readFileSync(cert) })
  const pushers = pushersWith({ env, fcm: { httpAgent }, log })
  stops.push(pushers.stop)
  expect(await pushers.push(phone('a'), message())).toBe('retry')
  writeFileSync(path, 'a key that is half')
  expect(await pushers.push(phone('a'), message())).toBe('retry')
  expect(lines.join()).toContain('cannot be read as a service account')
  expect(lines.join()).not.toContain('half')

  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  writeFileSync(
    path,
    JSON.stringify({ type: 'service_account', project_id: 'home', client_email: 'hearth@home.example', private_key: privateKey }),
  )
  expect(await pushers.push(phone('a'), message()), lines.join()).toBe('sent')
  expect(asked.at(-1)).toMatchObject({ path: '/v1/projects/home/messages:send', headers: { authorization: 'Bearer for a signature' } })
})

test('without a service account nothing goes out, which is said once', async () => {
  const lines: string[] = []
  const pushers = pushersWith({ log: pino({}, { write: (line: string) => void lines.push(line) }) })
  for (const name of ['a', 'b', 'c']) expect(await pushers.push(phone(name), message())).toBe('retry')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('CLOUD_MESSAGING_SERVICE_ACCOUNT')
})

test('what a gateway says of a token does not show in the log', async () => {
  const lines: string[] = []
  onSend = (sent, res) => answer(res, 500, failure('INTERNAL', 'INTERNAL', `${sent.token} ${'is broken '.repeat(1000)}`))
  const pushers = start({ log: pino({}, { write: (line: string) => void lines.push(line) }) })
  expect(await pushers.push(phone('a-token-of-a-phone'), message())).toBe('retry')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('is broken')
  expect(lines[0]).not.toContain('a-token-of-a-phone')
  expect(lines[0]?.length).toBeLessThan(600)
})
