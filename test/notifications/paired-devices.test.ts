import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, type House, startHouse } from '../support/house.ts'
import { connectSocket, type SocketClient, talking } from '../support/socket-client.ts'

let house: House
let owner: Browser
let window: SocketClient
beforeAll(async () => {
  house = await startHouse()
  owner = await house.residentOwner()
  window = await talking(connectSocket(`${house.url}/ws`, { headers: { cookie: owner.jar.header() ?? '', origin: house.url } }))
  window.send({ type: 'subscribe', payload: { topics: ['pairing.changed'] } })
  await window.next('result')
})
afterAll(() => house[Symbol.asyncDispose]())

const told = async () => (await window.next('pairing.changed')).payload

test('who watches the devices is told of each that is let in, comes, changes, goes or is revoked', async () => {
  const phone = await house.pair('Phone')
  const params = { id: phone.id }
  const deviceId = phone.id
  expect(await told()).toEqual({ deviceId, state: 'paired' })
  const [first, second] = [
    await talking(connectSocket(`${house.url}/ws?token=${phone.accessToken}`)),
    await talking(connectSocket(`${house.url}/ws?token=${phone.accessToken}`)),
  ]
  expect([await told(), await told()]).toEqual(Array(2).fill({ deviceId, state: 'connected' }))
  const [listed] = await owner.api.pairedDevices.list()
  expect(listed).toMatchObject({ id: deviceId, isConnected: true, quietHours: null })
  first.socket.close()
  await first.closed
  await owner.api.pairedDevices.update({ params, body: { name: 'Ada’s phone', quietHours: { from: '22:00', to: '06:30' } } })
  expect(await told(), 'it is still there by its other connection').toEqual({ deviceId, state: 'changed' })
  second.socket.close()
  expect(await told()).toEqual({ deviceId, state: 'disconnected' })
  const [gone] = await owner.api.pairedDevices.list()
  expect(gone).toMatchObject({ name: 'Ada’s phone', isConnected: false, quietHours: { from: '22:00', to: '06:30' } })
  expect(Date.now() - Date.parse(gone?.lastSeen ?? '')).toBeLessThan(30_000)
  await owner.api.pairedDevices.revoke({ params })
  expect(await told()).toEqual({ deviceId, state: 'revoked' })
  expect((await phone.fetch('/api/notifications')).status).toBe(401)
})

test('that is for admins', async () => {
  const member = await house.pair('Member')
  const client = await talking(connectSocket(`${house.url}/ws?token=${member.accessToken}`))
  client.send({ type: 'subscribe', payload: { topics: ['pairing.changed'] } })
  expect((await client.next('error')).payload).toMatchObject({ code: 'forbidden' })
  client.socket.close()
  await client.closed
})

test('quiet hours are two times of the day, or none', async () => {
  const phone = await house.pair('Phone')
  const change = (quietHours: unknown) =>
    owner.fetch(`/api/paired-devices/${phone.id}`, {
      method: 'PATCH',
      body: JSON.stringify({ quietHours }),
      headers: { 'content-type': 'application/json' },
    })
  for (const bad of [
    {},
    { from: '22:00' },
    { from: '24:00', to: '06:00' },
    { from: '9:00', to: '10:00' },
    '22-6',
    [],
    { from: '22:00', to: '06:00', x: 1 },
  ])
    expect((await change(bad)).status, JSON.stringify(bad)).toBe(400)
  expect((await change({ from: '00:00', to: '23:59' })).status).toBe(200)
  expect((await change(null)).status).toBe(200)
})
