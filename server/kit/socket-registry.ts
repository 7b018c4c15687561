import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { z } from 'zod'
import type { Caller } from './caller.ts'
import { closeCodes, type serverMessages, socketLimits } from './socket.contract.ts'
import { textFrame } from './socket-frame.ts'
import type { ServerMessage } from './socket-message.ts'

/** More than this is not held back until the end of a turn: it would count as unread. */
const TOGETHER_BYTES = 64 * 1024

export type ServerMessages = typeof serverMessages

/**
 * Sends a message that is written out already, or closes a socket whose reader is too slow rather than let memory grow. `then` hears
 * whether the system took it.
 */
export function sendText(socket: WebSocket, text: string, then?: (taken: boolean) => void): void {
  if (socket.bufferedAmount > socketLimits.bufferedBytes) {
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
  /** `wire` is the connection below the socket, to which frames are written that many sockets share. */
  add(socket: WebSocket, caller: Caller, wire: Duplex): void
  /** Closes the sockets whose caller matches, with an application code such as 4401. */
  close(matches: (caller: Caller) => boolean, code: number): void
  /** Sends one message to every socket of a device; answers to how many. */
  send<Schema extends z.ZodType>(deviceId: string, message: ServerMessage<Schema>, payload: z.input<Schema>): number
  /** Adds to what a socket is told of, or takes away. */
  subscribe(socket: WebSocket, topics: readonly string[]): void
  unsubscribe(socket: WebSocket, topics: readonly string[]): void
  /** Tells every socket that subscribed; the frame is made once, and what else one turn publishes leaves together. */
  publish(topic: string, payload: unknown, concerns?: (caller: Caller) => boolean): void
  isConnected(deviceId: string): boolean
  /** How many of the caller kind have at least one socket, counted by device. */
  connectedDevices(): number
  size(): number
}

interface Held {
  socket: WebSocket
  caller: Caller
  wire: Duplex
  /** The last turn in which something was published to it. */
  turn: number
}

/** Keeps sockets until they close; every question is answered from memory. */
export function createSocketRegistry(): SocketRegistry {
  const sockets = new Map<WebSocket, Held>()
  const subscribers = new Map<string, Set<Held>>()
  const perDevice = new Map<string, Set<WebSocket>>()
  const corked = new Set<Duplex>()
  let turn = 1
  let isTurnToEnd = false

  function forget(held: Held): void {
    const { kind, deviceId } = held.caller
    sockets.delete(held.socket)
    for (const listening of subscribers.values()) listening.delete(held)
    const own = perDevice.get(deviceId)
    if (kind === 'device' && own?.delete(held.socket) && own.size === 0) perDevice.delete(deviceId)
  }

  function endTurn(): void {
    turn += 1
    isTurnToEnd = false
    for (const wire of corked) wire.uncork()
    corked.clear()
  }

  /**
   * Past the socket's own `send`, which would frame and encode anew: without compression it holds nothing back that could be overtaken.
   * Most turns publish one message, so that the first of a turn is written at once; those after it leave together.
   */
  function write(held: Held, frame: Buffer): void {
    const { socket, wire } = held
    if (socket.readyState !== socket.OPEN) return
    if (wire.writableLength > TOGETHER_BYTES && corked.delete(wire)) wire.uncork()
    if (wire.writableLength > socketLimits.bufferedBytes) return socket.close(closeCodes.slowReader)
    if (held.turn !== turn) held.turn = turn
    else if (!corked.has(wire)) {
      corked.add(wire)
      wire.cork()
    }
    wire.write(frame)
  }

  return {
    add(socket, caller, wire) {
      const held = { socket, caller, wire, turn: 0 }
      sockets.set(socket, held)
      if (caller.kind === 'device') perDevice.set(caller.deviceId, (perDevice.get(caller.deviceId) ?? new Set()).add(socket))
      socket.once('close', () => forget(held))
    },
    close(matches, code) {
      for (const [socket, { caller }] of sockets) if (matches(caller)) socket.close(code)
    },
    send(deviceId, { type }, payload) {
      const own = perDevice.get(deviceId)
      if (!own) return 0
      const text = JSON.stringify({ type, payload })
      for (const socket of own) sendText(socket, text)
      return own.size
    },
    subscribe(socket, topics) {
      const held = sockets.get(socket)
      if (!held) return
      for (const topic of topics) subscribers.set(topic, (subscribers.get(topic) ?? new Set()).add(held))
    },
    unsubscribe(socket, topics) {
      const held = sockets.get(socket)
      if (held) for (const topic of topics) subscribers.get(topic)?.delete(held)
    },
    publish(topic, payload, concerns) {
      const listening = subscribers.get(topic)
      if (!listening?.size) return
      const frame = textFrame(JSON.stringify({ type: topic, payload }))
      if (!isTurnToEnd) setImmediate(endTurn)
      isTurnToEnd = true
      for (const held of listening) if (!concerns || concerns(held.caller)) write(held, frame)
    },
    isConnected: (deviceId) => perDevice.has(deviceId),
    connectedDevices: () => perDevice.size,
    size: () => sockets.size,
  }
}
