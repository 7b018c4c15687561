import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { json, pairBrowser } from '../support/credentials.ts'
import { type Browser, type Device, type House, OWNER_PASSWORD, startHouse } from '../support/house.ts'
import { exchange, openRaw, rawRequest } from '../support/raw-http.ts'
import { connectSocket, expectTalking, type OpenOptions, refuseSocket, type SocketClient, talking } from '../support/socket-client.ts'

let house: House
let owner: Browser
let phone: Device
beforeAll(async () => {
  house = await startHouse()
  owner = await house.owner()
  phone = await house.pair('Phone', 'member')
})
afterAll(() => house[Symbol.asyncDispose]())
afterEach(() => void vi.useRealTimers())

const at = (path: string) => house.url + path

const withToken = (token: string) => connectSocket(at(`/ws?token=${token}`))

const ofOwner = (cookie = owner.jar.header()): OpenOptions => ({ headers: { cookie, origin: house.url } })

test('every way to bring a token works, and is answered as browsers want it', async () => {
  const byQuery = await talking(withToken(phone.accessToken))
  const byProtocol = await talking(connectSocket(at('/ws'), { protocols: ['bearer', phone.accessToken] }))
  expect(byProtocol.socket.protocol).toBe('bearer')
  const bare = await talking(connectSocket(at('/ws'), { protocols: [phone.accessToken] }))
  expect(bare.socket.protocol).toBe(phone.accessToken)
  const byCookie = await connectSocket(at('/ws'), ofOwner())
  byCookie.send({ type: 'hello' })
  expect((await byCookie.next('welcome')).payload).toMatchObject({ scope: 'admin', seq: expect.any(Number) })
  const byDeviceCookie = await talking(connectSocket(at('/ws'), ofOwner(await pairBrowser(house, 'Browser', 'guest'))))
  const { key } = await owner.api.keys.create({ body: { label: 'socket', scope: 'guest' } })
  const byKey = await talking(withToken(key))
  for (const { socket } of [byQuery, byProtocol, bare, byCookie, byDeviceCookie, byKey]) {
    expect(socket.extensions).toBe('')
    socket.close()
  }
})

test('a bad credential is a 401 on the upgrade, never a socket that closes', async () => {
  const lost = await house.pair('Lost', 'member')
  await owner.api.pairedDevices.revoke({ params: { id: lost.id } })
  const [head = '', body = ''] = phone.accessToken.split('.')
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  const bad: Record<string, [string, OpenOptions]> = {
    nothing: ['/ws', {}],
    'an empty token': ['/ws?token=', {}],
    rubbish: ['/ws?token=x', {}],
    'no signature': [`/ws?token=${head}.${body}.`, {}],
    'alg none': [`/ws?token=${none}.${body}.`, {}],
    'a refresh token': [`/ws?token=${phone.refreshToken}`, {}],
    revoked: [`/ws?token=${lost.accessToken}`, {}],
    'an unknown key': ['/ws?token=hk_x', {}],
    'rubbish as protocol': ['/ws', { protocols: ['bearer', 'x'] }],
    'only the word bearer': ['/ws', { protocols: ['bearer'] }],
    'a wrong cookie': ['/ws', ofOwner('hearth_session=x')],
    'a bad token beside a good cookie': ['/ws?token=x', ofOwner()],
    'a bad header beside a good cookie': ['/ws', { headers: { ...ofOwner().headers, authorization: 'Bearer x' } }],
    'two other protocols': ['/ws', { protocols: ['a', phone.accessToken] }],
  }
  for (const [about, [path, options]] of Object.entries(bad)) {
    const { status, body: text, headers } = await refuseSocket(at(path), options)
    expect(status, about).toBe(401)
    expect(JSON.parse(text), about).toEqual({ error: 'Unauthorized' })
    expect(headers['x-request-id'], about).toMatch(/^[\w-]{3,}$/)
  }
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.now() + 901_000)
  expect((await refuseSocket(at(`/ws?token=${phone.accessToken}`))).status).toBe(401)
})

test('two tokens are refused, and so is any other path', async () => {
  const twice = await refuseSocket(at(`/ws?token=${phone.accessToken}&token=x`))
  expect(twice.status).toBe(400)
  expect(JSON.parse(twice.body)).toMatchObject({
    error: expect.any(String),
    code: 'validation_failed',
    requestId: twice.headers['x-request-id'],
  })
  const { host } = new URL(house.url)
  const upgrade = (target: string, headers: string[] = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==']) =>
    exchange(
      house.url,
      `${[`GET ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket', ...headers].join('\r\n')}\r\n\r\n`,
    )
  for (const path of [
    '/WS',
    '/ws/',
    '//ws',
    '/ws/../ws',
    '/ws/../ws/iot',
    '/ws/iot/../',
    '/w%73',
    '/ws;x',
    '/ws%00',
    '/',
    '/api/ws',
    '/ws2',
    `http://${host}/ws`,
  ]) {
    const { status, text } = await upgrade(`${path}?token=${phone.accessToken}`)
    expect(status, `${path}: ${text.slice(0, 100)}`).toBe(404)
  }
  expect((await upgrade(`/ws?token=${phone.accessToken}`, [])).status).toBe(400)
  expect([400, 426]).toContain(
    (await upgrade(`/ws?token=${phone.accessToken}`, ['Sec-WebSocket-Version: 7', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='])).status,
  )
  expect((await upgrade(`/ws?token=${phone.accessToken}`, ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: short'])).status).toBe(400)
  const many = await exchange(
    house.url,
    rawRequest('GET /ws HTTP/1.1', [`Host: ${host}`, 'Upgrade: websocket', ...Array.from({ length: 2_000 }, (_, n) => `X-${n}: a`)]),
  )
  expect(many.status).toBe(431)
})

test('a page of another site cannot open a socket with the owner’s cookie', async () => {
  const cookie = owner.jar.header()
  const device = await pairBrowser(house, 'Another browser', 'member')
  const { host } = new URL(house.url)
  const origins: (string | undefined)[] = [
    'https://evil.example',
    'null',
    undefined,
    '',
    `http://${host}.evil.example`,
    `https://${host}`,
    'http://127.0.0.1',
    `http://evil.example@${host}`,
    'file://',
  ]
  for (const held of [cookie, device]) {
    for (const origin of origins) {
      const { status, body } = await refuseSocket(at('/ws'), { headers: { cookie: held, ...(origin !== undefined && { origin }) } })
      expect(status, String(origin)).toBe(403)
      expect(JSON.parse(body), String(origin)).toMatchObject({ code: 'cross_site', requestId: expect.any(String) })
    }
    const rebound = await refuseSocket(at('/ws'), { headers: { cookie: held, host: 'evil.example', origin: 'http://evil.example' } })
    expect(rebound.status).toBe(403)
    expect(JSON.parse(rebound.body)).toMatchObject({ code: 'unknown_host' })
    const proven = await refuseSocket(at('/ws'), { headers: { cookie: held, 'sec-fetch-site': 'same-origin' } })
    expect(proven.status).toBe(403)
  }
})

test('a socket outlives its access token, not its session', async () => {
  const tv = await house.pair('TV', 'member', 'tv')
  const client = await talking(withToken(tv.accessToken))
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.now() + 3_600_000)
  await expectTalking(client, 'after its token ended')
  vi.useRealTimers()
  await owner.api.pairedDevices.revoke({ params: { id: tv.id } })
  expect(await client.closed).toBe(4401)
})

test('whatever ends a credential ends its sockets with 4401, and no others', async () => {
  const bystander = await talking(withToken(phone.accessToken))
  const close = async (client: SocketClient, act: () => Promise<unknown>, about: string) => {
    await act()
    expect(await client.closed, about).toBe(4401)
  }
  const tablet = await house.pair('Tablet', 'admin', 'tablet')
  await close(
    await talking(withToken(tablet.accessToken)),
    () => owner.api.pairedDevices.update({ params: { id: tablet.id }, body: { scope: 'guest' } }),
    'another scope',
  )

  const stolen = await house.pair('Stolen', 'member')
  const stolenSocket = await talking(withToken(stolen.accessToken))
  const refresh = (token: string) => house.bearer(token).fetch('/api/auth/refresh', { method: 'POST' })
  const { refreshToken } = (await (await refresh(stolen.refreshToken)).json()) as { refreshToken: string }
  await refresh(refreshToken)
  await close(stolenSocket, () => refresh(stolen.refreshToken), 'a spent refresh token')

  const { key, id } = await owner.api.keys.create({ body: { label: 'socket', scope: 'admin' } })
  await close(await talking(withToken(key)), () => owner.api.keys.revoke({ params: { id } }), 'a revoked key')

  const browser = await pairBrowser(house, 'Leaving browser', 'member')
  const leave = () => house.stranger().fetch('/api/auth/logout', { method: 'POST', headers: { cookie: browser, origin: house.url } })
  await close(await talking(connectSocket(at('/ws'), ofOwner(browser))), leave, 'a browser that logged out')

  const one = await house.owner()
  await close(
    await talking(connectSocket(at('/ws'), ofOwner(one.jar.header()))),
    () => one.fetch('/api/auth/logout', { method: 'POST' }),
    'a logout',
  )
  const two = await house.owner()
  const { id: session = '' } = (await two.api.auth.sessions()).find(({ current }) => current) ?? {}
  await close(
    await talking(connectSocket(at('/ws'), ofOwner(two.jar.header()))),
    () => owner.api.auth.endSession({ params: { id: session } }),
    'an ended session',
  )
  const three = await house.owner()
  await close(
    await talking(connectSocket(at('/ws'), ofOwner(three.jar.header()))),
    () => owner.fetch('/api/auth/password', json({ current: OWNER_PASSWORD, next: OWNER_PASSWORD })),
    'a new password',
  )
  await expectTalking(bystander, 'bystander')
  bystander.socket.close()
})

test('connected devices are counted by device, and only devices', async () => {
  const tv = await house.pair('Counted TV', 'guest', 'tv')
  const connected = async () => (await house.stranger().api.status.get()).connectedDevices
  const isConnected = async () => (await owner.api.pairedDevices.list()).find(({ id }) => id === tv.id)?.isConnected
  const before = await connected()
  const sockets = [
    await talking(withToken(tv.accessToken)),
    await talking(withToken(tv.accessToken)),
    await talking(connectSocket(at('/ws'), ofOwner())),
  ]
  expect(await connected()).toBe(before + 1)
  expect(await isConnected()).toBe(true)
  for (const { socket, closed } of sockets) {
    socket.close()
    await closed
  }
  await vi.waitFor(async () => expect(await connected()).toBe(before))
  expect(await isConnected()).toBe(false)
})

test('before set-up there is no socket', async () => {
  const empty = await startHouse({ setUp: false })
  expect((await refuseSocket(`${empty.url}/ws?token=x`)).status).toBe(503)
  await empty[Symbol.asyncDispose]()
})

test('upgrades are limited like any other request', async () => {
  const limited = await startHouse({ env: { SERVICE_RATE_LIMIT: '20' } })
  try {
    const answers = await Promise.all(Array.from({ length: 100 }, () => refuseSocket(`${limited.url}/ws?token=x`, { from: '127.77.6.1' })))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThanOrEqual(1)
  } finally {
    await limited[Symbol.asyncDispose]()
  }
})

test('hundreds of upgrades that never finish leave the house alive, and its stop tells every socket', async () => {
  const half = await Promise.all(Array.from({ length: 200 }, () => openRaw(house.url)))
  for (const socket of half) socket.write('GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nSec-WebS')
  expect((await house.stranger().fetch('/api/status')).status).toBe(200)
  const clients = [await talking(withToken(phone.accessToken)), await talking(connectSocket(at('/ws'), ofOwner()))]
  const startedAt = performance.now()
  const codes = Promise.all(clients.map(({ closed }) => closed))
  await house.restart()
  expect(await codes).toEqual([1001, 1001])
  expect(performance.now() - startedAt).toBeLessThan(5_000)
  for (const socket of half) socket.destroy()
})
