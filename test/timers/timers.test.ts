import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { timerChanged } from '../../server/modules/timers/timers.contract.ts'
import { refreshed } from '../support/bearer-calls.ts'
import { later } from '../support/clock.ts'
import { json } from '../support/credentials.ts'
import { type Family, makeFamily } from '../support/family.ts'
import { type Device, type House, startHouse } from '../support/house.ts'

let house: House
let family: Family
let phone: Device
let tablet: Device
beforeEach(async () => {
  house = await startHouse()
  family = await makeFamily(house)
  phone = await house.pair('Phone')
  tablet = await house.pair('Tablet', 'member', 'tablet')
})
afterEach(async () => {
  vi.useRealTimers()
  await house[Symbol.asyncDispose]()
})

const MINUTE_MS = 60_000
const WAIT = { timeout: 15_000 }
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
const set = (durationMs: number, name?: string, who: Pick<Device, 'api'> = phone) =>
  who.api.timers.create({ body: { durationMs, ...(name !== undefined && { name }) } })
const get = (id: string) => family.owner.api.timers.get({ params: { id } })
const change = (id: string, body: { name?: string; paused?: boolean; addMs?: number }) =>
  family.owner.api.timers.update({ params: { id }, body })
/** What rang, oldest first, as whoever sees everything sees it. */
async function rings() {
  const all = await family.owner.api.notifications.list({ query: { limit: 500 } })
  return all.filter(({ category }) => category === 'TIMER').toReversed()
}

test('several run at once, and ring where they were set', async () => {
  const pizza = await set(2_000, 'pizza')
  const eggs = await set(2_300, '', tablet)
  const far = await set(90 * MINUTE_MS, 'Wash timer', family.owner)
  expect(pizza).toMatchObject({ name: 'pizza', kind: 'timer', durationMs: 2_000, remainingMs: expect.any(Number), deviceId: phone.id })
  expect(Date.parse(pizza.endsAt) - Date.parse(pizza.createdAt)).toBe(2_000)
  expect(eggs).not.toHaveProperty('name')
  expect((await tablet.api.timers.list()).map(({ id }) => id)).toEqual([pizza.id, eggs.id, far.id])
  await expect.poll(rings, WAIT).toHaveLength(2)
  expect(await rings()).toMatchObject([
    { title: 'Pizza timer', body: 'Time is up.', level: 'warning', deviceId: phone.id, data: { timerId: pizza.id } },
    { title: 'Timer: 2 seconds', deviceId: tablet.id, data: { timerId: eggs.id } },
  ])
  const rang = await get(pizza.id)
  expect(rang).toMatchObject({ remainingMs: 0, rangAt: expect.any(String) })
  expect(Date.parse(rang.rangAt ?? '')).toBeGreaterThanOrEqual(Date.parse(pizza.endsAt))
  expect((await phone.api.timers.list()).map(({ id }) => id)).toEqual([far.id, pizza.id, eggs.id])
  await phone.api.timers.remove({ params: { id: pizza.id } })
  await expect(get(pizza.id)).rejects.toMatchObject({ status: 404, code: 'not_found' })
})

test('the console rings too', async () => {
  const { deviceId, id } = await set(50, 'tea', family.owner)
  await expect.poll(rings, WAIT).toMatchObject([{ title: 'Tea timer', deviceId, data: { timerId: id } }])
})

test('a paused timer stands still, and goes on with what was left', async () => {
  const { id } = await set(10 * MINUTE_MS)
  later(4 * MINUTE_MS)
  const paused = await change(id, { paused: true })
  expect(paused.pausedAt).toEqual(expect.any(String))
  expect(paused.remainingMs).toBeGreaterThan(5.9 * MINUTE_MS)
  expect(paused.remainingMs).toBeLessThanOrEqual(6 * MINUTE_MS)
  later(60 * MINUTE_MS)
  await house.restart()
  const still = await get(id)
  expect(still.remainingMs).toBe(paused.remainingMs)
  expect(Date.parse(still.endsAt)).toBeGreaterThan(Date.now())
  expect(await change(id, { paused: true })).toMatchObject({ pausedAt: paused.pausedAt })
  const running = await change(id, { paused: false })
  expect(running).not.toHaveProperty('pausedAt')
  expect(Date.parse(running.endsAt) - Date.now()).toBeLessThanOrEqual(paused.remainingMs)
  expect(await rings()).toEqual([])
})

test('time is added and taken, below zero it rings at once, and one that rang runs again', async () => {
  const { id, endsAt } = await set(10 * MINUTE_MS)
  const more = await change(id, { addMs: 5 * MINUTE_MS, name: 'rice' })
  expect(more).toMatchObject({ name: 'rice', durationMs: 15 * MINUTE_MS })
  expect(Date.parse(more.endsAt) - Date.parse(endsAt)).toBe(5 * MINUTE_MS)
  await change(id, { addMs: -16 * MINUTE_MS })
  await expect.poll(rings, WAIT).toHaveLength(1)
  expect(await change(id, { addMs: -MINUTE_MS })).toMatchObject({ remainingMs: 0, rangAt: expect.any(String) })
  const again = await change(id, { addMs: 2_000 })
  expect(again.remainingMs).toBeGreaterThan(0)
  expect(again).not.toHaveProperty('rangAt')
  await expect.poll(rings, WAIT).toHaveLength(2)
})

test('a paused timer from which all its time is taken stays paused, and rings when it goes on', async () => {
  const { id } = await set(10 * MINUTE_MS)
  later(4 * MINUTE_MS)
  await change(id, { paused: true })
  const empty = await change(id, { addMs: -100 * MINUTE_MS })
  expect(empty).toMatchObject({ pausedAt: expect.any(String), remainingMs: 0 })
  expect(empty).not.toHaveProperty('rangAt')
  expect(empty.durationMs).toBeGreaterThanOrEqual(4 * MINUTE_MS)
  expect(await rings()).toEqual([])
  expect(await change(id, { addMs: MINUTE_MS })).toMatchObject({ remainingMs: MINUTE_MS })
  await change(id, { addMs: -MINUTE_MS })
  await change(id, { paused: false })
  await expect.poll(rings, WAIT).toHaveLength(1)
})

test('a duration and an end are taken together only where they mean the same', async () => {
  const both = (durationMs: number, endsInMs: number) => phone.fetch('/api/timers', json({ durationMs, endsAt: inMs(endsInMs) }))
  const refused = await both(10 * MINUTE_MS, 60 * MINUTE_MS)
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ code: 'validation_failed', details: [{ path: 'body.endsAt' }] })
  const same = await both(10 * MINUTE_MS, 10 * MINUTE_MS)
  expect(same.status).toBe(201)
  expect(await same.json()).toMatchObject({ kind: 'timer', durationMs: 10 * MINUTE_MS })
})

test('an alarm rings at its time of day, and cannot be paused', async () => {
  const alarm = await phone.api.timers.create({ body: { endsAt: inMs(2_000) } })
  expect(alarm.kind).toBe('alarm')
  await expect(change(alarm.id, { paused: true })).rejects.toMatchObject({ status: 409, code: 'conflict' })
  await expect.poll(rings, WAIT).toMatchObject([{ title: expect.stringMatching(/^Alarm: \d\d:\d\d$/) }])
  const named = await phone.api.timers.create({ body: { endsAt: inMs(2_000), name: 'Wake-up' } })
  await expect.poll(rings, WAIT).toMatchObject([{}, { title: 'Wake-up alarm', data: { timerId: named.id } }])
})

test('what ended while nothing ran rings once right after the start, and says so', async () => {
  const { id } = await set(10 * MINUTE_MS, 'roast')
  later(3 * 60 * MINUTE_MS)
  await house.restart()
  await expect.poll(rings, WAIT).toHaveLength(1)
  expect((await rings())[0]).toMatchObject({
    body: expect.stringMatching(/^It ended at \d\d:\d\d, while Hearth was away\.$/),
    data: { timerId: id },
  })
  await house.restart()
  await family.owner.api.timers.list()
  expect(await rings()).toHaveLength(1)
  later(59 * MINUTE_MS)
  expect(await family.owner.api.timers.list()).toHaveLength(1)
  later(2 * MINUTE_MS)
  await expect.poll(() => family.owner.api.timers.list(), WAIT).toEqual([])
})

test('a timer of a device that is gone rings for everyone', async () => {
  const { id } = await set(2_000, 'soup', tablet)
  await family.owner.api.pairedDevices.revoke({ params: { id: tablet.id } })
  await expect.poll(rings, WAIT).toMatchObject([{ deviceId: phone.id, data: { timerId: id } }])
})

test('members set timers where they are, admins anywhere that is', async () => {
  const body = { durationMs: MINUTE_MS, deviceId: tablet.id }
  expect((await phone.fetch('/api/timers', json(body))).status).toBe(403)
  expect((await phone.fetch('/api/timers', json({ ...body, deviceId: phone.id }))).status).toBe(201)
  expect(await family.owner.api.timers.create({ body })).toMatchObject({ deviceId: tablet.id })
  await expect(family.owner.api.timers.create({ body: { ...body, deviceId: randomUUID() } })).rejects.toMatchObject({ status: 404 })
})

test('an alarm is changed and ended by its own person, where it rings, and by an admin; a shared one by everybody', async () => {
  const { owner, ada, ben } = family
  const give = async (device: Device, personId: string): Promise<Device> => {
    await owner.api.pairedDevices.update({ params: { id: device.id }, body: { personId } })
    const { accessToken, refreshToken } = await refreshed(house, device.refreshToken)
    return { ...house.bearer(accessToken), id: device.id, accessToken, refreshToken }
  }
  phone = await give(phone, ada)
  tablet = await give(tablet, ben)
  const kitchen = await house.pair('Kitchen', 'member', 'tv')
  const bens = { api: tablet.api, alarm: await tablet.api.timers.create({ body: { endsAt: inMs(3_600_000), name: 'Wake-up' } }) }
  const params = { id: bens.alarm.id }
  expect(bens.alarm).toMatchObject({ mayChange: true })
  expect(bens.alarm).not.toHaveProperty('owner')
  for (const other of [phone, kitchen]) {
    expect(await other.api.timers.get({ params })).toMatchObject({ owner: 'Ben', mayChange: false })
    expect(await other.api.timers.list()).toMatchObject([{ owner: 'Ben', mayChange: false }])
    const refused = { status: 403, code: 'forbidden', message: 'This is Ben’s alarm. Only Ben or an admin can change or end it.' }
    await expect(other.api.timers.update({ params, body: { name: 'Mine' } })).rejects.toMatchObject(refused)
    await expect(other.api.timers.update({ params, body: bens.alarm })).rejects.toMatchObject(refused)
    await expect(other.api.timers.remove({ params })).rejects.toMatchObject(refused)
  }
  expect(await get(params.id)).toMatchObject({ name: 'Wake-up', mayChange: true })
  expect(await bens.api.timers.update({ params, body: { name: 'Up' } })).toMatchObject({ name: 'Up', mayChange: true })
  expect(await change(params.id, { name: 'Get up' })).toMatchObject({ name: 'Get up', owner: 'Ben', mayChange: true })
  const atBens = await owner.api.timers.create({ body: { endsAt: inMs(3_600_000), deviceId: tablet.id } })
  expect(await tablet.api.timers.get({ params: { id: atBens.id } })).toMatchObject({ owner: 'Ada', mayChange: true })
  await tablet.api.timers.remove({ params: { id: atBens.id } })
  const shared = await kitchen.api.timers.create({ body: { endsAt: inMs(3_600_000) } })
  expect(await phone.api.timers.get({ params: { id: shared.id } })).toMatchObject({ owner: 'Kitchen', mayChange: true })
  await phone.api.timers.remove({ params: { id: shared.id } })
  const eggs = await set(10 * MINUTE_MS, 'eggs', tablet)
  expect(await phone.api.timers.get({ params: { id: eggs.id } })).toMatchObject({ owner: 'Ben', mayChange: true })
  await phone.api.timers.remove({ params: { id: eggs.id } })
  await bens.api.timers.remove({ params })
  expect(await owner.api.timers.list()).toEqual([])
})

test('what is not right is refused, with where', async () => {
  const refused: [Record<string, unknown>, string][] = [
    [{}, 'body.durationMs'],
    [{ durationMs: 0 }, 'body.durationMs'],
    [{ durationMs: 1.5 }, 'body.durationMs'],
    [{ durationMs: 400 * 24 * 3_600_000 }, 'body.durationMs'],
    [{ endsAt: inMs(-1_000) }, 'body.endsAt'],
    [{ endsAt: '9999-01-01T00:00:00Z' }, 'body.endsAt'],
    [{ endsAt: 'at seven' }, 'body.endsAt'],
    [{ durationMs: 1_000, ring: 'loud' }, 'body'],
  ]
  for (const [body, path] of refused) {
    const answer = await phone.fetch('/api/timers', json(body))
    expect(answer.status, JSON.stringify(body)).toBe(400)
    expect(await answer.json(), JSON.stringify(body)).toMatchObject({ code: 'validation_failed', details: [{ path }] })
  }
  const timer = await set(300 * 24 * 3_600_000)
  const params = { id: timer.id }
  await expect(change(timer.id, { addMs: 300 * 24 * 3_600_000 })).rejects.toMatchObject({ status: 400 })
  expect(await phone.api.timers.update({ params, body: timer })).toMatchObject({ endsAt: timer.endsAt })
  await expect(change(randomUUID(), { paused: true })).rejects.toMatchObject({ status: 404 })
})

test('two hundred at once are enough', async () => {
  const statuses = await Promise.all(
    Array.from({ length: 205 }, () => phone.fetch('/api/timers', json({ durationMs: MINUTE_MS })).then(({ status }) => status)),
  )
  expect(statuses.filter((status) => status === 201)).toHaveLength(200)
  expect(statuses.filter((status) => status === 409)).toHaveLength(5)
})

test('whoever listens hears of it', async () => {
  const heard: string[] = []
  house.app.events.on(timerChanged, ({ state }) => void heard.push(state))
  const { id } = await set(10 * MINUTE_MS)
  await change(id, { paused: true })
  await change(id, { paused: false, addMs: -11 * MINUTE_MS })
  await expect.poll(rings, WAIT).toHaveLength(1)
  await phone.api.timers.remove({ params: { id } })
  expect(heard).toEqual(['set', 'changed', 'changed', 'rang', 'removed'])
})
