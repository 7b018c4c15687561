import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { later } from '../support/clock.ts'
import { callerOf, type SmallHouse, smallHouse } from './small-house.ts'

const WAIT = { timeout: 15_000 }
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MISSED = 120

let house: SmallHouse
beforeEach(async () => {
  house = await smallHouse()
})
afterEach(async () => {
  vi.useRealTimers()
  await house[Symbol.asyncDispose]()
})

/** Connects a device that reads slowly enough for the clock to jump in the middle; resolves to the titles that came. */
async function replayed(deviceId: string, jump: () => void): Promise<string[]> {
  const heard: string[] = []
  await house.delivery.greeting.welcomed(
    callerOf(deviceId),
    null,
    async (_message, payload) => {
      if (heard.push((payload as { title: string }).title) === MISSED / 2) jump()
      return true
    },
    () => undefined,
  )
  return heard
}

const years = (count: number) => count * 365 * DAY_MS
function thereAndBack(): void {
  later(years(10))
  later(-years(10))
}

test.each([
  ['ten years on', () => later(years(10))],
  ['back to 1970', () => later(-Date.now())],
  ['on, and back again', thereAndBack],
])('a clock that jumps %s in the middle of a replay keeps nothing back and sends nothing twice', async (_about, jump) => {
  const phone = await house.addDevice()
  const wanted = Array.from({ length: MISSED }, (_, n) => `n${n}`)
  for (const title of wanted) await house.notify(phone, title)
  expect(await replayed(phone, jump)).toEqual(wanted)
  vi.useRealTimers()
  await house.notify(phone, 'after')
  const again = house.connect(phone)
  await expect.poll(() => again.heard.map(({ title }) => title), WAIT).toContain('after')
  expect(house.failures).toEqual([])
})

test('what quiet hours hold comes soon after the clock is set to a time outside them, on or back', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime('2026-11-20T23:30:00+01:00')
  const quietHours = { from: '23:00', to: '06:30' }
  const [one, two] = [await house.addDevice({ quietHours }), await house.addDevice({ quietHours })]
  const [early, late] = [house.connect(one), house.connect(two)]
  await house.notify(one, 'held')
  expect(early.heard).toEqual([])
  later(-0.7 * HOUR_MS) // before eleven
  await expect.poll(() => early.heard.map(({ title }) => title), WAIT).toEqual(['held'])
  later(2 * HOUR_MS)
  await house.notify(two, 'held as well')
  expect(late.heard).toEqual([])
  later(years(1) + 10 * HOUR_MS)
  await expect.poll(() => late.heard.map(({ title }) => title), WAIT).toEqual(['held as well'])
  expect(early.heard).toHaveLength(1)
})

test('a clock that is set within the quiet lets nothing out', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime('2026-11-21T03:00:00+01:00')
  const device = await house.addDevice({ quietHours: { from: '22:00', to: '06:30' } })
  const line = house.connect(device)
  const id = await house.notify(device, 'held')
  for (const ms of [-2 * HOUR_MS, 4 * HOUR_MS, -years(1)]) {
    later(ms)
    await expect.poll(() => (house.row(id).attemptAt ?? 0) - Date.now(), WAIT).toBeLessThanOrEqual(HOUR_MS)
    await expect.poll(() => (house.row(id).attemptAt ?? 0) - Date.now(), WAIT).toBeGreaterThan(0)
  }
  expect([line.heard, house.row(id).status]).toEqual([[], 'pending'])
})
