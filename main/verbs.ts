import { z } from 'zod'
import { isLocalPage } from './guards.ts'
import type { ServerState } from './supervisor.ts'
import { texts } from './texts.ts'
import { type StatusView, verbs } from './verbs.contract.ts'

/** What of Electron's ipcMain is used. */
export interface VerbChannel {
  handle(name: string, listener: (event: { senderFrame: { url: string } | null }, ...args: unknown[]) => unknown): void
}

export interface VerbDeps {
  state(): ServerState
  resume(): void
  quit(): void
  /** Why it was refused, or null once it is set. */
  resetPassword(password: string): Promise<string | null>
}

/** The server's state in the words of the status page. */
export function statusView(state: ServerState): StatusView {
  const common = { title: texts.status[state.kind], quit: texts.quit }
  if (state.kind === 'gave-up') return { ...common, text: state.reason, act: texts.retry }
  return { ...common, text: texts.explain[state.kind], act: state.kind === 'stopped' ? texts.resume : null }
}

/** Offers the native verbs; a call from any page but the shell's own is refused. */
export function offerVerbs(channel: VerbChannel, { state, resume, quit, resetPassword }: VerbDeps): void {
  function offer(name: string, act: (...args: unknown[]) => unknown): void {
    channel.handle(name, (event, ...args) => {
      if (!isLocalPage(event.senderFrame?.url ?? '')) throw new Error('Not for this page.')
      return act(...args)
    })
  }
  offer(verbs.status, () => statusView(state()))
  offer(verbs.resume, resume)
  offer(verbs.quit, quit)
  offer(verbs.resetPassword, (password) => resetPassword(z.string().max(1_024).parse(password)))
}
