import { afterAll, beforeAll, expect, test } from 'vitest'
import { askWithCookie, json, readLink } from '../support/credentials.ts'
import type { Browser, House } from '../support/house.ts'
import { CLIENT, type FakeProvider, idpEnv, startFakeProvider, tokenAnswer } from '../support/identity-provider.ts'
import { type Endpoint, listen } from '../support/listener.ts'
import { occurrences, secretOf } from '../support/on-disk.ts'
import { dataRoot, PASSWORD, type ServerProcess, startServer } from '../support/process.ts'
import { exchange, rawRequest } from '../support/raw-http.ts'
import { openSocket } from '../support/socket-client.ts'

const LLM_KEY = 'sk-the-key-of-a-model-host'
const TYPO = 'a mistyped password'
const NEXT = 'the password after that'
const QUERY_SECRET = 'a-secret-somebody-put-into-a-query'
const SAID = 'what was said in confidence'

/** Everything that must be read nowhere, by what it is. */
const secrets: Record<string, string> = {
  password: PASSWORD,
  typo: TYPO,
  'new password': NEXT,
  'model host key': LLM_KEY,
  'client secret': CLIENT.secret,
  'query secret': QUERY_SECRET,
}

let root: ReturnType<typeof dataRoot>
let idp: FakeProvider
let model: Endpoint
let server: ServerProcess
let owner: Browser
beforeAll(async () => {
  root = dataRoot()
  idp = await startFakeProvider()
  model = await listen((_req, res) => void res.writeHead(500).end('{"error":"no"}'))
  const env = { ...idpEnv(idp.issuer), SERVICE_LOG_LEVEL: 'trace', SERVICE_LLM_BASE_URL: `${model.url}/v1` }
  server = await startServer(root.path, { env })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await idp[Symbol.asyncDispose]()
  await model[Symbol.asyncDispose]()
  root[Symbol.dispose]()
})

/** What the helpers for a house need of this process. */
const house = (): House => ({ url: server.url, stranger: server.stranger }) as House
const wait = () => new Promise((resolve) => setTimeout(resolve, 100))

async function setUpAndSignIn(): Promise<void> {
  const pin = /^Setup PIN: (\d{6})$/m.exec(server.stdout())?.[1] ?? ''
  const wrong = String((Number(pin) + 1) % 1_000_000).padStart(6, '0')
  const body = { pin: wrong, owner: { name: 'Ada', password: PASSWORD } }
  expect((await server.stranger().fetch('/api/setup', json(body))).status).toBe(401)
  owner = await server.setUp()
  for (const password of [TYPO, PASSWORD]) {
    const answer = await server.stranger().fetch('/api/auth/local', json({ password }))
    const value = answer.headers.getSetCookie()[0]?.split(';')[0]?.split('=')[1]
    if (value) Object.assign(secrets, { 'session cookie': value, 'its random part': value.split('.')[2] ?? '' })
  }
  await owner.api.auth.password({ body: { current: PASSWORD, next: NEXT } })
  await owner.api.settings.update({ body: { SERVICE_LLM_API_KEY: LLM_KEY } })
  secrets['owner’s cookie'] = owner.jar.get('hearth_session') ?? ''
  for (const name of ['AUTH_SECRET', 'SERVICE_JWT_SECRET', 'SERVICE_SECRETS_KEY']) secrets[name] = secretOf(root.path, name)
}

async function pairAndTalk(): Promise<void> {
  const { qr } = await owner.api.pairing.start({ body: {} })
  const link = readLink(qr)
  const deviceInfo = {
    name: 'Evil\r\n{"level":"fatal"}\u001b[31m phone',
    type: 'phone' as const,
    push: { provider: 'fcm' as const, token: 'a push token' },
  }
  await server.stranger().fetch('/api/auth/pair/complete', json({ code: link.code, secret: 'wrong', deviceInfo }))
  const { accessToken, refreshToken, device } = await server
    .stranger()
    .api.pairing.complete({ body: { code: link.code, secret: link.secret, deviceInfo } })
  const bearer = (token: string, path: string, init: RequestInit = {}) =>
    server.stranger().fetch(path, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } })
  const next = (await (await bearer(refreshToken, '/api/auth/refresh', { method: 'POST' })).json()) as {
    refreshToken: string
    accessToken: string
  }
  const { key, id } = await owner.api.keys.create({ body: { label: 'key', scope: 'member' } })
  Object.assign(secrets, {
    code: link.code,
    'pairing secret': link.secret,
    'access token': accessToken.split('.')[2],
    'refresh token': refreshToken,
    successor: next.refreshToken,
    'API key': key.slice(3),
  })

  const browser = await owner.api.pairing.start({ body: { scope: 'guest' } }).then(({ qr: other }) => readLink(other))
  const paired = await server
    .stranger()
    .fetch('/api/auth/pair/browser', json({ code: browser.code, secret: browser.secret, deviceInfo: { name: 'TV', type: 'tv' } }))
  const cookie = paired.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  secrets['device cookie'] = cookie.split('=')[1] ?? ''
  const tv = (await (await server.stranger().fetch('/api/auth/pair/request', json({ deviceInfo: { name: 'TV', type: 'tv' } }))).json()) as {
    id: string
    userCode: string
    pollSecret: string
  }
  secrets['poll secret'] = tv.pollSecret
  await server.stranger().fetch(`/api/auth/pair/request/${tv.id}`, json({ pollSecret: tv.pollSecret }))

  for (const token of [key, next.accessToken]) await bearer(token, '/api/chat', json({ message: SAID }))
  await askWithCookie(house(), cookie)('/api/chat', json({ message: SAID }))
  await owner.api.keys.revoke({ params: { id } })
  await bearer(key, '/api/chat')
  for (const path of ['/ws', '/ws/iot', '/nothing']) {
    for (const token of [next.accessToken, QUERY_SECRET]) {
      const opened = await openSocket(`${server.url}${path}?token=${token}`)
      if ('socket' in opened) opened.socket.terminate()
    }
    const offered = await openSocket(server.url + path, { protocols: ['bearer', next.accessToken] })
    if ('socket' in offered) offered.socket.terminate()
  }
  await bearer(refreshToken, '/api/auth/refresh', { method: 'POST' })
  await owner.api.pairedDevices.revoke({ params: { id: device.id } })
}

async function misuse(): Promise<void> {
  const ask = server.stranger().fetch
  for (const path of ['/api/keys', '/api/nothing', '/nothing', '/api/auth/callback', '/api/calendar.ics', '/login', '/pair']) {
    await ask(`${path}?token=${QUERY_SECRET}&key=${QUERY_SECRET}&code=${QUERY_SECRET}&state=${QUERY_SECRET}`, {
      headers: { referer: `${server.url}/x?token=${QUERY_SECRET}` },
    })
  }
  await ask('/api/auth/local', { method: 'POST', headers: { 'content-type': 'application/json' }, body: `{"password":"${TYPO}"` })
  await ask('/api/auth/local', json({ password: 1, [TYPO]: TYPO }))
  await ask('/api/auth/local', { method: 'POST', headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body: TYPO })
  await ask('/', { method: 'POST', body: TYPO })
  const lines = [`Host: ${new URL(server.url).host}`, `Authorization: Bearer ${QUERY_SECRET}\0`, `X: \x1b[31m`]
  await exchange(server.url, Buffer.from(rawRequest(`GET /api/%1b%5b31m%0a%7b HTTP/1.1`, lines), 'latin1'))
  await exchange(server.url, rawRequest(`GET /api/\u001b[31m?token=${QUERY_SECRET} HTTP/1.1`, [lines[0] ?? '']))
}

async function signInAtProvider(): Promise<void> {
  const host = `localhost:${server.port}`
  const now = Math.floor(Date.now() / 1000)
  for (const make of [
    () => 'no.id.token',
    (nonce: string) =>
      idp.sign(
        { iss: idp.issuer, aud: CLIENT.id, sub: 'x', nonce, iat: now, exp: now + 60, email: 'a@x.com', email_verified: true },
        {},
        idp.strangersKey,
      ),
    null,
  ]) {
    const begun = await server.stranger().fetch('/api/auth/login', { headers: { host } })
    const query = new URL(begun.headers.get('location') ?? '').searchParams
    const code = `a code of the provider ${query.get('state')}`
    const idToken = make ? await make(query.get('nonce') ?? '') : undefined
    if (make) idp.tokens.set(code, tokenAnswer(idToken))
    const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const answer = await server
      .stranger()
      .fetch(`/api/auth/callback?${new URLSearchParams({ code, state: query.get('state') ?? '' })}`, { headers: { host, cookie } })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    Object.assign(secrets, {
      [`code ${code}`]: code,
      [`encoded ${code}`]: encodeURIComponent(code),
      [`login cookie ${code}`]: cookie.split('=')[1] ?? '',
      ...(idToken && { [`ID token ${code}`]: idToken }),
    })
  }
}

test('nothing that opens a door is in the log or, in clear, on the disk', async () => {
  await setUpAndSignIn()
  await pairAndTalk()
  await misuse()
  await signInAtProvider()
  await owner.api.settings.get()
  expect(Object.values(secrets).every((secret) => secret.length >= 8)).toBe(true)
  await wait()

  const onDisk = (): string[] =>
    occurrences(root.path, secrets).filter((found) => !/^secrets\.env: (AUTH_SECRET|SERVICE_\w+|model host key)$/.test(found))
  expect(onDisk()).toEqual([])
  const { stdout, stderr, status } = await server.stop()
  expect(status).toBe(0)
  expect(onDisk()).toEqual([])
  expect(occurrences(root.path, { said: SAID })).not.toEqual([])

  for (const [what, secret] of Object.entries({ ...secrets, said: SAID })) {
    expect(stderr.includes(secret), `${what} in the log`).toBe(false)
    expect(stdout.includes(secret), `${what} in the output`).toBe(false)
  }
  expect(stderr).not.toMatch(/\b(token|key)=(?!\[redacted\])[\w-]/)

  const pin = /^Setup PIN: (\d{6})$/m.exec(stdout)?.[1] ?? ''
  expect(stdout.split(pin)).toHaveLength(2)
  expect(
    stdout
      .replace(/^Setup PIN: \d{6}$/m, 'Setup PIN')
      .trim()
      .split('\n'),
  ).toEqual(['Setup PIN', expect.stringMatching(/^Hearth ready on http:\/\/\S+$/)])
  const lines = stderr.trim().split('\n')
  expect(lines.length).toBeGreaterThan(15)
  for (const line of lines) {
    expect(() => JSON.parse(line), line.slice(0, 200)).not.toThrow()
    expect(line).not.toContain('\u001b')
  }
})
