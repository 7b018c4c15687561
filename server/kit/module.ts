import type { Action } from './actions.ts'
import type { RouteSet } from './routes.ts'
import type { MessageHandler } from './socket-message.ts'

/** What a domain hands to the composition root. Constructing one does nothing; `start` and `stop` are awaited, in order and in reverse. */
export interface Module {
  name: string
  routes?: RouteSet[]
  actions?: Action[]
  /** What it does about messages of clients over their socket. */
  messages?: MessageHandler[]
  start?(): Promise<void>
  stop?(): Promise<void>
}
