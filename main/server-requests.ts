import { randomUUID } from 'node:crypto'
import type { ShellMessage } from '../server/control.contract.ts'
import type { ServerReply } from './supervisor.ts'
import { texts } from './texts.ts'

export interface ServerRequestsDeps {
  /** Returns false where no server runs. */
  post(message: ShellMessage): boolean
  timeoutMs?: number
}

export interface ServerRequests {
  /** A single-use sign-in ticket. Throws with a plain sentence where the server does not answer. */
  ticket(): Promise<string>
  /** Why the password was refused, or null once it is set. */
  resetPassword(password: string): Promise<string | null>
  /** Hands an answer to whoever asked. */
  settle(reply: ServerReply): void
}

/** Questions from the shell to the server, each paired with its own answer. */
export function createServerRequests({ post, timeoutMs = 5_000 }: ServerRequestsDeps): ServerRequests {
  const waiting = new Map<string, (reply: ServerReply) => void>()

  function ask(message: ShellMessage & { id: string }): Promise<ServerReply> {
    const { promise, resolve, reject } = Promise.withResolvers<ServerReply>()
    waiting.set(message.id, resolve)
    const timer = setTimeout(() => reject(new Error(texts.noAnswer)), timeoutMs)
    if (!post(message)) reject(new Error(texts.notRunning))
    return promise.finally(() => {
      clearTimeout(timer)
      waiting.delete(message.id)
    })
  }

  return {
    async ticket() {
      const reply = await ask({ kind: 'ticket', id: randomUUID() })
      if (reply.kind !== 'ticket') throw new Error(texts.noAnswer)
      return reply.ticket
    },
    async resetPassword(password) {
      const reply = await ask({ kind: 'reset-password', id: randomUUID(), password })
      return reply.kind === 'password-reset' ? reply.error : texts.noAnswer
    },
    settle: (reply) => waiting.get(reply.id)?.(reply),
  }
}
