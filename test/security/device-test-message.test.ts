import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startHouse } from '../support/house.ts'

test('a test message reaches the device it is for, and no other', async () => {
  await using house = await startHouse()
  const owner = await house.owner()
  const [phone, other] = [await house.pair('Phone'), await house.pair('Other')]
  await expect(owner.api.pairedDevices.test({ params: { id: phone.id } })).rejects.toMatchObject({ status: 409, code: 'device_offline' })
  const heard: unknown[] = []
  const open = async (token: string, who: string) => {
    const socket = new WebSocket(`${house.url.replace('http', 'ws')}/ws?token=${token}`)
    socket.on('message', (data) => heard.push([who, JSON.parse(String(data))]))
    await once(socket, 'open')
    socket.send('{"type":"hello"}')
    await expect.poll(() => heard.shift()).toMatchObject([who, { type: 'welcome' }])
    return socket
  }
  const sockets = [await open(phone.accessToken, 'phone'), await open(other.accessToken, 'other')]
  await owner.api.pairedDevices.test({ params: { id: phone.id } })
  await expect.poll(() => heard.length).toBeGreaterThan(0)
  expect(heard).toEqual([
    ['phone', { type: 'notification.push', payload: expect.objectContaining({ body: 'Phone hears me.', level: 'info' }) }],
  ])
  for (const socket of sockets) socket.close()
})
