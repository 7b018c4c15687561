import type { z } from 'zod'
import type { Caller } from './caller.ts'

/** A message that the server sends of its own accord, besides topics. */
export interface ServerMessage<Schema extends z.ZodType = z.ZodType> {
  type: string
  payload: Schema
  /** When it is sent. */
  summary: string
}
export const serverMessage = <Schema extends z.ZodType>(spec: ServerMessage<Schema>): ServerMessage<Schema> => spec

/** A message that clients may send; it is answered by `result`. */
export interface ClientMessage<Schema extends z.ZodType = z.ZodType> {
  type: string
  payload: Schema
  /** The least a caller's scope must be. */
  access: 'guest' | 'member' | 'admin'
  summary: string
}
export const clientMessage = <Schema extends z.ZodType>(spec: ClientMessage<Schema>): ClientMessage<Schema> => spec

/** A client's message with what is done about it. A throw of an AppError is told to the client as `result {ok: false}`. */
export interface MessageHandler {
  message: ClientMessage
  handle(payload: never, caller: Caller): Promise<void> | void
}
export const onMessage = <Schema extends z.ZodType>(
  message: ClientMessage<Schema>,
  handle: (payload: z.output<Schema>, caller: Caller) => Promise<void> | void,
): MessageHandler => ({ message, handle })

/** Sends to the one socket that is being talked with; resolves once it is written out, false where the socket went away first. */
export type SendHere = <Schema extends z.ZodType>(message: ServerMessage<Schema>, payload: z.input<Schema>) => Promise<boolean>

/** What happens when a client says hello. */
export interface Greeting {
  /** The newest sequence number of what this caller may have been sent; part of `welcome`. */
  seq(caller: Caller): number
  /** Called right after `welcome`, and awaited; `lastSeq` is the newest that the client has seen, `onClosed` tells when the socket is gone. */
  welcomed(caller: Caller, lastSeq: number | null, send: SendHere, onClosed: (then: () => void) => void): unknown
}
