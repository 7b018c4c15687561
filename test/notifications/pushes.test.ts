import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { PushOutcome } from '../../server/modules/notifications/pushers.ts'
import { PairedDeviceTable } from '../../server/modules/paired-devices/paired-devices.table.ts'
import { later } from '../support/clock.ts'
import { callerOf, type SmallHouse, smallHouse } from './small-house.ts'

const WAIT = { timeout: 15_000 }
const push = { provider: 'expo', token: 'one' } as const
const ACK_MS = 10_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

let house: SmallHouse
beforeEach(async () => {
  house = await smallHouse()
})
afterEach(async () => {
  vi.useRealTimers()
  await house[Symbol.asyncDispose]()
})

const titles = () => house.pushed.map(({ title }) => title)
/** Everything that could have happened by now has. */
async function settle(): Promise<void> {
  await house.notify(await house.addDevice({ push }), 'settled')
  await expect.poll(titles, WAIT).toContain('settled')
  house.pushed.splice(titles().indexOf('settled'), 1)
}

test('a device that is not there is pushed to, one without a token is waited for', async () => {
  const [phone, tv] = [await house.addDevice({ push }), await house.addDevice()]
  const one = await house.notify(phone, 'one')
  const two = await house.notify(tv, 'two')
  await expect.poll(() => house.row(one).pushedAt, WAIT).toEqual(expect.any(String))
  expect(house.row(one)).toMatchObject({ status: 'sent', sentAt: expect.any(String), attemptAt: null })
  expect(house.row(two)).toMatchObject({ status: 'pending', attemptAt: null, pushedAt: null })
  expect(house.pushed).toEqual([{ device: phone, title: 'one', token: 'one' }])
  const line = house.connect(phone)
  await expect.poll(() => line.heard.map(({ id }) => id), WAIT).toEqual([one])
  await settle()
  expect(house.pushed).toHaveLength(1)
})

test('a device that is there and says nothing for ten seconds is pushed to as well, once; one that answers is not', async () => {
  const [silent, quick] = [await house.addDevice({ push }), await house.addDevice({ push })]
  const lines = [house.connect(silent), house.connect(quick)]
  const one = await house.notify(silent, 'one')
  const two = await house.notify(quick, 'two')
  expect(lines.map(({ heard }) => heard.map(({ id }) => id))).toEqual([[one], [two]])
  await house.notifications.arrived(callerOf(quick), two, 'delivered')
  expect(house.pushed).toEqual([])
  expect((house.row(one).attemptAt ?? 0) - Date.now()).toBeGreaterThan(ACK_MS / 2)
  later(ACK_MS)
  await expect.poll(titles, WAIT).toEqual(['one'])
  later(ACK_MS)
  await settle()
  expect(titles()).toEqual(['one'])
  expect(lines[0]?.heard).toHaveLength(1)
  expect(house.row(two)).toMatchObject({ status: 'delivered', pushedAt: null, attemptAt: null })
})

test('what no gateway takes is tried again, later each time, and across a restart', async () => {
  const phone = await house.addDevice({ push })
  house.answers = async () => 'retry'
  const id = await house.notify(phone, 'one')
  const waits = [10_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS, HOUR_MS]
  for (const [at, waitMs] of waits.entries()) {
    await expect.poll(() => house.row(id).pushTries, WAIT).toBe(at + 1)
    const leftMs = (house.row(id).attemptAt ?? 0) - Date.now()
    expect(leftMs).toBeGreaterThan(waitMs * 0.5)
    expect(leftMs).toBeLessThanOrEqual(waitMs + 1)
    if (at === 3) await house.restart()
    expect(house.pushed).toHaveLength(at + 1)
    later(waitMs + 10)
  }
  house.answers = async () => 'sent'
  later(HOUR_MS)
  await expect.poll(() => house.row(id).status, WAIT).toBe('sent')
})

test('a token that is dead is forgotten, unless it was replaced meanwhile', async () => {
  const [phone, tablet] = [await house.addDevice({ push }), await house.addDevice({ push })]
  const tokens: string[] = []
  house.answers = async (device): Promise<PushOutcome> => {
    tokens.push(device.push.token)
    if (device.push.token === 'two') return 'sent'
    if (device.id === tablet)
      await house.db.write((tx) => tx.update(PairedDeviceTable, tablet, { push: { provider: 'expo', token: 'two' } }))
    return 'dead-token'
  }
  const lost = await house.notify(phone, 'one')
  const second = await house.notify(phone, 'two')
  const moved = await house.notify(tablet, 'three')
  await expect.poll(() => house.row(moved).status, WAIT).toBe('sent')
  await expect.poll(() => house.row(second).attemptAt, WAIT).toBeNull()
  expect(house.db.get(PairedDeviceTable, phone)?.push).toBeNull()
  expect(house.row(lost)).toMatchObject({ status: 'pending', attemptAt: null })
  expect(tokens.filter((token) => token === 'one').length).toBeLessThanOrEqual(2)
  expect(house.db.get(PairedDeviceTable, tablet)?.push?.token).toBe('two')
  await house.db.write((tx) => tx.update(PairedDeviceTable, phone, { push: { provider: 'expo', token: 'two' } }))
  await house.delivery.lookAgain(phone)
  await expect.poll(() => [lost, second].map((id) => house.row(id).status), WAIT).toEqual(['sent', 'sent'])
})

test('a gateway that never answers holds up no other device and no other provider', async () => {
  const stuck = await Promise.all(Array.from({ length: 20 }, () => house.addDevice({ push: { provider: 'fcm', token: 'stuck' } })))
  const phone = await house.addDevice({ push: { provider: 'fcm', token: 'fine' } })
  const other = await house.addDevice({ push })
  let hanging = 0
  house.answers = (device) => {
    if (device.push.token !== 'stuck') return Promise.resolve('sent')
    hanging += 1
    return new Promise(() => undefined)
  }
  for (const device of stuck.slice(0, 15)) for (const title of ['a', 'b']) await house.notify(device, title)
  const [one, two] = [await house.notify(phone, 'one'), await house.notify(other, 'two')]
  await expect.poll(() => [house.row(one).status, house.row(two).status], WAIT).toEqual(['sent', 'sent'])
  for (const device of stuck.slice(15)) await house.notify(device, 'c')
  const three = await house.notify(other, 'three')
  await expect.poll(() => house.row(three).status, WAIT).toBe('sent')
  expect(hanging).toBeLessThanOrEqual(16)
})

test('one that is never taken holds up nothing else of its device', async () => {
  const phone = await house.addDevice({ push })
  house.answers = async (_device, { title }) => (title === 'bad' ? 'retry' : 'sent')
  const bad = await house.notify(phone, 'bad')
  const good = await Promise.all(['a', 'b', 'c'].map((title) => house.notify(phone, title)))
  for (let at = 0; at < 5 && good.some((id) => house.row(id).status !== 'sent'); at++) {
    await settle()
    later(MINUTE_MS)
  }
  await expect.poll(() => good.map((id) => house.row(id).status), WAIT).toEqual(['sent', 'sent', 'sent'])
  expect(house.row(bad).status).toBe('pending')
})

test('a gateway that fails now and then delays by seconds, not by more each time', async () => {
  const phone = await house.addDevice({ push })
  house.answers = async () => (house.pushed.length % 5 === 0 ? 'retry' : 'sent')
  const ids: string[] = []
  for (let at = 0; at < 40; at++) ids.push(await house.notify(phone, `n${at}`))
  const left = () => ids.filter((id) => house.row(id).status !== 'sent').length
  for (let at = 0; at < 20 && left() > 0; at++) {
    const before = left()
    later(10_010)
    await expect.poll(left, WAIT).toBeLessThan(before)
  }
  expect(left()).toBe(0)
})

test('with a gateway down, many notifications are no storm of requests', async () => {
  const phone = await house.addDevice({ push })
  let inFlight = 0
  let most = 0
  house.answers = async (device) => {
    if (device.id !== phone) return 'sent'
    most = Math.max(most, ++inFlight)
    await new Promise((resolve) => setTimeout(resolve, 2))
    inFlight -= 1
    throw new Error('connection refused')
  }
  await Promise.all(Array.from({ length: 200 }, (_, at) => house.notify(phone, `n${at}`)))
  for (let minutes = 0; minutes < 60; minutes++) {
    later(MINUTE_MS)
    house.delivery.deliver([]).catch(() => undefined) // wakes it up
    await settle()
  }
  const tries = house.pushed.filter(({ device }) => device === phone).length
  expect(tries).toBeGreaterThan(4)
  expect(tries).toBeLessThan(60)
  expect(most).toBe(1)
  house.failures.length = 0
})

test('in quiet hours nothing is pushed or sent but what is critical or a timer of one’s own; then it comes, in order', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime('2026-11-20T22:30:00+01:00')
  const quietHours = { from: '22:00', to: '06:30' }
  const [phone, tv] = [await house.addDevice({ push, quietHours }), await house.addDevice({ quietHours })]
  const line = house.connect(tv)
  const held: string[] = []
  for (const title of ['a', 'b']) held.push(await house.notify(phone, title), await house.notify(tv, title))
  const loud = [await house.notify(phone, 'fire', { level: 'critical' }), await house.notify(tv, 'fire', { level: 'critical' })]
  const rings = await house.notify(tv, 'eggs', { category: 'TIMER' })
  await expect.poll(titles, WAIT).toEqual(['fire'])
  expect(line.heard.map(({ title }) => title)).toEqual(['fire', 'eggs'])
  expect([...loud, rings].map((id) => house.row(id).status)).toEqual(['sent', 'sent', 'sent'])
  const late = house.connect(tv) // a second page of the same device
  await expect.poll(() => late.heard.map(({ title }) => title), WAIT).toEqual(['fire', 'eggs'])
  for (let hours = 1; hours <= 7; hours++) {
    later(HOUR_MS)
    await settle()
  }
  expect(titles()).toEqual(['fire'])
  expect(held.map((id) => house.row(id).status)).toEqual(Array(4).fill('pending'))
  later(2 * HOUR_MS)
  await expect.poll(titles, WAIT).toEqual(['fire', 'a', 'b'])
  for (const { heard } of [line, late]) await expect.poll(() => heard.map(({ title }) => title), WAIT).toEqual(['fire', 'eggs', 'a', 'b'])
})

test('quiet hours that are taken off let go at once what they held', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime('2026-11-20T23:30:00+01:00')
  const phone = await house.addDevice({ push, quietHours: { from: '22:00', to: '06:30' } })
  const id = await house.notify(phone, 'a')
  await settle()
  expect(house.pushed).toEqual([])
  await house.db.write((tx) => tx.update(PairedDeviceTable, phone, { quietHours: null }))
  await house.delivery.lookAgain(phone)
  await expect.poll(() => house.row(id).status, WAIT).toBe('sent')
})

test('what was missed while it was quiet comes when the quiet ends, also to who connects in it', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime('2026-11-20T21:00:00+01:00')
  const tv = await house.addDevice({ quietHours: { from: '22:00', to: '23:00' } })
  const sent = house.connect(tv)
  await house.notify(tv, 'sent and not answered')
  expect(sent.heard).toHaveLength(1)
  sent.close()
  await house.notify(tv, 'missed')
  later(HOUR_MS)
  const line = house.connect(tv)
  await settle()
  expect(line.heard).toEqual([])
  later(HOUR_MS)
  await expect.poll(() => line.heard.map(({ title }) => title), WAIT).toEqual(['sent and not answered', 'missed'])
})

test('a clock that is set back delays nothing, one that is set forward loses nothing', async () => {
  const phone = await house.addDevice({ push })
  const line = house.connect(phone)
  const one = await house.notify(phone, 'one')
  expect(line.heard).toHaveLength(1)
  later(-3 * HOUR_MS)
  await expect.poll(() => (house.row(one).attemptAt ?? 0) - Date.now(), WAIT).toBeLessThanOrEqual(ACK_MS)
  later(ACK_MS)
  await expect.poll(titles, WAIT).toEqual(['one'])
  line.close()
  house.answers = async () => 'retry'
  const two = await house.notify(phone, 'two')
  await expect.poll(() => house.row(two).pushTries, WAIT).toBe(1)
  later(400 * DAY_MS) // far beyond the week
  await expect.poll(() => (house.row(two).attemptAt ?? 0) - Date.now(), WAIT).toBeGreaterThan(MINUTE_MS)
  expect(titles()).toEqual(['one', 'two'])
  house.answers = async () => 'sent'
  await house.delivery.stop()
  later(-400 * DAY_MS)
  await house.restart()
  await expect.poll(() => house.row(two).status, WAIT).toBe('sent')
  expect(titles()).toEqual(['one', 'two', 'two'])
})

test('what a gateway took is not pushed again because it could not be written down', async () => {
  const phone = await house.addDevice({ push })
  const { write } = house.db
  let full = true
  house.answers = async () => {
    house.db.write = (work) => (full ? Promise.reject(new Error('the disk is full')) : write(work))
    return 'sent'
  }
  const id = await house.notify(phone, 'one')
  await expect.poll(() => house.failures.length, WAIT).toBe(1)
  full = false
  await expect.poll(() => house.row(id).status, WAIT).toBe('sent')
  expect(titles()).toEqual(['one'])
})

test('what is old is left to the list', async () => {
  const tv = await house.addDevice()
  await house.notify(tv, 'old')
  later(8 * DAY_MS)
  await house.notify(tv, 'new')
  const line = house.connect(tv)
  await expect.poll(() => line.heard.map(({ title }) => title), WAIT).toEqual(['new'])
})
