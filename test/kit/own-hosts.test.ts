import { hostname, networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { createOwnHosts } from '../../server/kit/own-hosts.ts'

test('the server answers to loopback, its addresses, the machine’s name, hearth.local and what was added, at any port', () => {
  const added = { publicUrl: 'https://[2001:db8::1]:8443/', allowedHosts: ['nas.lan'] }
  const hosts = createOwnHosts(() => added)
  const addresses = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address, family }) => (family === 'IPv6' ? `[${address.split('%')[0]}]` : address)),
  )
  const machine = hostname().toLowerCase()
  const own = ['localhost', '127.0.0.1', '[::1]', machine, `${machine}.local`, 'hearth.local', 'nas.lan', '[2001:db8::1]', ...addresses]
  for (const host of own) {
    expect(hosts.has(host), host).toBe(true)
    expect(hosts.has(`${host}:7420`), host).toBe(true)
  }
})

test.each([
  '',
  'evil.example',
  'localhost.evil.example',
  'nas.lan.evil.example',
  'hearth.local.',
  '203.0.113.9',
  'nas.lan:80:80',
  'nas lan',
])('%j is not one of its names', (host) => {
  expect(createOwnHosts(() => ({ publicUrl: 'https://house.example', allowedHosts: ['nas.lan'] })).has(host)).toBe(false)
})

test('what is added or taken away counts at once', () => {
  const added = { publicUrl: null as string | null, allowedHosts: [] as string[] }
  const hosts = createOwnHosts(() => added)
  expect(hosts.has('house.example')).toBe(false)
  added.publicUrl = 'https://house.example'
  added.allowedHosts = ['attic.lan']
  expect([hosts.has('house.example:443'), hosts.has('attic.lan')]).toEqual([true, true])
  added.publicUrl = null
  expect(hosts.has('house.example')).toBe(false)
})
