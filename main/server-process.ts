import type { ShellMessage } from '../server/control.contract.ts'
import type { ServerProcess } from './supervisor.ts'

/** What of Electron's utility process is used. */
export interface UtilityChild {
  readonly pid: number | undefined
  postMessage(message: unknown): void
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
}

/** Electron's utility process as the supervisor knows it. */
export const serverProcess = (child: UtilityChild): ServerProcess => ({
  post: (message: ShellMessage) => child.postMessage(message),
  kill() {
    // Electron's own kill() asks politely, which a hung server does not hear.
    if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL')
  },
  onMessage: (listener) => void child.on('message', listener),
  onExit: (listener) => void child.on('exit', listener),
})
