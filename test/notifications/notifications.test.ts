import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Notification } from '../../server/modules/notifications/notifications.contract.ts'
import { codeOf } from '../support/answers.ts'
import { json } from '../support/credentials.ts'
import { type Browser, type Device, type House, startHouse } from '../support/house.ts'
import { connectSocket, talking } from '../support/socket-client.ts'

let house: House
let owner: Browser
let phone: Device
let tablet: Device
let guest: Device
beforeAll(async () => {
  house = await startHouse()
  owner = await house.residentOwner()
  phone = await house.pair('Phone', 'member')
  tablet = await house.pair('Tablet', 'admin', 'tablet')
  guest = await house.pair('Guest', 'guest')
})
afterAll(() => house[Symbol.asyncDispose]())

let title = ''
beforeEach(({ task }) => {
  title = task.name
})

type Send = Parameters<Browser['api']['notifications']['send']>[0]['body']
const send = (body: Partial<Send> = {}) => owner.api.notifications.send({ body: { title, body: 'Dinner is ready', ...body } })
async function sendTo(device: Device, body: Partial<Send> = {}): Promise<Notification> {
  return (await send({ deviceId: device.id, ...body })) as Notification
}
const itemsOf = async (sent: ReturnType<typeof send>) => ((await sent) as { items: Notification[] }).items

test('without a device every paired one gets a record of its own', async () => {
  const items = await itemsOf(send({ level: 'critical', category: 'CAMERA_ALERT', data: { cameraId: 'door' } }))
  expect(items.map(({ deviceId }) => deviceId)).toEqual([phone.id, tablet.id, guest.id])
  expect(items[0]).toEqual({
    id: expect.any(String),
    title,
    body: 'Dinner is ready',
    deviceId: phone.id,
    level: 'critical',
    category: 'CAMERA_ALERT',
    status: 'pending',
    data: { cameraId: 'door' },
    createdAt: expect.any(String),
    sentAt: null,
    deliveredAt: null,
    readAt: null,
  })
  for (const device of [phone, guest]) expect((await device.api.notifications.list({ query: { limit: 1 } }))[0]?.title).toBe(title)
})

test('a house with nothing but the PC hears of it there', async () => {
  await using alone = await startHouse()
  const console_ = await alone.residentOwner()
  const { items } = (await console_.api.notifications.send({ body: { title, body: '' } })) as { items: Notification[] }
  expect(items).toHaveLength(1)
  expect(await console_.api.notifications.list({ query: {} })).toEqual(items)
  await console_.api.notifications.readAll()
  expect(await console_.api.notifications.list({ query: { status: 'read' } })).toMatchObject([{ id: items[0]?.id }])
  const actions = alone.app.actions
  const call = { caller: callerOf(items[0]?.deviceId ?? ''), origin: 'api' as const, signal: new AbortController().signal }
  await expect(actions.run('send_notification', { title, target: 'phones' }, call)).rejects.toMatchObject({
    status: 409,
    code: 'no_device',
  })
})

test('devices see their own, admins everybody’s, strangers nothing', async () => {
  const one = await sendTo(phone)
  const params = { id: one.id }
  expect(await phone.api.notifications.get({ params })).toEqual(one)
  expect(await tablet.api.notifications.get({ params })).toEqual(one)
  await expect(guest.api.notifications.get({ params })).rejects.toMatchObject({ status: 404, code: 'not_found' })
  await expect(guest.api.notifications.ack({ params, body: { status: 'read' } })).rejects.toMatchObject({ status: 404 })
  const ids = async (device: Device | Browser, query = {}) => (await device.api.notifications.list({ query })).map(({ id }) => id)
  expect(await ids(guest)).not.toContain(one.id)
  expect((await ids(tablet))[0]).toBe(one.id)
  expect((await ids(owner, { deviceId: phone.id }))[0]).toBe(one.id)
  expect(await ids(owner, { deviceId: guest.id })).not.toContain(one.id)
  expect((await ids(phone, { deviceId: phone.id }))[0]).toBe(one.id)
  expect(await codeOf(await phone.fetch(`/api/notifications?deviceId=${guest.id}`))).toBe('forbidden')
})

test('only admins send, to devices that there are, and nothing half right', async () => {
  const post = (body: unknown) => json(body)
  expect((await phone.fetch('/api/notifications/send', post({ title, body: '' }))).status).toBe(403)
  const refused: [unknown, number][] = [
    [{ title, body: '', deviceId: randomUUID() }, 404],
    [{ title: ' ', body: '' }, 400],
    [{ title }, 400],
    [{ title, body: '', level: 'loud' }, 400],
    [{ title, body: '', category: 'OTHER' }, 400],
    [{ title, body: '', deviceId: 'phone' }, 400],
    [{ title, body: '', data: { a: 1 } }, 400],
    [{ title, body: '', status: 'read' }, 400],
    [{ title: 'x'.repeat(201), body: '' }, 400],
  ]
  for (const [body, status] of refused) {
    expect((await tablet.fetch('/api/notifications/send', post(body))).status, JSON.stringify(body)).toBe(status)
  }
})

test('it goes from pending by delivered to read, and never back', async () => {
  const { id } = await sendTo(phone)
  const ack = (status: 'delivered' | 'read') => phone.api.notifications.ack({ params: { id }, body: { status } })
  const delivered = await ack('delivered')
  expect(delivered).toMatchObject({ status: 'delivered', deliveredAt: expect.any(String), readAt: null })
  expect(await ack('delivered')).toEqual(delivered)
  const read = await ack('read')
  expect(read).toMatchObject({ status: 'read', deliveredAt: delivered.deliveredAt, readAt: expect.any(String) })
  expect(await ack('delivered')).toEqual(read)
  const other = await sendTo(phone)
  expect(await owner.api.notifications.ack({ params: { id: other.id }, body: { status: 'read' } })).toMatchObject({
    status: 'read',
    deliveredAt: expect.any(String),
  })
})

test('a second one of the same key to the same device is not made', async () => {
  const [first, second] = await Promise.all([sendTo(phone, { dedupeKey: 'one' }), sendTo(phone, { dedupeKey: 'one', body: 'again' })])
  expect(second).toEqual(first)
  const items = await itemsOf(send({ dedupeKey: 'one' }))
  expect(items[0]).toEqual(first)
  expect(items[1]?.deviceId).toBe(tablet.id)
  expect((await phone.api.notifications.list({ query: {} })).filter(({ id }) => id === first.id)).toHaveLength(1)
})

test('a device that is connected is told at once; the others stay pending', async () => {
  await phone.api.notifications.readAll()
  const socket = await talking(connectSocket(`${house.url}/ws?token=${phone.accessToken}`))
  socket.send({ type: 'subscribe', payload: { topics: ['notification.changed'] } })
  await socket.next('result')
  const items = await itemsOf(send())
  const push = await socket.next('notification.push')
  expect(push.payload).toEqual({
    id: items[0]?.id,
    title,
    body: 'Dinner is ready',
    level: 'info',
    category: null,
    seq: expect.any(Number),
    data: {},
  })
  expect(items.map(({ status }) => status)).toEqual(['sent', 'pending', 'pending'])
  expect(items[0]?.sentAt).toEqual(expect.any(String))
  expect((await socket.next('notification.changed')).payload).toEqual({ id: items[0]?.id, deviceId: phone.id, status: 'pending' })
  expect((await socket.next('notification.changed')).payload).toEqual({ id: items[0]?.id, deviceId: phone.id, status: 'sent' })
  expect(socket.messages).toEqual([])
  socket.socket.close()
  await socket.closed
})

test('read-all reads one’s own and nobody else’s, however many', async () => {
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 40 }, () => sendTo(phone)))
  const guests = await sendTo(guest)
  await phone.api.notifications.readAll()
  const unread = await Promise.all(
    (['pending', 'sent', 'delivered'] as const).map((status) => phone.api.notifications.list({ query: { status } })),
  )
  expect(unread.flat()).toEqual([])
  expect(await guest.api.notifications.get({ params: { id: guests.id } })).toMatchObject({ status: 'pending' })
})

test('what was answered is there after a restart, in order', async () => {
  const before = await owner.api.notifications.list({ query: { limit: 500 } })
  await house.restart()
  expect(await (await house.residentOwner()).api.notifications.list({ query: { limit: 500 } })).toEqual(before)
  expect(before.map(({ createdAt }) => createdAt)).toEqual(
    before
      .map(({ createdAt }) => createdAt)
      .toSorted()
      .reverse(),
  )
})

const callerOf = (deviceId: string, scope: 'guest' | 'member' = 'member') => ({
  kind: 'device' as const,
  scope,
  deviceId,
  userId: randomUUID(),
  personId: null,
  sessionId: randomUUID(),
  via: 'bearer' as const,
})

test('as an action it is for members, and says whom it told', async () => {
  const run = (params: unknown, scope: 'guest' | 'member' = 'member') =>
    house.app.actions.run('send_notification', params, {
      caller: callerOf(phone.id, scope),
      origin: 'chat',
      signal: new AbortController().signal,
    })
  await expect(run({ title }, 'guest')).rejects.toMatchObject({ status: 403 })
  expect(await run({ title })).toMatchObject({ output: `I sent “${title}” to everyone.`, data: { items: [{}, {}, {}] } })
  expect(await run({ title, target: 'phones', level: 'warning' })).toMatchObject({ data: { items: [{ level: 'warning' }, {}] } })
  const { persons } = await owner.api.household.get()
  const ada = persons[0]?.id ?? ''
  const toAda = await run({ title, target: `person:${ada}` })
  expect(toAda.output).toContain('Ada')
  expect(toAda.data).toMatchObject({ items: [{ title }] })
  await expect(run({ title, target: `person:${randomUUID()}` })).rejects.toMatchObject({ status: 404 })
  await expect(run({ title, target: 'person:Ada' })).rejects.toMatchObject({ status: 400, details: [{ path: 'body.target' }] })
  await expect(run({ title: '' })).rejects.toMatchObject({ status: 400 })
})
