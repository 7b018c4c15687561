import type { NotificationMessage, PushOutcome, PushTarget } from '../notifications/pushers.ts'

/** What brings notifications to devices that are not connected. */
export interface Gateway {
  /** A throw counts as `retry`. */
  push(device: PushTarget, notification: NotificationMessage): Promise<PushOutcome>
  /** Lets go of connections and timers. */
  stop?(): Promise<void>
}

/** The owner has not set up what a provider asks for. */
export class NotConfiguredError extends Error {
  constructor(variable: string) {
    super(`${variable} is not set`)
    this.name = 'NotConfiguredError'
  }
}
