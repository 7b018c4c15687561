import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Notification, notificationActed } from '../../server/modules/notifications/notifications.contract.ts'
import { type Browser, type Device, type House, startHouse } from '../support/house.ts'
import { connectSocket, expectTalking } from '../support/socket-client.ts'
import { connectDevice, type DeviceClient } from './device-client.ts'

const WAIT = { timeout: 15_000 }

let house: House
let owner: Browser
beforeAll(async () => {
  house = await startHouse()
  owner = await house.residentOwner()
})
afterAll(() => house[Symbol.asyncDispose]())

let phone: Device
beforeEach(async () => {
  phone = await house.pair('Phone')
})

type Send = Parameters<Browser['api']['notifications']['send']>[0]['body']
const send = async (device: Device, title: string, more: Partial<Send> = {}) =>
  (await owner.api.notifications.send({ body: { title, body: '', deviceId: device.id, ...more } })) as Notification
const connect = (device: Device, lastSeq?: number) => connectDevice(house.url, device, lastSeq)
const statusOf = async (id: string) => (await owner.api.notifications.get({ params: { id } })).status
const titles = (client: DeviceClient) => client.pushed().map(({ title }) => title)
/** Everything that the server sent before this has arrived. */
async function settled(client: DeviceClient): Promise<void> {
  await expectTalking(client, 'settled')
}
async function sendMany(device: Device, count: number, prefix = 'n'): Promise<Notification[]> {
  const all: Notification[] = []
  for (let at = 0; at < count; at += 50)
    all.push(...(await Promise.all(Array.from({ length: Math.min(50, count - at) }, (_, n) => send(device, `${prefix}${at + n}`)))))
  return all
}

test('what a device missed comes when it is back, in order, each once; what it acknowledged never again', async () => {
  await send(phone, 'a')
  await send(phone, 'b')
  const client = await connect(phone)
  await expect.poll(() => titles(client), WAIT).toEqual(['a', 'b'])
  await send(phone, 'c')
  await expect.poll(() => titles(client), WAIT).toEqual(['a', 'b', 'c'])
  const [a, , c] = client.pushed()
  expect(await client.ask('notification.ack', { id: a?.id, status: 'delivered' })).toMatchObject({ ok: true })
  expect(await statusOf(a?.id ?? '')).toBe('delivered')
  expect(await statusOf(c?.id ?? '')).toBe('sent')
  await client.leave()
  const again = await connect(phone, c?.seq)
  expect(again.seq).toBe(c?.seq)
  await expect.poll(() => titles(again), WAIT).toEqual(['b', 'c'])
  for (const { id } of again.pushed()) expect(await again.ask('notification.ack', { id, status: 'read' })).toMatchObject({ ok: true })
  await again.leave()
  const last = await connect(phone)
  await settled(last)
  expect(titles(last)).toEqual([])
  await last.leave()
})

test('five hundred that a device missed come within two seconds, each once and in order, and end delivered', async () => {
  const sent = await sendMany(phone, 500)
  const startedAt = performance.now()
  const client = await connect(phone)
  await expect.poll(() => client.pushed().length, { timeout: 15_000, interval: 10 }).toBe(500)
  const tookMs = performance.now() - startedAt
  const arrived = client.pushed()
  expect(new Set(arrived.map(({ id }) => id))).toEqual(new Set(sent.map(({ id }) => id)))
  expect(arrived.map(({ seq }) => seq)).toEqual(arrived.map(({ seq }) => seq).toSorted((a, b) => a - b))
  const results = await Promise.all(arrived.map(({ id }) => client.ask('notification.ack', { id, status: 'delivered' })))
  expect(results.every(({ ok }) => ok)).toBe(true)
  expect(await phone.api.notifications.list({ query: { status: 'delivered', limit: 500 } })).toHaveLength(500)
  process.stdout.write(`500 missed notifications after ${tookMs.toFixed(0)} ms\n`)
  await client.leave()
}, 60_000)

test('one that breaks off and comes back hears of each again until it is acknowledged, and while it catches up of new ones in their place', async () => {
  const before = await sendMany(phone, 300)
  const first = await connectSocket(`${house.url}/ws?token=${phone.accessToken}`)
  first.send({ type: 'hello' })
  await first.next('notification.push')
  first.socket.terminate()
  await first.closed
  const client = await connect(phone)
  const meanwhile = await sendMany(phone, 100, 'new')
  await expect.poll(() => client.pushed().length, WAIT).toBe(400)
  await settled(client)
  const seqs = client.pushed().map(({ seq }) => seq)
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
  expect(new Set(client.pushed().map(({ id }) => id))).toEqual(new Set([...before, ...meanwhile].map(({ id }) => id)))
  await client.leave()
}, 60_000)

test('every connection of a device hears of each once, whichever opened it first', async () => {
  await send(phone, 'a')
  const [one, two] = [await connect(phone), await connect(phone)]
  await Promise.all(['b', 'c'].map((title) => send(phone, title)))
  for (const client of [one, two]) await expect.poll(() => titles(client).toSorted(), WAIT).toEqual(['a', 'b', 'c'])
  await one.leave()
  await send(phone, 'd')
  await expect.poll(() => titles(two).at(-1), WAIT).toBe('d')
  expect(titles(two)).toHaveLength(4)
  await two.leave()
})

test('who says no hello hears all the same after two seconds', async () => {
  await send(phone, 'a')
  const client = await connectSocket(`${house.url}/ws?token=${phone.accessToken}`)
  expect((await client.next('notification.push', 5_000)).payload).toMatchObject({ title: 'a' })
  client.socket.close()
  await client.closed
})

test('nobody acknowledges or presses what is another’s, not even an admin, nor what there is not', async () => {
  const tablet = await house.pair('Tablet', 'admin', 'tablet')
  const guest = await house.pair('Guest', 'guest')
  const one = await send(phone, 'mine', { category: 'CAMERA_ALERT' })
  for (const device of [tablet, guest]) {
    const client = await connect(device)
    for (const id of [one.id, randomUUID()]) {
      expect(await client.ask('notification.ack', { id, status: 'read' })).toMatchObject({ ok: false })
      expect(await client.ask('notification.action', { id, action: 'View' })).toMatchObject({ ok: false })
    }
    await client.leave()
  }
  const params = { id: one.id }
  await expect(tablet.api.notifications.action({ params, body: { action: 'View' } })).rejects.toMatchObject({ status: 404 })
  expect(await statusOf(one.id)).toBe('pending')
})

test('what a client sends half right changes nothing and ends nothing', async () => {
  const { id } = await send(phone, 'a')
  const client = await connect(phone)
  const bad = [undefined, {}, { id }, { id, status: 'pending' }, { id: 7, status: 'read' }, { id: 'x', status: 'read' }, [], 'read']
  for (const payload of bad) {
    client.send({ type: 'notification.ack', payload })
    expect((await client.next('error')).payload, JSON.stringify(payload)).toMatchObject({ code: 'validation_failed' })
  }
  client.send({ type: 'notification.action', payload: { id, action: 'x'.repeat(65) } })
  expect((await client.next('error')).payload).toMatchObject({ code: 'validation_failed' })
  for (const lastSeq of [-1, 1.5, '3']) {
    client.send({ type: 'hello', payload: { lastSeq } })
    expect((await client.next('error')).payload).toMatchObject({ code: 'validation_failed' })
  }
  client.send({ type: 'hello', payload: { lastSeq: Number.MAX_SAFE_INTEGER } })
  await settled(client)
  expect(titles(client)).toEqual(['a'])
  await client.leave()
  const ahead = await connect(phone, Number.MAX_SAFE_INTEGER)
  await expect.poll(() => titles(ahead), WAIT).toEqual(['a'])
  await ahead.leave()
})

/** The reminder of a to-do that is due now, on the phone’s list. */
async function reminded(title: string): Promise<{ todoId: string; id: string }> {
  const todo = await owner.api.todos.create({ body: { title, remindAt: new Date(Date.now() + 50).toISOString() } })
  const found = async () => (await phone.api.notifications.list({ query: {} })).find(({ data }) => data.todoId === todo.id)
  await expect.poll(found, WAIT).toBeDefined()
  return { todoId: todo.id, id: (await found())?.id ?? '' }
}

test('Mark Done completes the to-do, Snooze 15min reminds of it again, both have been read', async () => {
  const client = await connect(phone)
  const done = await reminded('water the plants')
  expect(await client.ask('notification.action', { id: done.id, action: 'Mark Done' })).toMatchObject({ ok: true })
  expect(await owner.api.todos.get({ params: { id: done.todoId } })).toMatchObject({ completedAt: expect.any(String) })
  expect(await statusOf(done.id)).toBe('read')
  for (const action of ['Mark Done', 'Snooze 15min']) {
    expect(await client.ask('notification.action', { id: done.id, action })).toMatchObject({ ok: false, error: 'This is done already.' })
  }

  const later = await reminded('take out the bins')
  await phone.api.notifications.action({ params: { id: later.id }, body: { action: 'Snooze 15min' } })
  const { remindAt = '', completedAt } = await owner.api.todos.get({ params: { id: later.todoId } })
  expect(completedAt).toBeUndefined()
  expect(Date.parse(remindAt) - Date.now()).toBeGreaterThan(14 * 60_000)
  expect(Date.parse(remindAt) - Date.now()).toBeLessThanOrEqual(15 * 60_000)
  expect(await statusOf(later.id)).toBe('read')

  const gone = await reminded('call the plumber')
  await owner.api.todos.remove({ params: { id: gone.todoId } })
  expect(await client.ask('notification.action', { id: gone.id, action: 'Mark Done' })).toMatchObject({ ok: false })
  expect(await statusOf(gone.id)).toBe('read')
  await client.leave()
})

test('the other buttons mark it as read and are told within the house; what it has no button for is refused', async () => {
  const pressed: string[] = []
  const off = house.app.events.on(notificationActed, ({ action }) => void pressed.push(action))
  const camera = await send(phone, 'Somebody is at the door', { category: 'CAMERA_ALERT' })
  const backup = await send(phone, 'Backup complete', { category: 'BACKUP_COMPLETE' })
  const plain = await send(phone, 'Dinner is ready')
  const press = (id: string, action: string) => phone.api.notifications.action({ params: { id }, body: { action } })
  expect(await press(camera.id, 'View')).toMatchObject({ status: 'read', readAt: expect.any(String) })
  await press(backup.id, 'View Files')
  await press(plain.id, 'Dismiss')
  expect(pressed).toEqual(['View', 'View Files', 'Dismiss'])
  for (const [id, action] of [
    [camera.id, 'View Files'],
    [backup.id, 'Mark Done'],
    [plain.id, 'View'],
    [plain.id, '__proto__'],
  ] as const)
    await expect(press(id, action)).rejects.toMatchObject({ status: 400 })
  off()
})

test('a guest cannot change a to-do by its reminder', async () => {
  const guest = await house.pair('Guest', 'guest')
  const todo = await owner.api.todos.create({ body: { title: 'secret' } })
  const one = await send(guest, 'secret', { category: 'REMINDER', data: { todoId: todo.id } })
  await expect(guest.api.notifications.action({ params: { id: one.id }, body: { action: 'Mark Done' } })).rejects.toMatchObject({
    status: 403,
  })
  expect(await owner.api.todos.get({ params: { id: todo.id } })).not.toHaveProperty('completedAt')
  expect(await statusOf(one.id)).toBe('pending')
})

test('read-all ends what was missed too', async () => {
  await sendMany(phone, 30)
  await phone.api.notifications.readAll()
  const client = await connect(phone)
  await settled(client)
  expect(titles(client)).toEqual([])
  await client.leave()
})

test('what was sent before a restart and not acknowledged comes after it', async () => {
  const client = await connect(phone)
  const [a] = [await send(phone, 'a'), await send(phone, 'b')]
  await client.ask('notification.ack', { id: a.id, status: 'delivered' })
  await house.restart()
  owner = await house.residentOwner()
  const again = await connect(phone)
  await expect.poll(() => titles(again), WAIT).toEqual(['b'])
  await again.leave()
})

test('a test message is acknowledged like any other, in quiet hours too', async () => {
  const { household } = await owner.api.household.get()
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: household.timezone, hour: '2-digit', minute: '2-digit' })
  const [from, to] = [-1, 1].map((hours) => clock.format(Date.now() + hours * 3_600_000))
  await owner.api.pairedDevices.update({ params: { id: phone.id }, body: { quietHours: { from: from ?? '', to: to ?? '' } } })
  const client = await connect(phone)
  await owner.api.pairedDevices.test({ params: { id: phone.id } })
  await expect.poll(() => titles(client), WAIT).toEqual(['Hello from Hearth'])
  await send(phone, 'held')
  await settled(client)
  const [hello] = client.pushed()
  expect(titles(client)).toEqual(['Hello from Hearth'])
  expect(await client.ask('notification.ack', { id: hello?.id, status: 'delivered' })).toMatchObject({ ok: true })
  await owner.api.pairedDevices.update({ params: { id: phone.id }, body: { quietHours: null } })
  await expect.poll(() => titles(client), WAIT).toEqual(['Hello from Hearth', 'held'])
  await client.leave()
})

test('the PC hears what is meant for it, in the window of its owner', async () => {
  await using alone = await startHouse()
  const resident = await alone.residentOwner()
  const sent = (await resident.api.notifications.send({ body: { title: 'Dinner', body: '' } })) as { items: Notification[] }
  const cookie = resident.jar.header() ?? ''
  const window = await connectSocket(`${alone.url}/ws`, { headers: { cookie, origin: alone.url } })
  window.send({ type: 'hello' })
  expect((await window.next('notification.push')).payload).toMatchObject({ id: sent.items[0]?.id, title: 'Dinner' })
  window.send({ type: 'notification.ack', id: 'a', payload: { id: sent.items[0]?.id, status: 'delivered' } })
  expect((await window.next('result')).payload).toEqual({ id: 'a', ok: true })
  window.socket.close()
  await window.closed
})
