import { expect, test } from 'vitest'
import { guessDevice } from '../../renderer/features/pair/guess-device.ts'
import { readPairingPayload } from '../../renderer/features/pair/pairing-payload.ts'

const payload = { v: 2, code: 'ABCD2345', secret: 's'.repeat(43), servers: ['http://192.0.2.7:7420'], name: 'Das Häuschen 🏠' }
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('a pairing link is read, names in any script included', () => {
  expect(readPairingPayload(encode(payload))).toEqual(payload)
})

test.each([
  ['cut off', encode(payload).slice(0, 60)],
  ['of another version', encode({ ...payload, v: 1 })],
  ['without its secret', encode({ ...payload, secret: undefined })],
  ['not base64', '***'],
  ['not UTF-8', Buffer.from([0xff, 0xfe, 0x7b]).toString('base64url')],
  ['empty', ''],
])('a link that is %s is no link', (_what, text) => {
  expect(readPairingPayload(text)).toBeNull()
})

test.each([
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1', 390, 'phone', 'iPhone'],
  ['Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) Version/17.0 Mobile/15E148 Safari/604.1', 810, 'tablet', 'iPad'],
  ['Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/140.0.0.0 Mobile Safari/537.36', 412, 'phone', 'Pixel 8'],
  ['Mozilla/5.0 (Linux; Android 10; K) Chrome/140.0.0.0 Mobile Safari/537.36', 412, 'phone', 'Phone'],
  ['Mozilla/5.0 (Linux; Android 13; SM-X710 Build/TP1A) Chrome/140.0.0.0 Safari/537.36', 800, 'tablet', 'SM-X710'],
  ['Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36', 1080, 'tablet', 'Linux PC'],
])('%s is guessed to be a %s', (userAgent, shortSide, type, name) => {
  expect(guessDevice(userAgent, shortSide)).toEqual({ type, name })
})
