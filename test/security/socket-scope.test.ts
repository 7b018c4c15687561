import { afterAll, beforeAll, expect, test } from 'vitest'
import { topics } from '../../server/topics.ts'
import { connectDevice } from '../notifications/device-client.ts'
import { type Browser, type Device, type House, startHouse } from '../support/house.ts'
import { connectSocket, expectTalking, talking } from '../support/socket-client.ts'

let house: House
let owner: Browser
let guest: Device
let member: Device
beforeAll(async () => {
  house = await startHouse()
  owner = await house.owner()
  guest = await house.pair('Guest', 'guest')
  member = await house.pair('Member', 'member')
})
afterAll(() => house[Symbol.asyncDispose]())

const open = ({ accessToken }: Device) => talking(connectSocket(`${house.url}/ws?token=${accessToken}`))
const rank = { guest: 0, member: 1, admin: 2 }

test('no topic beyond one’s scope can be had, alone or beside one that may be', async () => {
  for (const [device, scope] of [
    [guest, 'guest'],
    [member, 'member'],
  ] as const) {
    const client = await open(device)
    const beyond = topics.filter(({ access }) => rank[access] > rank[scope]).map(({ event }) => event.name)
    expect(beyond.length).toBeGreaterThan(0)
    for (const name of beyond) {
      for (const wanted of [[name], ['notification.changed', name]]) {
        client.send({ type: 'subscribe', payload: { topics: wanted } })
        expect((await client.next('error')).payload, `${scope}: ${wanted}`).toMatchObject({ code: 'forbidden' })
      }
    }
    await owner.api.todos.create({ body: { title: 'Water the flowers' } })
    await owner.api.pairing.start({ body: {} })
    await owner.api.notifications.send({ body: { title: 'Hello', body: '', deviceId: device.id } })
    await client.next('notification.push')
    await expectTalking(client, scope)
    const topicNames = new Set(topics.map(({ event }) => event.name))
    expect(client.messages.map(({ type }) => type).filter((type) => topicNames.has(type))).toEqual([])
    client.socket.close()
  }
})

test('who may hear of notifications hears of their own alone', async () => {
  const client = await open(guest)
  client.send({ type: 'subscribe', payload: { topics: ['notification.changed'] } })
  await client.next('result')
  await owner.api.notifications.send({ body: { title: 'For the member', body: '', deviceId: member.id } })
  await owner.api.notifications.send({ body: { title: 'For the guest', body: '', deviceId: guest.id } })
  expect((await client.next('notification.changed')).payload).toMatchObject({ deviceId: guest.id })
  await expectTalking(client, 'guest')
  const told = client.messages.filter(({ type }) => type === 'notification.changed').map(({ payload }) => payload.deviceId)
  expect(told.filter((id) => id !== guest.id)).toEqual([])
  client.socket.close()
})

test('an acknowledgement or a button of someone else’s notification changes nothing', async () => {
  const sent = await owner.api.notifications.send({ body: { title: 'Secret', body: '', deviceId: member.id } })
  if ('items' in sent) throw new Error('One device was meant')
  const status = async () => (await owner.api.notifications.get({ params: { id: sent.id } })).status
  const before = await status()
  const thief = await connectDevice(house.url, guest)
  expect(await thief.ask('notification.ack', { id: sent.id, status: 'read' })).toMatchObject({ ok: false })
  expect(await thief.ask('notification.action', { id: sent.id, action: 'Dismiss' })).toMatchObject({ ok: false })
  expect(await status()).toBe(before)
  expect(thief.pushed().map(({ id }) => id)).not.toContain(sent.id)
  await thief.leave()
})

test('sequence numbers that are replayed or made up bring nobody else’s notifications, nor one’s own twice on a socket', async () => {
  const tv = await house.pair('TV', 'guest', 'tv')
  const sent = await owner.api.notifications.send({ body: { title: 'For the TV', body: '', deviceId: tv.id } })
  if ('items' in sent) throw new Error('One device was meant')
  for (const lastSeq of [0, 1, Number.MAX_SAFE_INTEGER]) {
    const client = await connectDevice(house.url, tv, lastSeq)
    for (const again of [0, 0, lastSeq]) client.send({ type: 'hello', payload: { lastSeq: again } })
    await expectTalking(client, String(lastSeq))
    const pushed = client.pushed().map(({ id }) => id)
    expect(new Set(pushed).size, String(lastSeq)).toBe(pushed.length)
    expect(pushed.filter((id) => id !== sent.id)).toEqual([])
    await client.leave()
  }
})
