import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { isHomeAddress } from '../../server/kit/public-address.ts'

const own = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? [])
const elsewhere = (address: string) => !own.includes(address)

test('addresses of a home network', () => {
  for (const address of ['10.250.3.4', '172.31.255.250', '192.168.77.9', 'fd12:3456::9'].filter(elsewhere))
    expect(isHomeAddress(address), address).toBe(true)
})

test('what is public, this machine itself, or where rented machines find their keys is none', () => {
  const others = [
    '1.1.1.1',
    '127.0.0.1',
    '127.1.2.3',
    '::1',
    '0.0.0.0',
    '::',
    '169.254.169.254',
    'fe80::1',
    '100.64.0.1',
    '224.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    'not-an-address',
  ]
  for (const address of [...others, ...own]) expect(isHomeAddress(address), address).toBe(false)
})
