import { expect, test } from 'vitest'
import { type Interfaces, isOpenToNetwork, lanAddresses, localName, serverAddresses } from '../../server/kit/server-addresses.ts'

const v4 = (address: string, internal = false) => ({ address, family: 'IPv4' as const, internal })
const v6 = (address: string, internal = false) => ({ address, family: 'IPv6' as const, internal })

const interfaces: Interfaces = {
  lo: [v4('127.0.0.1', true), v6('::1', true)],
  docker0: [v4('172.17.0.1')],
  'br-0123456789ab': [v4('172.18.0.1')],
  tailscale0: [v4('100.101.102.103')],
  eth0: [v6('fe80::1'), v6('2001:db8::5'), v6('fd00::5'), v4('203.0.113.5'), v4('192.168.1.5')],
  'br-lan': [v4('10.0.0.5')],
  wlan0: [v4('169.254.7.7')],
  gone: undefined,
}
const machine = { interfaces, name: 'Attic' }
const listening = (host: string, secure = false) => ({ host, port: 7420, secure })

test('real interfaces come before virtual ones, IPv4 before IPv6, private before public, and link-local ones not at all', () => {
  expect(lanAddresses(interfaces)).toEqual([
    '192.168.1.5',
    '10.0.0.5',
    '203.0.113.5',
    'fd00::5',
    '2001:db8::5',
    '172.17.0.1',
    '172.18.0.1',
    '100.101.102.103',
  ])
})

test('a server that listens on IPv4 alone names no IPv6 address, and its name comes last', () => {
  expect(serverAddresses(listening('0.0.0.0'), null, machine)).toEqual([
    'http://192.168.1.5:7420',
    'http://10.0.0.5:7420',
    'http://203.0.113.5:7420',
    'http://172.17.0.1:7420',
    'http://172.18.0.1:7420',
    'http://100.101.102.103:7420',
    'http://attic.local:7420',
  ])
})

test('IPv6 addresses stand in brackets', () => {
  expect(serverAddresses(listening('::'), null, machine)).toContain('http://[fd00::5]:7420')
  expect(serverAddresses(listening('fd00::5'), null, machine)).toEqual(['http://[fd00::5]:7420'])
})

test('the public address comes first; over TLS the others come once more, after plain HTTP', () => {
  const small = { interfaces: { eth0: [v4('192.168.1.5')] }, name: 'attic.lan' }
  expect(serverAddresses(listening('0.0.0.0', true), 'https://house.example/', small)).toEqual([
    'https://house.example',
    'http://192.168.1.5:7420',
    'https://192.168.1.5:7420',
    'http://attic.local:7420',
  ])
})

test('without a network there is only this machine', () => {
  expect(serverAddresses(listening('0.0.0.0'), null, { interfaces: { lo: [v4('127.0.0.1', true)] }, name: 'attic' })).toEqual([
    'http://127.0.0.1:7420',
  ])
  expect(serverAddresses(listening('127.0.0.1'), null, machine)).toEqual(['http://127.0.0.1:7420'])
})

test('a machine with a hundred addresses does not make a link that no camera reads', () => {
  const many = { eth0: Array.from({ length: 100 }, (_, n) => v4(`10.0.1.${n}`)) }
  expect(serverAddresses(listening('0.0.0.0', true), 'https://house.example', { interfaces: many, name: 'attic' })).toHaveLength(18)
})

test.each([
  ['Attic', 'attic.local'],
  ['attic.fritz.box', 'attic.local'],
  ['localhost', null],
  ['ångström', null],
  ['', null],
])('%j is found as %j', (name, expected) => expect(localName(name)).toBe(expected))

test.each([
  ['127.0.0.1', false],
  ['localhost', false],
  ['::1', false],
  ['0.0.0.0', true],
  ['::', true],
  ['192.168.1.5', true],
])('listening at %s is open to the network: %s', (host, open) => expect(isOpenToNetwork(listening(host))).toBe(open))
