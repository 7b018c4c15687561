import { afterAll, beforeAll, expect, test } from 'vitest'
import { type House, startHouse } from '../support/house.ts'
import { exchange, rawRequest } from '../support/raw-http.ts'

/** As long as a header may be and still be read. */
const LENGTH = 14_000
/** Longer than any honest reading takes, far shorter than one whose work grows with the square of the length. */
const HANG_MS = 1_000

let house: House
beforeAll(async () => {
  house = await startHouse({ env: { SERVICE_TRUSTED_PROXIES: '127.0.0.0/8' } })
})
afterAll(() => house[Symbol.asyncDispose]())

const fillings = ['   ', ', ,', '[[[', '[1]', '1.1', ':1:', 'a=;', '"\\"', 'x y']
const names = [
  ...['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'Forwarded', 'Via', 'X-Real-IP'],
  ...['Cookie', 'Origin', 'Referer', 'Accept', 'Accept-Language', 'If-None-Match', 'Sec-WebSocket-Protocol', 'Content-Type'],
]

/** Resolves to how long the event loop took to answer one request of these lines; its status is left to other tests. */
async function longest(request: (header: string) => string): Promise<{ header: string; ms: number }> {
  let worst = { header: '', ms: 0 }
  for (const name of names) {
    for (const filling of fillings) {
      const header = `${name}: ${`a${filling.repeat(LENGTH / filling.length)}b`}`
      const startedAt = performance.now()
      const { status } = await exchange(house.url, request(header), HANG_MS * 5)
      const ms = performance.now() - startedAt
      expect(status, `${name} full of ${filling}`).toBeGreaterThanOrEqual(200)
      expect(status, `${name} full of ${filling}`).toBeLessThan(500)
      if (ms > worst.ms) worst = { header: `${name} full of ${filling}`, ms }
    }
  }
  return worst
}

test('no header, however long and whatever it is full of, keeps the house busy', async () => {
  const host = `Host: ${new URL(house.url).host}`
  const { header, ms } = await longest((long) => rawRequest('GET /api/status HTTP/1.1', [host, long]))
  expect(ms, header).toBeLessThan(HANG_MS)
}, 60_000)

test('nor does one that comes with an upgrade', async () => {
  const host = `Host: ${new URL(house.url).host}`
  const upgrade = ['GET /ws HTTP/1.1', host, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='
  const { header, ms } = await longest((long) => `${[...upgrade, key, long].join('\r\n')}\r\n\r\n`)
  expect(ms, header).toBeLessThan(HANG_MS)
}, 60_000)
