import type { Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { textFrame } from '../../server/kit/socket-frame.ts'
import { serveBroadcasts } from './broadcast-control.ts'

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
const subscribers = new Map<string, Set<Socket>>([
  ['news', new Set()],
  ['wide', new Set()],
])
sockets.on('connection', (socket, { socket: wire }) => {
  socket.on('message', (data) => {
    const { payload } = JSON.parse(String(data)) as { payload: { topics: string[] } }
    for (const topic of payload.topics) subscribers.get(topic)?.add(wire)
    socket.send('{"type":"result","payload":{"ok":true}}')
  })
  socket.on('close', () => {
    for (const listening of subscribers.values()) listening.delete(wire)
  })
})
serveBroadcasts((name, payload) => {
  const frame = textFrame(JSON.stringify({ type: name, payload }))
  for (const wire of subscribers.get(name) ?? []) wire.write(frame)
}).on('upgrade', (req, wire, head) => sockets.handleUpgrade(req, wire, head, (socket) => sockets.emit('connection', socket, req)))
