import type { WebSocket } from 'ws'

/** Enough that what is written for them goes to the disk together. */
const AT_ONCE = 16

/**
 * Does what one client asks for a few at a time, in the order in which it came, and reads no further while more waits. `work` never rejects.
 */
export function createSocketTurns(socket: WebSocket): (work: () => Promise<void>) => void {
  const waiting: (() => Promise<void>)[] = []
  let busy = 0

  function next(): void {
    while (busy < AT_ONCE) {
      const work = waiting.shift()
      if (!work) break
      busy += 1
      void work().finally(() => {
        busy -= 1
        next()
      })
    }
    if (waiting.length > 0) socket.pause()
    else if (socket.isPaused) socket.resume()
  }

  return (work) => {
    waiting.push(work)
    next()
  }
}
