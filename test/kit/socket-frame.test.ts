import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { textFrame } from '../../server/kit/socket-frame.ts'

test('a frame of any length is read as the text that it was made of', async () => {
  const texts = [0, 1, 125, 126, 127, 65_535, 65_536, 300_000].map((length) => 'x'.repeat(length)).concat('Grüße 🌧️', 'ü'.repeat(63))
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  server.on('connection', (_socket, { socket }) => {
    for (const text of texts) socket.write(textFrame(text))
  })
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const read: string[] = []
  client.on('message', (data) => void read.push(String(data)))
  while (read.length < texts.length) await once(client, 'message')
  expect(read.map((text) => text.length)).toEqual(texts.map((text) => text.length))
  expect(read.every((text, at) => text === texts[at])).toBe(true)
  client.terminate()
  server.close()
})
