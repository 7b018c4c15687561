import { type ServerMessage, ShellMessage } from './control.contract.ts'

/** The line to the desktop shell. */
export interface Control {
  /** Nobody hears it where this server runs alone. */
  send(message: ServerMessage): void
  /** Messages that are not of the protocol are dropped. */
  onMessage(listener: (message: ShellMessage) => void): void
}

/** What Electron's utilityProcess puts on `process`. */
interface ParentPort {
  postMessage(message: unknown): void
  on(event: 'message', listener: (event: { data: unknown }) => void): void
}

/** Finds the shell: over Electron's port, over the channel of a Node fork, or not at all. */
export function openControl(): Control {
  const port = (process as { parentPort?: ParentPort }).parentPort
  const hear = (listener: (message: ShellMessage) => void) => (raw: unknown) => {
    const parsed = ShellMessage.safeParse(raw)
    if (parsed.success) listener(parsed.data)
  }
  if (port) {
    return {
      send: (message) => port.postMessage(message),
      onMessage: (listener) => port.on('message', ({ data }) => hear(listener)(data)),
    }
  }
  return {
    send: (message) => void process.send?.(message),
    onMessage: (listener) => void process.on('message', hear(listener)),
  }
}
