import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import {
  createFactsReader,
  hostName,
  isLoopback,
  isLoopbackHost,
  isPrivateAddress,
  type RequestFacts,
} from '../../server/kit/request-facts.ts'

/** What a server with these trusted proxies believes of a request. */
function facts(
  peer: string,
  headers: IncomingHttpHeaders = {},
  trusted: string[] = [],
  extra: Partial<IncomingMessage> = {},
): RequestFacts {
  const socket = { remoteAddress: peer, encrypted: false }
  return createFactsReader(trusted)({ url: '/', method: 'GET', headers, socket, ...extra } as unknown as IncomingMessage, 'id-1')
}

test('the socket tells the address, and IPv4 in IPv6 is unwrapped', () => {
  expect(facts('192.168.1.5')).toMatchObject({ address: '192.168.1.5', secure: false, untrustedForwarding: false })
  expect(facts('::ffff:192.168.1.5').address).toBe('192.168.1.5')
  expect(facts('2001:db8::1').address).toBe('2001:db8::1')
  expect(facts('fe80::1%eth0').address).toBe('fe80::1%eth0')
})

test('path and query are taken as sent', () => {
  expect(facts('::1', {}, [], { url: '/api/x?a=1&b=%20?c' })).toMatchObject({ path: '/api/x', search: 'a=1&b=%20?c' })
  expect(facts('::1', {}, [], { url: '/api/x' })).toMatchObject({ path: '/api/x', search: '' })
  expect(facts('::1', { host: 'HEARTH.local:7420' }).host).toBe('hearth.local:7420')
})

test.each(['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via'])(
  'a %s header of a peer that is no trusted proxy is marked and not believed',
  (name) => {
    for (const trusted of [[], ['10.0.0.0/8']]) {
      expect(facts('192.168.1.9', { [name]: '127.0.0.1' }, trusted)).toMatchObject({
        address: '192.168.1.9',
        secure: false,
        untrustedForwarding: true,
      })
    }
  },
)

const proxied = (forwarded: string, further: IncomingHttpHeaders = {}) =>
  facts('10.0.0.2', { 'x-forwarded-for': forwarded, ...further }, ['10.0.0.0/8', 'fd00::/8'])

test('a trusted proxy is believed about client and scheme', () => {
  expect(proxied('203.0.113.7', { 'x-forwarded-proto': 'https' })).toMatchObject({
    address: '203.0.113.7',
    secure: true,
    untrustedForwarding: false,
  })
  expect(proxied('203.0.113.7').secure).toBe(false)
  expect(proxied('::ffff:203.0.113.7').address).toBe('203.0.113.7')
  expect(facts('::ffff:10.0.0.2', { 'x-forwarded-for': '203.0.113.7' }, ['10.0.0.0/8']).address).toBe('203.0.113.7')
  expect(facts('fd00::5', { 'x-forwarded-for': '2001:db8::9' }, ['fd00::/8']).address).toBe('2001:db8::9')
})

test.each([
  ['made up by the client', '127.0.0.1, 203.0.113.7', '203.0.113.7'],
  ['with further trusted proxies in it', '203.0.113.7, 10.0.0.9, fd00::1', '203.0.113.7'],
  ['with a port', '192.168.1.1, 203.0.113.7:4711', '203.0.113.7'],
  ['with a port in IPv6', '192.168.1.1, [2001:db8::9]:4711', '2001:db8::9'],
  ['with spaces and empty parts on the left', ' , ,203.0.113.7', '203.0.113.7'],
  ['of trusted proxies alone', '10.0.0.8, 10.0.0.9', '10.0.0.2'],
])('in a chain %s the client is the last one that is no proxy', (_what, chain, client) => {
  expect(proxied(chain)).toMatchObject({ address: client, untrustedForwarding: false })
})

test.each(['192.168.1.1, unknown', '127.0.0.1, _hidden', '192.168.1.1, 999.1.1.1', '127.0.0.1,', '', '0x7f000001', '1'])(
  'a chain whose last word is not an address (%j) is not believed, least of all its left',
  (chain) => {
    expect(proxied(chain)).toMatchObject({ address: '10.0.0.2', untrustedForwarding: true })
  },
)

test('loopback is every form of this machine and nothing else', () => {
  for (const address of ['127.0.0.1', '127.255.0.3', '::1', '::ffff:127.0.0.1']) expect(isLoopback(address), address).toBe(true)
  for (const address of ['', '128.0.0.1', '192.168.1.1', '::2', 'localhost', '127.0.0.1.evil', 'fe80::1'])
    expect(isLoopback(address), address).toBe(false)
})

test('a home network is private, link-local, unique local or loopback', () => {
  const home = [
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.1.1',
    '127.0.0.1',
    '::1',
    'fe80::1%eth0',
    'fd12::1',
    '::ffff:192.168.1.1',
  ]
  const foreign = [
    '',
    '8.8.8.8',
    '172.32.0.1',
    '192.169.0.1',
    '100.64.0.1',
    '2001:db8::1',
    '::ffff:8.8.8.8',
    'home',
    '0.0.0.0',
    '224.0.0.1',
  ]
  expect(home.filter((address) => !isPrivateAddress(address))).toEqual([])
  expect(foreign.filter((address) => isPrivateAddress(address))).toEqual([])
})

test('the name of a Host header is without port and brackets, and empty where it cannot be one', () => {
  expect(hostName('hearth.local:7420')).toBe('hearth.local')
  expect(hostName('[fd00::1]:7420')).toBe('fd00::1')
  expect(hostName('127.0.0.1')).toBe('127.0.0.1')
  for (const host of ['', 'a b', 'a/b', 'user@host', 'host:port', 'host:7420:1', '[::1', '::1', 'ho%73t', 'host:123456', 'höst', 'a,b'])
    expect(hostName(host), host).toBe('')
})

test('loopback names are the three there are', () => {
  for (const host of ['localhost', 'localhost:7420', '127.0.0.1:1', '[::1]:7420']) expect(isLoopbackHost(host), host).toBe(true)
  for (const host of ['', 'localhost.', 'localhost.evil.example', '127.0.0.2', '127.1', '[::ffff:127.0.0.1]', '0.0.0.0', 'evil.example']) {
    expect(isLoopbackHost(host), host).toBe(false)
  }
})
