import { AppError } from '../../kit/errors.ts'

const RETRY_AFTER_SEC = 5

const busy = () =>
  new AppError(503, 'busy', 'Too many are talking to the language model. Please try again in a moment.', {
    headers: { 'retry-after': String(RETRY_AFTER_SEC) },
  })

export interface GenerationQueue {
  /**
   * Runs `work` when it is its turn: those who ask take turns, one piece of work each, in the order in which each asked. Rejects with
   * 503 `busy` where too many wait already, and with the signal's reason when that aborts before the turn came.
   */
  run<T>(fairKey: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>
  /** For tests and status: how many run and wait. */
  counts(): { running: number; waiting: number }
}

/** A queue that runs `atOnce` pieces of work at a time and lets `mayWait` others wait. */
export function createGenerationQueue({ atOnce, mayWait }: { atOnce: number; mayWait: number }): GenerationQueue {
  /** Whose turn it is next comes first. */
  const waiting = new Map<string, (() => void)[]>()
  let running = 0

  const waitingCount = () => [...waiting.values()].reduce((sum, turns) => sum + turns.length, 0)

  const leave = (key: string, go: () => void) => {
    const turns = waiting.get(key)?.filter((turn) => turn !== go)
    if (turns?.length) waiting.set(key, turns)
    else waiting.delete(key)
  }

  const next = () => {
    const first = waiting.entries().next().value
    if (!first || running >= atOnce) return
    const [key, turns] = first
    const go = turns.shift()!
    // to the back of those who wait
    waiting.delete(key)
    if (turns.length > 0) waiting.set(key, turns)
    running++
    go()
  }

  const turn = (key: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', gone)
        resolve()
      }
      const gone = () => {
        leave(key, go)
        reject(signal.reason)
      }
      signal.addEventListener('abort', gone, { once: true })
      waiting.set(key, [...(waiting.get(key) ?? []), go])
    })

  return {
    counts: () => ({ running, waiting: waitingCount() }),
    async run(fairKey, signal, work) {
      signal.throwIfAborted()
      if (running < atOnce) running++
      else if (waitingCount() >= mayWait) throw busy()
      else await turn(fairKey, signal)
      try {
        return await work()
      } finally {
        running--
        next()
      }
    },
  }
}
