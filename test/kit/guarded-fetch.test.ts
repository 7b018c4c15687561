import type { LookupAddress } from 'node:dns'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Lookup } from '../../server/kit/guarded-connect.ts'
import { createGuardedFetch } from '../../server/kit/guarded-fetch.ts'
import { isPublicAddress } from '../../server/kit/public-address.ts'
import { listen } from '../support/listener.ts'

/** Stands in for the internet; whatever else is on loopback is this machine. */
const OUTSIDE = '127.0.0.2'
/** Stands in for the home network. */
const NEAR = '127.0.0.3'
const names = new Map<string, string[][]>()
/** Answers by name; of several answers one after the other, then the last. */
const lookup: Lookup = (host, _options, then) => {
  const answers = names.get(host)
  const addresses = (answers && answers.length > 1 ? answers.shift() : answers?.[0]) ?? []
  const list: LookupAddress[] = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  then(list.length > 0 ? null : Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }), list)
}

let handle: (req: IncomingMessage, res: ServerResponse) => void
let asked: IncomingMessage[]
const outside = createServer((req, res) => {
  asked.push(req)
  handle(req, res)
})
let canaryOpened = 0
const canary = createTcpServer((socket) => {
  canaryOpened += 1
  socket.on('error', () => undefined)
})
let port: number
let canaryPort: number
beforeAll(async () => {
  await new Promise<void>((resolve) => void outside.listen(0, OUTSIDE, resolve))
  await new Promise<void>((resolve) => void canary.listen(0, '127.0.0.1', resolve))
  port = (outside.address() as AddressInfo).port
  canaryPort = (canary.address() as AddressInfo).port
})
afterAll(() => {
  outside.closeAllConnections()
  outside.close()
  canary.close()
})
beforeEach(() => {
  asked = []
  canaryOpened = 0
  handle = (_req, res) => void res.end('hello')
  names.clear()
  names.set('outside.test', [[OUTSIDE]])
})

const isPublic = (address: string) => address === OUTSIDE
const fetchOutside = createGuardedFetch({ allowLocal: false, lookup, isPublic })
const strict = createGuardedFetch({ allowLocal: false, lookup })
const blocked = { status: 403, code: 'address_blocked' }
const site = (path = '/') => `http://outside.test:${port}${path}`
const canarySite = (host = '127.0.0.1') => `http://${host}:${canaryPort}/`

test('addresses of the internet may be reached', () => {
  for (const address of ['1.1.1.1', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e'])
    expect(isPublicAddress(address), address).toBe(true)
})

const PRIVATE =
  `127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 192.0.0.8
  192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 ::1 :: fc00::1 fd12::1 fe80::1 fec0::1
  ff02::1 2001:db8::1 3fff::1 100::1 ::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:ffff:a9fe:a9fe ::7f00:1 ::127.0.0.1 64:ff9b::7f00:1
  64:ff9b:1::7f00:1 2002:7f00:1:: 2001:0:7f00:1:: 2001:0:4136:e378:8000:63bf:80ff:fffe 5f00::1 not-an-address`.split(/\s+/)
test.each(PRIVATE)('%s may not', (address) => expect(isPublicAddress(address)).toBe(false))

test('an address in the URL is refused in every spelling, before anything is sent', async () => {
  const hosts = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::7f00:1]',
    '0',
    'user@127.0.0.1',
    'user:pass@127.0.0.1',
    '%31%32%37.0.0.1',
    '127.0.0.1\t',
  ]
  for (const host of hosts) await expect(strict(canarySite(host)), host).rejects.toMatchObject(blocked)
  expect(canaryOpened).toBe(0)
})

test('every address behind a name must be allowed', async () => {
  names.set('evil.test', [['127.0.0.1']])
  names.set('half.test', [['1.1.1.1', '192.168.0.1']])
  names.set('six.test', [['fd00::1']])
  names.set('mapped.test', [['::ffff:127.0.0.1']])
  for (const host of ['evil.test', 'half.test', 'six.test', 'mapped.test'])
    await expect(strict(canarySite(host)), host).rejects.toMatchObject(blocked)
  expect(canaryOpened).toBe(0)
})

test('what is near may be reached by its address, from near to near, and not by a redirect from the internet', async () => {
  const near = await listen((req, res) => void res.writeHead(req.url === '/' ? 200 : 302, { location: '/' }).end('near'), NEAR)
  const home = createGuardedFetch({ allowLocal: false, lookup, isPublic, isNear: (address) => address === NEAR })
  expect((await home(`${near.url}/moved`)).body.toString()).toBe('near')
  names.set('nas.test', [[NEAR]])
  for (const location of [`${near.url}/`, near.url.replace(NEAR, 'nas.test')]) {
    handle = (_req, res) => void res.writeHead(302, { location }).end()
    await expect(home(site()), location).rejects.toMatchObject(blocked)
  }
  expect(near.hits).toEqual(['/moved', '/'])
  await expect(home(canarySite())).rejects.toMatchObject(blocked)
  handle = (_req, res) => void res.end('hello')
  near.handle = (_req, res) => void res.writeHead(302, { location: site() }).end()
  expect((await home(near.url)).body.toString()).toBe('hello')
  await near[Symbol.asyncDispose]()
})

test('the system’s own names of this machine are refused', async () => {
  await expect(createGuardedFetch({ allowLocal: false })(canarySite('localhost'))).rejects.toMatchObject(blocked)
  expect(canaryOpened).toBe(0)
})

test('the connection goes to the address that was checked, and the next one is checked anew', async () => {
  names.set('rebind.test', [[OUTSIDE], ['127.0.0.1']])
  const { body } = await fetchOutside(`http://rebind.test:${port}/`)
  expect(body.toString()).toBe('hello')
  await expect(fetchOutside(`http://rebind.test:${canaryPort}/`)).rejects.toMatchObject(blocked)
  names.set('rebind.test', [[OUTSIDE], ['127.0.0.1']])
  await fetchOutside(`http://rebind.test:${port}/`)
  await expect(fetchOutside(`http://rebind.test:${port}/`)).rejects.toMatchObject(blocked)
  expect(canaryOpened).toBe(0)
})

test.each([301, 302, 303, 307, 308])('a redirect by %i inwards, or to something else than the web, is refused', async (status) => {
  names.set('inside.test', [['127.0.0.1']])
  for (const location of [
    canarySite(),
    canarySite('inside.test'),
    'file:///etc/passwd',
    'data:text/plain,x',
    'ftp://outside.test/',
    `http://outside.test:25/`,
  ]) {
    handle = (_req, res) => void res.writeHead(status, { location }).end('away')
    await expect(fetchOutside(site()), location).rejects.toMatchObject(blocked)
  }
  expect(canaryOpened).toBe(0)
})

test('five redirects are followed, not six, and no circle', async () => {
  handle = (req, res) => {
    const left = Number(req.url?.slice(1))
    if (left > 0) res.writeHead(302, { location: `/${left - 1}` }).end()
    else res.end('arrived')
  }
  const { url, body } = await fetchOutside(site('/5'))
  expect([url, body.toString()]).toEqual([site('/0'), 'arrived'])
  await expect(fetchOutside(site('/6'))).rejects.toMatchObject({ status: 502, code: 'upstream_failed' })
  handle = (_req, res) => void res.writeHead(302, { location: '/' }).end()
  await expect(fetchOutside(site())).rejects.toMatchObject({ code: 'upstream_failed' })
})

test('credentials stay with their origin', async () => {
  names.set('other.test', [[OUTSIDE]])
  const headers = { authorization: 'Bearer x', cookie: 'a=b', 'x-api-key': 'k', accept: 'text/calendar' }
  handle = (req, res) => void (req.url === '/' ? res.writeHead(302, { location: `http://other.test:${port}/there` }).end() : res.end())
  await fetchOutside(site(), { headers })
  expect(asked[0]?.headers).toMatchObject(headers)
  expect(asked[1]?.headers).toMatchObject({ accept: 'text/calendar', host: `other.test:${port}` })
  for (const name of ['authorization', 'cookie', 'x-api-key']) expect(asked[1]?.headers[name]).toBeUndefined()
  asked = []
  handle = (req, res) => void (req.url === '/' ? res.writeHead(302, { location: '/there' }).end() : res.end())
  await fetchOutside(site(), { headers })
  expect(asked[1]?.headers).toMatchObject(headers)
})

test('a POST becomes a GET where it should, and keeps its body where it should', async () => {
  handle = (req, res) => void (req.url === '/see' ? res.end() : res.writeHead(Number(req.url?.slice(1)), { location: '/see' }).end())
  for (const [status, method] of [
    [302, 'GET'],
    [303, 'GET'],
    [307, 'POST'],
    [308, 'POST'],
  ] as const) {
    asked = []
    await fetchOutside(site(`/${status}`), { method: 'POST', body: 'x' })
    expect(asked.map((req) => req.method)).toEqual(['POST', method])
  }
})

test('blocked ports and other schemes are refused', async () => {
  for (const url of [
    'http://outside.test:22/',
    'http://outside.test:25/',
    'http://outside.test:6667/',
    'ftp://outside.test/',
    'file:///etc/passwd',
    'gopher://outside.test/',
  ])
    await expect(fetchOutside(url), url).rejects.toMatchObject(blocked)
  for (const url of ['', 'no address', 'http://', 'http://outside.test:99999/', `http://outside.test/${'x'.repeat(5000)}`])
    await expect(fetchOutside(url), url).rejects.toMatchObject({ status: 400 })
})

test('a URL that looks like another one goes where it says', async () => {
  expect((await fetchOutside(`http://outside.test:${port}\\@127.0.0.1/`)).url).toBe(`http://outside.test:${port}/@127.0.0.1/`)
  expect((await fetchOutside(`http://outside.test:${port}#@127.0.0.1/`)).status).toBe(200)
  expect(canaryOpened).toBe(0)
})

test('headers that could split or redirect a request are refused', async () => {
  const bad = [
    { 'x-a': 'b\r\nHost: internal' },
    { 'x-a\r\nb': 'c' },
    { Host: 'internal' },
    { Connection: 'upgrade' },
    { 'Transfer-Encoding': 'chunked' },
    { 'Content-Length': '5' },
    { 'x-a': 'ü€' },
  ]
  for (const headers of bad)
    await expect(fetchOutside(site(), { headers: headers as unknown as Record<string, string> })).rejects.toMatchObject({ status: 400 })
  expect(asked).toEqual([])
})

test('own names are refused, whatever they resolve to', async () => {
  const own = createGuardedFetch({ allowLocal: false, lookup, isPublic, isOwnHost: (host) => host === 'outside.test' })
  await expect(own(site())).rejects.toMatchObject(blocked)
  await expect(own(`http://outside.test.:${port}/`)).rejects.toMatchObject(blocked)
  expect(asked).toEqual([])
})

test('whoever is slow is given up: before, in and after the head', async () => {
  const silent: (typeof handle)[] = [
    () => undefined,
    (_req, res) => void res.writeHead(200).write('x'),
    (_req, res) => {
      res.writeHead(200)
      const drip = setInterval(() => res.write('x'), 20)
      res.on('close', () => clearInterval(drip))
    },
  ]
  for (const one of silent) {
    handle = one
    await expect(fetchOutside(site(), { waitMs: 150 })).rejects.toMatchObject({ status: 504, code: 'timeout' })
  }
  names.set('hang.test', [[OUTSIDE]])
  const hanging = createGuardedFetch({ allowLocal: false, lookup: () => undefined, isPublic })
  await expect(hanging(site(), { waitMs: 150 })).rejects.toMatchObject({ code: 'timeout' })
  const stopped = AbortSignal.abort()
  await expect(fetchOutside(site(), { signal: stopped })).rejects.toMatchObject({ code: 'timeout' })
})

test('more than is asked for is refused, announced, sent or packed', async () => {
  const bomb = gzipSync(Buffer.alloc(5_000_000))
  const large: (typeof handle)[] = [
    (_req, res) => void res.writeHead(200, { 'content-length': '10000000000' }).write('x'),
    (_req, res) => void res.end(Buffer.alloc(200_000)),
    (_req, res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  ]
  for (const one of large) {
    handle = one
    await expect(fetchOutside(site(), { maxBytes: 100_000 })).rejects.toMatchObject({ status: 502, code: 'upstream_failed' })
  }
  handle = (_req, res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('small'))
  expect((await fetchOutside(site())).body.toString()).toBe('small')
})

test('any status is an answer; what breaks off or is not there is not', async () => {
  handle = (_req, res) => void res.writeHead(500).end('broken')
  expect(await fetchOutside(site())).toMatchObject({ status: 500, body: Buffer.from('broken') })
  const failed = { status: 502, code: 'upstream_failed' }
  handle = (_req, res) => void res.socket?.destroy()
  await expect(fetchOutside(site())).rejects.toMatchObject(failed)
  handle = (_req, res) => {
    res.writeHead(200, { 'content-length': '100' }).write('x')
    setImmediate(() => res.socket?.destroy())
  }
  await expect(fetchOutside(site())).rejects.toMatchObject(failed)
  handle = (_req, res) => void res.socket?.end('garbage\r\n\r\n')
  await expect(fetchOutside(site())).rejects.toMatchObject(failed)
  await expect(fetchOutside('http://nowhere.test/')).rejects.toMatchObject(failed)
})

test('where it is allowed, the home network can be reached', async () => {
  const open = createGuardedFetch({ allowLocal: true })
  expect((await open(`http://${OUTSIDE}:${port}/`)).body.toString()).toBe('hello')
})
