import type { WebSocket } from 'ws'
import type { z } from 'zod'
import type { Caller } from './caller.ts'
import { closeCodes, type serverMessages } from './socket.contract.ts'
import type { ServerMessage } from './socket-message.ts'

const MAX_BUFFERED_BYTES = 1024 * 1024

export type ServerMessages = typeof serverMessages

/**
 * Sends a message that is written out already, or closes a socket whose reader is too slow rather than let memory grow. `then` hears
 * whether the system took it.
 */
export function sendText(socket: WebSocket, text: string, then?: (taken: boolean) => void): void {
  if (socket.bufferedAmount > MAX_BUFFERED_BYTES) {
    socket.close(closeCodes.slowReader)
    then?.(false)
  } else socket.send(text, then && ((error) => then(!error)))
}

/** Sends one message, or closes a socket whose reader is too slow rather than let memory grow. */
export function sendMessage<T extends keyof ServerMessages>(socket: WebSocket, type: T, payload: z.input<ServerMessages[T]>): void {
  sendText(socket, JSON.stringify({ type, payload }))
}

/** The open sockets and who holds each. */
export interface SocketRegistry {
  add(socket: WebSocket, caller: Caller): void
  /** Closes the sockets whose caller matches, with an application code such as 4401. */
  close(matches: (caller: Caller) => boolean, code: number): void
  /** Sends one message to every socket of a device; answers to how many. */
  send<Schema extends z.ZodType>(deviceId: string, message: ServerMessage<Schema>, payload: z.input<Schema>): number
  /** Adds to what a socket is told of, or takes away. */
  subscribe(socket: WebSocket, topics: readonly string[]): void
  unsubscribe(socket: WebSocket, topics: readonly string[]): void
  /** Tells every socket that subscribed; the message is written out once. */
  publish(topic: string, payload: unknown, concerns?: (caller: Caller) => boolean): void
  isConnected(deviceId: string): boolean
  /** How many of the caller kind have at least one socket, counted by device. */
  connectedDevices(): number
  size(): number
}

/** Keeps sockets until they close; every question is answered from memory. */
export function createSocketRegistry(): SocketRegistry {
  const sockets = new Map<WebSocket, Caller>()
  const subscribers = new Map<string, Set<WebSocket>>()
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
        for (const listening of subscribers.values()) listening.delete(socket)
      })
    },
    close(matches, code) {
      for (const [socket, caller] of sockets) if (matches(caller)) socket.close(code)
    },
    send(deviceId, { type }, payload) {
      const own = [...sockets].filter(([, caller]) => caller.kind === 'device' && caller.deviceId === deviceId)
      const text = JSON.stringify({ type, payload })
      for (const [socket] of own) sendText(socket, text)
      return own.length
    },
    subscribe(socket, topics) {
      for (const topic of topics) subscribers.set(topic, (subscribers.get(topic) ?? new Set()).add(socket))
    },
    unsubscribe(socket, topics) {
      for (const topic of topics) subscribers.get(topic)?.delete(socket)
    },
    publish(topic, payload, concerns) {
      const listening = subscribers.get(topic)
      if (!listening?.size) return
      const text = JSON.stringify({ type: topic, payload })
      for (const socket of listening) {
        const caller = sockets.get(socket)
        if (caller && (!concerns || concerns(caller))) sendText(socket, text)
      }
    },
    isConnected: (deviceId) => perDevice.has(deviceId),
    connectedDevices: () => perDevice.size,
    size: () => sockets.size,
  }
}
