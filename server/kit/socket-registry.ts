import type { WebSocket } from 'ws'
import type { z } from 'zod'
import type { Caller } from './caller.ts'
import { closeCodes, type serverMessages } from './socket.contract.ts'

const MAX_BUFFERED_BYTES = 1024 * 1024

export type ServerMessages = typeof serverMessages

/** Sends one message, or closes a socket whose reader is too slow rather than let memory grow. */
export function sendMessage<T extends keyof ServerMessages>(socket: WebSocket, type: T, payload: z.input<ServerMessages[T]>): void {
  if (socket.bufferedAmount > MAX_BUFFERED_BYTES) socket.close(closeCodes.slowReader)
  else socket.send(JSON.stringify({ type, payload }))
}

/** The open sockets and who holds each. */
export interface SocketRegistry {
  add(socket: WebSocket, caller: Caller): void
  /** Closes the sockets whose caller matches, with an application code such as 4401. */
  close(matches: (caller: Caller) => boolean, code: number): void
  /** Sends one message to every socket of a device; answers to how many. */
  send<T extends keyof ServerMessages>(deviceId: string, type: T, payload: z.input<ServerMessages[T]>): number
  isConnected(deviceId: string): boolean
  /** How many of the caller kind have at least one socket, counted by device. */
  connectedDevices(): number
  size(): number
}

/** Keeps sockets until they close; every question is answered from memory. */
export function createSocketRegistry(): SocketRegistry {
  const sockets = new Map<WebSocket, Caller>()
  const perDevice = new Map<string, number>()

  function count({ kind, deviceId }: Caller, by: 1 | -1): void {
    if (kind !== 'device') return
    const next = (perDevice.get(deviceId) ?? 0) + by
    if (next > 0) perDevice.set(deviceId, next)
    else perDevice.delete(deviceId)
  }

  return {
    add(socket, caller) {
      sockets.set(socket, caller)
      count(caller, 1)
      socket.once('close', () => {
        if (sockets.delete(socket)) count(caller, -1)
      })
    },
    close(matches, code) {
      for (const [socket, caller] of sockets) if (matches(caller)) socket.close(code)
    },
    send(deviceId, type, payload) {
      const own = [...sockets].filter(([, caller]) => caller.kind === 'device' && caller.deviceId === deviceId)
      for (const [socket] of own) sendMessage(socket, type, payload)
      return own.length
    },
    isConnected: (deviceId) => perDevice.has(deviceId),
    connectedDevices: () => perDevice.size,
    size: () => sockets.size,
  }
}
