import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAlive } from '../support/answers.ts'
import { type House, startHouse } from '../support/house.ts'
import { exchange, openRaw } from '../support/raw-http.ts'

let house: House
let host: string
let token: string
beforeAll(async () => {
  house = await startHouse()
  token = (await house.pair('Guest', 'guest')).accessToken
  host = new URL(house.url).host
})
afterAll(() => house[Symbol.asyncDispose]())

const post = async (body: Buffer | string, headers: Record<string, string>) => {
  const bytes = Buffer.from(body)
  const lines = [
    'POST /api/chat HTTP/1.1',
    `Host: ${host}`,
    'Content-Type: application/json',
    `Content-Length: ${bytes.length}`,
    'Connection: close',
    `Authorization: Bearer ${token}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return exchange(house.url, Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]), 4_000)
}

test('deep, wide and doubled JSON is read or refused at once', async () => {
  const bodies: Record<string, [string, number[]]> = {
    'nested lists': ['['.repeat(100_000) + ']'.repeat(100_000), [400]],
    'nested lists that never end': ['['.repeat(500_000), [400]],
    'nested objects': [`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, [400]],
    'nested in a known field': [`{"message":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, [400]],
    'a hundred thousand keys': [`{${Array.from({ length: 90_000 }, (_, at) => `"k${at}":1`).join(',')}}`, [400]],
    'a long number': [`{"message":${'9'.repeat(900_000)}}`, [400]],
    'one key twice': ['{"message":1,"message":"wrong"}', [200]],
  }
  for (const [about, [body, statuses]] of Object.entries(bodies)) {
    const startedAt = performance.now()
    const { status, text } = await post(body, {})
    expect(statuses, `${about}: ${text.slice(0, 300)}`).toContain(status)
    expect(performance.now() - startedAt, about).toBeLessThan(15_000)
    expect(text.length, about).toBeLessThan(10_000)
  }
})

test('a compressed body is read within the same measure, and a broken or strange one refused', async () => {
  const good = JSON.stringify({ message: 'wrong' })
  const bomb = Buffer.alloc(16 * 1024 * 1024, ' ')
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
  const cases: [string, string, Buffer | string, number[]][] = [
    ['gzip', 'gzip', gzipSync(good), [200, 415]],
    ['deflate', 'deflate', deflateSync(good), [200, 415]],
    ['a gzip bomb', 'gzip', gzipSync(bomb), [413, 415]],
    ['a deflate bomb', 'deflate', deflateSync(bomb), [413, 415]],
    ['a brotli bomb', 'br', brotliCompressSync(bomb, quick), [413, 415]],
    ['a bomb in a bomb', 'gzip, gzip', gzipSync(gzipSync(bomb)), [413, 415, 400]],
    ['no gzip', 'gzip', good, [400]],
    ['no deflate', 'deflate', good, [400]],
    ['no brotli', 'br', good, [400, 415]],
    ['gzip cut short', 'gzip', gzipSync(JSON.stringify({ message: 'x'.repeat(5_000) })).subarray(0, 30), [400]],
    ['gzip with something behind', 'gzip', Buffer.concat([gzipSync(good), Buffer.from('trailing')]), [200, 400]],
    ['an unknown encoding', 'zstdx', good, [415]],
    ['a strange encoding', '__proto__', good, [415]],
  ]
  for (const [about, encoding, body, statuses] of cases) {
    const { status, text } = await post(body, { 'Content-Encoding': encoding })
    expect(statuses, `${about}: ${text.slice(0, 400)}`).toContain(status)
    expect(text, about).not.toMatch(/zlib|Z_DATA|incorrect header/)
  }
  await expectAlive(house, 'bombs')
})

test('a client that leaves in the middle of its body harms nobody', async () => {
  for (let at = 0; at < 20; at += 1) {
    const socket = await openRaw(house.url)
    socket.write(`POST /api/auth/local HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"pass`)
    await new Promise((resolve) => setTimeout(resolve, 5))
    socket.destroy()
  }
  await expectAlive(house, 'clients that left')
})

test('two hundred clients that never finish their headers or bodies slow nobody down', async () => {
  const sockets = await Promise.all(Array.from({ length: 200 }, () => openRaw(house.url)))
  for (const [at, socket] of sockets.entries())
    socket.write(
      at % 2
        ? 'GET /api/status HTTP/1.1\r\nHost: '
        : `POST /api/auth/local HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    )
  for (let at = 0; at < 10; at += 1) await expectAlive(house, 'beside slow clients')
  for (const socket of sockets) socket.destroy()
})
