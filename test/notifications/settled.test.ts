import { afterAll, beforeAll, expect, test } from 'vitest'
import { notificationChanged } from '../../server/modules/notifications/notifications.contract.ts'
import { runAs } from '../support/action-calls.ts'
import { json } from '../support/credentials.ts'
import { type Browser, type Device, type House, startHouse } from '../support/house.ts'

const WAIT = { timeout: 15_000 }

let house: House
let owner: Browser
let phone: Device
beforeAll(async () => {
  house = await startHouse()
  owner = await house.residentOwner()
  phone = await house.pair('Phone')
})
afterAll(() => house[Symbol.asyncDispose]())

const send = (device: Device, title: string) => owner.api.notifications.send({ body: { title, body: '', deviceId: device.id } })

/** The reminder of a to-do that is due now, on the phone’s list. */
async function reminded(title: string): Promise<{ todoId: string; id: string }> {
  const todo = await owner.api.todos.create({ body: { title, remindAt: new Date(Date.now() + 50).toISOString() } })
  const found = async () => (await phone.api.notifications.list({ query: {} })).find(({ data }) => data.todoId === todo.id)
  await expect.poll(found, WAIT).toBeDefined()
  return { todoId: todo.id, id: (await found())?.id ?? '' }
}

test('what is done, put off or deleted anywhere is settled on every device', async () => {
  const changed: string[] = []
  const off = house.app.events.on(notificationChanged, ({ id, status }) => void (status === 'read' && changed.push(id)))
  const other = await house.pair('Another phone')
  const copyOf = async (todoId: string) => (await other.api.notifications.list({ query: {} })).find(({ data }) => data.todoId === todoId)
  const settled = async (todoId: string) => {
    await expect.poll(async () => (await copyOf(todoId))?.status, WAIT).toBe('read')
    await expect.poll(() => changed, WAIT).toContain((await copyOf(todoId))?.id)
  }
  const press = async (device: Device, id: string, action: string) =>
    (await device.fetch(`/api/notifications/${id}/action`, json({ action }))).status

  const done = await reminded('dust')
  expect(await press(phone, done.id, 'Mark Done')).toBe(200)
  await settled(done.todoId)
  expect(await press(other, (await copyOf(done.todoId))?.id ?? '', 'Mark Done')).toBe(409)

  const later = await reminded('sweep')
  expect(await press(phone, later.id, 'Snooze 15min')).toBe(200)
  await settled(later.todoId)
  expect(await press(other, (await copyOf(later.todoId))?.id ?? '', 'Snooze 15min')).toBe(409)
  expect(await press(other, (await copyOf(later.todoId))?.id ?? '', 'Mark Done')).toBe(200)

  const onPage = await reminded('mop')
  await owner.api.todos.complete({ params: { id: onPage.todoId } })
  await settled(onPage.todoId)
  const gone = await reminded('rake')
  await owner.api.todos.remove({ params: { id: gone.todoId } })
  await settled(gone.todoId)
  off()
})

test('notifications are read page by page', async () => {
  const reader = await house.pair('Reader')
  for (let at = 0; at < 5; at++) await send(reader, `page ${at}`)
  const whole = await reader.api.notifications.list({ query: {} })
  const first = await reader.api.notifications.list({ query: { limit: 2 } })
  const rest = await reader.api.notifications.list({ query: { after: first.at(-1)?.id } })
  expect([...first, ...rest]).toEqual(whole)
  expect(whole).toHaveLength(5)
  expect(await owner.api.notifications.list({ query: { deviceId: reader.id, status: 'pending', after: first.at(-1)?.id } })).toEqual(
    rest.filter(({ status }) => status === 'pending'),
  )
  expect((await phone.fetch(`/api/notifications?after=${whole[0]?.id}`)).status).toBe(404)
})

test('what passes quiet hours is for admins to send', async () => {
  const as = (scope: 'member' | 'admin') => runAs(house, { deviceId: phone.id, scope })
  const params = { title: 'Wake up', target: 'all', level: 'critical' }
  await expect(as('member')('send_notification', params)).rejects.toMatchObject({ status: 403 })
  for (const level of ['info', 'warning']) expect(await as('member')('send_notification', { ...params, level })).toHaveProperty('data')
  expect(await as('admin')('send_notification', params)).toHaveProperty('data')
})
