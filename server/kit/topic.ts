import type { z } from 'zod'
import type { Caller } from './caller.ts'
import type { EventType } from './events.ts'

/**
 * An event that clients may subscribe to over their socket, under the event's own name. Whatever publishes the event reaches the sockets
 * by that alone.
 */
export interface Topic<Schema extends z.ZodType = z.ZodType> {
  event: EventType<string, Schema>
  /** The least a caller's scope must be. */
  access: 'guest' | 'member' | 'admin'
  summary: string
  /** Who of those who subscribed is told; everyone unless stated. */
  concerns?(payload: z.output<Schema>, caller: Caller): boolean
}

export function topic<Schema extends z.ZodType>(spec: Topic<Schema>): Topic {
  return spec as Topic
}
