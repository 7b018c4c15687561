import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { runAs } from '../support/action-calls.ts'
import { makeFamily } from '../support/family.ts'
import { type Device, type House, startHouse } from '../support/house.ts'

let house: House
let phone: Device
let run: ReturnType<typeof runAs>
beforeAll(async () => {
  house = await startHouse()
  await makeFamily(house)
  phone = await house.pair('Phone')
  run = runAs(house, { deviceId: phone.id })
})
afterAll(() => house[Symbol.asyncDispose]())
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime('2026-11-21T12:00:00.000Z')
})
afterEach(async () => {
  await run('cancel_timer', { all: true })
  vi.useRealTimers()
})

const MINUTE_MS = 60_000
const say = async (name: string, params?: unknown) => (await run(name, params)).output
const wait = (ms: number) => vi.setSystemTime(Date.now() + ms)

test('a timer is set, asked for, changed and cancelled', async () => {
  expect(await say('list_timers')).toBe('There is no timer.')
  const set = await run('set_timer', { durationMs: 10 * MINUTE_MS, name: 'pizza' })
  expect(set).toMatchObject({ output: 'Your pizza timer is set for 10 minutes.', data: { name: 'pizza', deviceId: phone.id } })
  wait(350_000)
  expect(await say('list_timers')).toBe('Your pizza timer has 4 minutes 10 seconds left.')
  expect(await say('change_timer', { paused: true })).toBe('Your pizza timer is paused with 4 minutes 10 seconds left.')
  wait(MINUTE_MS)
  expect(await say('change_timer', { name: 'piza', paused: false })).toBe('Your pizza timer has 4 minutes 10 seconds left.')
  expect(await say('change_timer', { addMs: MINUTE_MS })).toBe('Your pizza timer has 5 minutes 10 seconds left.')
  expect(await say('cancel_timer', { name: 'the pizza timer' })).toBe('I cancelled your pizza timer.')
})

test('the one that is meant is found by name, by what it was set for, or as the next to ring', async () => {
  await run('set_timer', { durationMs: 30 * MINUTE_MS })
  await run('set_timer', { durationMs: 5 * MINUTE_MS })
  await run('set_timer', { durationMs: 5 * MINUTE_MS, name: 'eggs' })
  expect(await say('list_timers')).toBe(
    'There are 3: the 5 minute timer has 5 minutes left, the eggs timer has 5 minutes left and the 30 minute timer has 30 minutes left.',
  )
  expect(await say('change_timer', { durationMs: 30 * MINUTE_MS, addMs: -28 * MINUTE_MS })).toContain('2 minutes left')
  expect(await say('change_timer', { paused: true })).toBe('Your 2 minute timer is paused with 2 minutes left.')
  expect(await say('cancel_timer', { durationMs: 30 * MINUTE_MS })).toBe('I cancelled your 2 minute timer.')
  expect(await say('cancel_timer', { name: 'egg' })).toBe('I cancelled your eggs timer.')
  await expect(run('cancel_timer', { name: 'soup' })).rejects.toMatchObject({ status: 404, message: 'There is no timer named “soup”.' })
  await expect(run('change_timer', { durationMs: 7 * MINUTE_MS })).rejects.toMatchObject({
    status: 404,
    message: 'There is no timer for 7 minutes.',
  })
  expect(await say('cancel_timer')).toBe('I cancelled your 5 minute timer.')
  await expect(run('cancel_timer')).rejects.toMatchObject({ status: 404, message: 'There is no timer.' })
  expect(await say('cancel_timer', { all: true })).toBe('There is no timer to cancel.')
})

test('“stop the timer” means the one that rings', async () => {
  await run('set_timer', { durationMs: 30 * MINUTE_MS })
  await run('set_timer', { durationMs: MINUTE_MS, name: 'tea' })
  wait(MINUTE_MS)
  await expect.poll(() => say('list_timers'), { timeout: 15_000 }).toContain('the tea timer is ringing')
  expect(await say('cancel_timer')).toBe('I turned off your tea timer.')
  expect(await say('list_timers')).toBe('Your 30 minute timer has 29 minutes left.')
})

test('an alarm is told by its time in the household', async () => {
  expect(await say('set_timer', { endsAt: '2026-11-22T07:00', name: 'Wake-up' })).toBe('Your Wake-up alarm rings tomorrow at 07:00.')
  expect(await say('set_timer', { endsAt: '2026-11-21T18:30:00Z' })).toBe('Your alarm rings today at 19:30.')
  await expect(run('set_timer', { endsAt: '2026-11-20T07:00' })).rejects.toMatchObject({ status: 400 })
  await expect(run('set_timer', {})).rejects.toMatchObject({ status: 400 })
  await expect(run('change_timer', { name: 'wake-up', paused: true })).rejects.toMatchObject({ status: 409 })
  expect(await say('cancel_timer', { all: true })).toBe('I cancelled all 2 timers.')
})

test('guests may not', async () => {
  await expect(runAs(house, { deviceId: phone.id, scope: 'guest' })('set_timer', { durationMs: 1_000 })).rejects.toMatchObject({
    status: 403,
  })
})
