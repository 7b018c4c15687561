import type { Device } from '../support/house.ts'
import { connectSocket, type SocketClient } from '../support/socket-client.ts'

export interface Pushed {
  id: string
  title: string
  seq: number
}

/** A connection that was greeted, as an app holds it. */
export interface DeviceClient extends SocketClient {
  /** The newest number when it said hello. */
  seq: number
  /** What was pushed over it so far, in order. */
  pushed(): Pushed[]
  /** Sends a message and resolves to whether the server did it. */
  ask(type: string, payload: unknown): Promise<{ ok: boolean; error?: string }>
  /** Closes it, and waits until it is. */
  leave(): Promise<void>
}

let counter = 0

/** Connects a device and says hello. */
export async function connectDevice(url: string, { accessToken }: Pick<Device, 'accessToken'>, lastSeq?: number): Promise<DeviceClient> {
  const client = await connectSocket(`${url}/ws?token=${accessToken}`)
  client.send({ type: 'hello', payload: lastSeq === undefined ? {} : { lastSeq } })
  const { payload } = await client.next('welcome')
  const results = new Map<string, (result: { ok: boolean; error?: string }) => void>()
  client.socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as { type: string; payload: { id?: string; ok: boolean; error?: string } }
    if (message.type === 'result') results.get(message.payload.id ?? '')?.(message.payload)
  })
  return {
    ...client,
    seq: payload.seq as number,
    pushed: () => client.messages.filter(({ type }) => type === 'notification.push').map((message) => message.payload as unknown as Pushed),
    ask: (type, body) =>
      new Promise((resolve) => {
        const id = `m${counter++}`
        results.set(id, resolve)
        client.send({ type, id, payload: body })
      }),
    async leave() {
      client.socket.close()
      await client.closed
    },
  }
}
