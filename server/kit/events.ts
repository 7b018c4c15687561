import type { z } from 'zod'

/** A declared event: something that happened, named in the past tense. Subscribers import this value, never its publisher. */
export interface EventType<Name extends string = string, Schema extends z.ZodType = z.ZodType> {
  name: Name
  schema: Schema
}

export function event<const Name extends string, Schema extends z.ZodType>(name: Name, schema: Schema): EventType<Name, Schema> {
  return { name, schema }
}

export type Unsubscribe = () => void

export interface EventBus {
  /** Delivers to every listener after the current turn. Call it after the commit (`tx.afterCommit`). */
  publish<S extends z.ZodType>(type: EventType<string, S>, data: z.input<S>): void
  on<S extends z.ZodType>(type: EventType<string, S>, listener: (data: z.output<S>) => void | Promise<void>): Unsubscribe
}

/** In-process fan-out. A throwing listener goes to `report` and never reaches the publisher or another listener. */
export function createEventBus(report: (error: unknown, event: string) => void): EventBus {
  type Listener = (data: never) => void | Promise<void>
  const listeners = new Map<string, Set<Listener>>()
  return {
    publish(type, data) {
      const parsed = type.schema.parse(data)
      for (const listener of listeners.get(type.name) ?? []) {
        queueMicrotask(async () => {
          try {
            await listener(parsed as never)
          } catch (error) {
            report(error, type.name)
          }
        })
      }
    },
    on(type, listener) {
      const set = listeners.get(type.name) ?? new Set<Listener>()
      listeners.set(type.name, set.add(listener as Listener))
      return () => set.delete(listener as Listener)
    },
  }
}
