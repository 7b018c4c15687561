import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { runAs } from '../support/action-calls.ts'
import { makeFamily } from '../support/family.ts'
import { type Device, type House, startHouse } from '../support/house.ts'

let house: House
let phone: Device
let run: ReturnType<typeof runAs>
let asBen: ReturnType<typeof runAs>
let asAda: ReturnType<typeof runAs>
beforeAll(async () => {
  house = await startHouse()
  const { ada, ben } = await makeFamily(house)
  phone = await house.pair('Phone')
  run = runAs(house, { deviceId: phone.id })
  const bens = await house.pair('Ben’s phone')
  asBen = runAs(house, { deviceId: bens.id, personId: ben })
  asAda = runAs(house, { deviceId: (await house.pair('Ada’s phone')).id, personId: ada })
})
afterAll(() => house[Symbol.asyncDispose]())
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime('2026-11-21T12:00:00.000Z')
})
afterEach(async () => {
  const owner = await house.residentOwner()
  for (const { id } of await owner.api.timers.list()) await owner.api.timers.remove({ params: { id } })
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
  await expect(run('change_timer', { paused: true })).rejects.toMatchObject({
    status: 409,
    message: 'Which one: the 2 minute timer, the 5 minute timer or the eggs timer?',
  })
  await expect(run('cancel_timer')).rejects.toMatchObject({ status: 409, code: 'which_timer' })
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
  await run('set_timer', { durationMs: MINUTE_MS })
  expect(await say('cancel_timer', { all: true })).toBe('I cancelled your 1 minute timer.')
  expect(await say('cancel_timer', { all: true, kind: 'alarm' })).toBe('I cancelled all your 2 alarms.')
})

test('“mine”, “the” and “all” are the speaker’s own; others’ are told with whose they are', async () => {
  await asBen('set_timer', { durationMs: 3 * MINUTE_MS, name: 'tea' })
  await asBen('set_timer', { endsAt: '2026-11-22T07:00' })
  const refused = { status: 404, message: 'You have no timer. There is Ben’s tea timer. Say: cancel Ben’s tea timer.' }
  for (const params of [{}, { all: true }, { durationMs: 3 * MINUTE_MS }])
    await expect(asAda('cancel_timer', params)).rejects.toMatchObject(refused)
  await expect(asAda('change_timer', { paused: true })).rejects.toMatchObject({
    message: expect.stringContaining('Say: pause Ben’s tea timer.'),
  })
  await asAda('set_timer', { durationMs: 10 * MINUTE_MS, name: 'pizza' })
  expect((await asAda('list_timers')).output).toBe(
    'Your pizza timer has 10 minutes left. Ben’s tea timer has 3 minutes left. Ben’s alarm rings tomorrow at 07:00.',
  )
  expect((await asAda('list_timers')).data).toMatchObject([
    { name: 'pizza' },
    { name: 'tea', owner: 'Ben' },
    { kind: 'alarm', owner: 'Ben' },
  ])
  expect((await asAda('cancel_timer', { all: true })).output).toBe('I cancelled your pizza timer.')
  expect((await asBen('list_timers')).output).toBe('There are 2: the tea timer has 3 minutes left and the alarm rings tomorrow at 07:00.')
})

test('by its name any member stops a timer of the house, but an alarm only its own person or an admin', async () => {
  for (const name of ['tea', 'eggs', 'soup']) await asBen('set_timer', { durationMs: 3 * MINUTE_MS, name })
  expect((await asAda('cancel_timer', { name: 'Ben’s tea timer' })).output).toBe('I cancelled Ben’s tea timer.')
  expect((await asAda('cancel_timer', { name: 'eggs' })).output).toBe('I cancelled Ben’s eggs timer.')
  expect((await asAda('cancel_timer', { name: "ben's" })).output).toBe('I cancelled Ben’s soup timer.')
  const { data } = await asBen('set_timer', { endsAt: '2026-11-22T07:00', name: 'Wake-up' })
  const { id } = data as { id: string }
  for (const params of [{ id }, { name: 'Wake-up' }]) {
    await expect(asAda('cancel_timer', params)).rejects.toMatchObject({ status: 403, message: expect.stringContaining('Ben’s') })
  }
  await expect(asAda('change_timer', { id, addMs: MINUTE_MS })).rejects.toMatchObject({ status: 403 })
  await expect(asAda('cancel_timer', { kind: 'alarm', all: true })).rejects.toMatchObject({ status: 404 })
  expect((await asBen('cancel_timer', { kind: 'alarm' })).output).toBe('I cancelled your Wake-up alarm.')
})

test('a shared device has the timers that were set at it', async () => {
  await run('set_timer', { durationMs: 5 * MINUTE_MS, name: 'pasta' })
  expect((await asBen('list_timers')).output).toBe('You have no timer. Phone’s pasta timer has 5 minutes left.')
  expect(await say('cancel_timer')).toBe('I cancelled your pasta timer.')
})

/** What Ada says in the window. */
async function adaSays(message: string): Promise<string> {
  const owner = await house.residentOwner()
  const answer = await owner.fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message }),
  })
  return (await answer.text()).split('\n').slice(1).join('\n')
}

test('in the chat too everyone means their own', async () => {
  await asBen('set_timer', { durationMs: 3 * MINUTE_MS, name: 'tea' })
  await asBen('set_timer', { endsAt: '2026-11-22T07:00' })
  expect(await adaSays('cancel all timers')).toContain('Ben’s tea timer')
  expect(await adaSays('cancel my timer')).toContain('Ben’s tea timer')
  expect(await adaSays('Stopp alle Timer')).toBe('Du hast keinen. Es gibt: tea (Ben).')
  expect(await adaSays('Lösche den Wecker')).toBe('Du hast keinen. Es gibt: Der Wecker (Ben).')
  expect(await adaSays('when is my next alarm?')).toMatch(/No alarm.*Ben’s/)
  expect(await adaSays('cancel my alarm')).toContain('You have no alarm')
  expect(await adaSays('cancel all my alarms')).toContain('You have no alarm')
  expect(await asBen('list_timers')).toMatchObject({ data: [{ name: 'tea' }, { kind: 'alarm' }] })
  await adaSays('set a timer for 4 minutes')
  await adaSays('set an alarm for 6:30')
  await adaSays('set an alarm for 8:15 am')
  expect(await adaSays('how much time is left on my timer?')).toMatch(/^(?!.*Ben).*4 minutes/)
  await adaSays('set a pasta timer for 9 minutes')
  expect(await adaSays('stop the timer')).toBe('Which one: the 4 minute timer or the pasta timer?')
  expect(await adaSays('Stopp den Timer')).toBe('Welcher: Der Timer über 4 Minuten oder pasta?')
  await adaSays('cancel the pasta timer')
  expect(await adaSays('stop all my timers')).toBe('I cancelled your 4 minute timer.')
  expect(await adaSays('cancel my 8:15 alarm')).toContain('cancelled')
  expect(await adaSays('when is my next alarm?')).toMatch(/^(?!.*Ben)(?!.*08:15).*06:30/)
  expect(await adaSays("cancel Ben's tea timer")).toBe('I cancelled Ben’s tea timer.')
  expect(await adaSays('cancel all timers and alarms')).toContain('alarm')
  expect(await asBen('list_timers')).toMatchObject({ data: [{ kind: 'alarm' }] })
})

test('guests may not', async () => {
  await expect(runAs(house, { deviceId: phone.id, scope: 'guest' })('set_timer', { durationMs: 1_000 })).rejects.toMatchObject({
    status: 403,
  })
})
