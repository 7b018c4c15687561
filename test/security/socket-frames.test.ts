import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, type Device, type House, startHouse } from '../support/house.ts'
import { connectSocket, expectTalking, type OpenOptions, talking } from '../support/socket-client.ts'
import { frame, rawSocket } from '../support/socket-frames.ts'

let house: House
let owner: Browser
let phone: Device
beforeAll(async () => {
  house = await startHouse()
  owner = await house.owner()
  phone = await house.pair('Phone', 'member')
})
afterAll(() => house[Symbol.asyncDispose]())

const at = (path: string) => house.url + path

const withToken = (token: string) => connectSocket(at(`/ws?token=${token}`))

const ofOwner = (cookie = owner.jar.header()): OpenOptions => ({ headers: { cookie, origin: house.url } })

test('whoever says nothing for two seconds is greeted all the same, and a hello that comes late is answered too', async () => {
  const client = await withToken(phone.accessToken)
  const { payload } = await client.next('welcome', 4_000)
  expect(payload).toEqual({ deviceId: phone.id, scope: 'member', seq: expect.any(Number) })
  client.send({ type: 'hello', payload: { lastSeq: 3 } })
  expect((await client.next('welcome')).payload).toMatchObject({ deviceId: phone.id })
  await expectTalking(client, 'after a late hello')
  expect(client.messages).toEqual([])
  client.socket.close()
})

test('a message that is none is answered by an error, and the talk goes on', async () => {
  const client = await talking(withToken(phone.accessToken))
  const deep = `{"type":"ping","payload":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
  const messages = [
    '',
    'x',
    '{',
    '[]',
    'null',
    '1',
    '"ping"',
    '{}',
    '{"type":1}',
    '{"type":""}',
    '{"type":"__proto__"}',
    '{"type":"constructor"}',
    '{"type":"toString"}',
    '{"type":"nothing"}',
    `{"type":"${'a'.repeat(65)}"}`,
    '{"type":"hello","payload":{"lastSeq":-1}}',
    '{"type":"hello","payload":[]}',
    '{"type":"hello","payload":{"lastSeq":"1"}}',
    '{"type":"welcome","payload":{}}',
    '{"type":"notification.push","payload":{}}',
    '{"type":"ping","id":1}',
    '{"__proto__":{"type":"ping"}}',
    '['.repeat(100_000),
  ]
  for (const message of messages) {
    client.send(message)
    expect((await client.next('error')).payload, message.slice(0, 60)).toEqual({
      code: expect.stringMatching(/^\w+$/),
      message: expect.any(String),
    })
    await wait(25) // stays below what counts as a flood
  }
  client.socket.send(Buffer.from('{"type":"ping"}'), { binary: true })
  expect((await client.next('error')).payload).toMatchObject({ code: 'bad_message' })
  client.send(deep)
  await client.next('pong')
  await expectTalking(client, 'after all that')
  client.socket.close()
})

test('frames that break the protocol close the socket with its codes', async () => {
  const text = '{"type":"ping"}'
  const code = (value: number) => Buffer.from([value >> 8, value & 0xff])
  const bad: [string, Buffer, number][] = [
    ['unmasked', frame(0x81, text, false), 1002],
    ['a reserved bit', frame(0xc1, text), 1002],
    ['another reserved bit', frame(0xa1, text), 1002],
    ['an unknown opcode', frame(0x83, text), 1002],
    ['an unknown control frame', frame(0x8b), 1002],
    ['a continuation of nothing', frame(0x80, text), 1002],
    ['a new message inside another', Buffer.concat([frame(0x01, '{'), frame(0x81, text)]), 1002],
    ['a long ping', frame(0x89, Buffer.alloc(126)), 1002],
    ['a ping in pieces', frame(0x09, 'a'), 1002],
    ['text that is no UTF-8', frame(0x81, Buffer.from([0xc3, 0x28])), 1007],
    ['half a surrogate', frame(0x81, Buffer.from([0xed, 0xa0, 0x80])), 1007],
    ['a close of one byte', frame(0x88, 'a'), 1002],
    ['close code 1005', frame(0x88, code(1005)), 1002],
    ['close code 999', frame(0x88, code(999)), 1002],
    ['close code 5000', frame(0x88, code(5000)), 1002],
    ['a reason that is no UTF-8', frame(0x88, Buffer.concat([code(1000), Buffer.from([0xc3, 0x28])])), 1007],
  ]
  for (const [about, bytes, expected] of bad) {
    const { socket, code: closed } = await rawSocket(house.url, phone.accessToken)
    socket.write(bytes)
    expect(await closed, about).toBe(expected)
    socket.destroy()
  }
  expect((await house.stranger().fetch('/api/status')).status).toBe(200)
})

test('a frame over 256 KiB closes with 1009, in one piece or many, without being kept', async () => {
  const fits = await talking(withToken(phone.accessToken))
  fits.send(`{"type":"ping","payload":"${'x'.repeat(256 * 1024 - 28)}"}`)
  await fits.next('pong')
  fits.socket.close()
  const whole = await talking(withToken(phone.accessToken))
  whole.send('x'.repeat(256 * 1024 + 1))
  expect(await whole.closed).toBe(1009)
  const pieces = await talking(withToken(phone.accessToken))
  for (let n = 0; n < 10; n += 1) pieces.socket.send('x'.repeat(64 * 1024), { fin: false })
  expect(await pieces.closed).toBe(1009)
  const { socket, code } = await rawSocket(house.url, phone.accessToken)
  const before = process.memoryUsage().rss
  socket.write(Buffer.concat([Buffer.from([0x81, 0xff]), Buffer.from('7fffffffffffffff', 'hex'), Buffer.alloc(4)]))
  expect([1009, 1002]).toContain(await code)
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
  socket.destroy()
})

test('endless empty pieces of one message end the socket', async () => {
  const { socket, code } = await rawSocket(house.url, phone.accessToken)
  const pieces = Buffer.concat([frame(0x01, ''), ...Array.from({ length: 20_000 }, () => frame(0x00, ''))])
  socket.write(pieces)
  expect([1008, 1002, 1009]).toContain(await code)
  socket.destroy()
})

test('a flood closes with 4429 after five seconds, and others are served beside it', async () => {
  const flooder = await talking(withToken(phone.accessToken))
  const other = await talking(connectSocket(at('/ws'), ofOwner()))
  const timer = setInterval(() => {
    if (flooder.socket.readyState === flooder.socket.OPEN) for (let n = 0; n < 30; n += 1) flooder.send({ type: 'ping' })
  }, 50)
  const startedAt = performance.now()
  const closed = flooder.closed.finally(() => clearInterval(timer))
  await expectTalking(other, 'beside the flood')
  expect(await closed).toBe(4429)
  const tookMs = performance.now() - startedAt
  expect(tookMs).toBeGreaterThan(4_000)
  expect(tookMs).toBeLessThan(9_500)
  await expectTalking(other, 'after the flood')
  other.socket.close()
}, 15_000)

test('a short burst is no flood', async () => {
  const client = await talking(withToken(phone.accessToken))
  for (let n = 0; n < 500; n += 1) client.send({ type: 'ping' })
  await wait(1_200)
  await expectTalking(client, 'after a burst')
  client.socket.close()
})

test('whoever does not read is let go before memory grows', async () => {
  const { socket, code } = await rawSocket(house.url, phone.accessToken)
  socket.pause()
  const unknown = frame(0x81, '{"type":"no"}')
  const burst = Buffer.concat(Array.from({ length: 5_000 }, () => unknown))
  const before = process.memoryUsage().rss
  for (let n = 0; n < 30; n += 1) {
    socket.write(burst)
    await wait(30)
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1024 * 1024)
  socket.resume()
  // Where all of it had room on the way, it goes on until it counts as a flood.
  const flood = setInterval(() => socket.writable && socket.write(burst.subarray(0, 100 * unknown.length)), 100)
  expect([4408, 4429]).toContain(await code.finally(() => clearInterval(flood)))
  socket.destroy()
  expect((await house.stranger().fetch('/api/status')).status).toBe(200)
})
