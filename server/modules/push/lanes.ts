export interface LanesOptions {
  /** Under way at a time in each lane. */
  limit: number
  /** For each, its wait for a place in the lane included. */
  waitMs: number
}

interface Lane {
  free: number
  waiting: Set<() => void>
}

export type Lanes = ReturnType<typeof createLanes>

/** Has work done side by side, so much in each lane, and nothing in one waits for another. */
export function createLanes({ limit, waitMs }: LanesOptions) {
  const lanes = new Map<string, Lane>()
  const running = new Set<AbortController>()
  let stopped = false

  function place(name: string): Lane {
    const lane = lanes.get(name) ?? { free: limit, waiting: new Set() }
    lanes.set(name, lane)
    return lane
  }

  async function enter(lane: Lane, signal: AbortSignal): Promise<void> {
    if (lane.free > 0) {
      lane.free -= 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      lane.waiting.add(resolve)
      signal.addEventListener('abort', () => lane.waiting.delete(resolve) && reject(signal.reason), { once: true })
    })
  }

  function leave(name: string, lane: Lane): void {
    const [next] = lane.waiting
    if (next) {
      lane.waiting.delete(next)
      next()
      return
    }
    lane.free += 1
    if (lane.free === limit) lanes.delete(name)
  }

  /** What ignores its signal keeps its place until it is done, however long ago it was given up. */
  async function inPlace<T>(name: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const lane = place(name)
    await enter(lane, signal)
    try {
      signal.throwIfAborted()
      return await work(signal)
    } finally {
      leave(name, lane)
    }
  }

  return {
    /** Rejects when the time is over, which `work` is told by its signal. */
    async run<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      if (stopped) throw new Error('Push was stopped')
      const ends = new AbortController()
      const timer = setTimeout(() => ends.abort(new Error('The gateway took too long')), waitMs)
      running.add(ends)
      try {
        const over = new Promise<never>((_, reject) => {
          ends.signal.addEventListener('abort', () => reject(ends.signal.reason), { once: true })
        })
        return await Promise.race([inPlace(name, ends.signal, work), over])
      } finally {
        clearTimeout(timer)
        running.delete(ends)
      }
    },

    /** Gives up what is under way. */
    stop(): void {
      stopped = true
      for (const ends of running) ends.abort(new Error('Push was stopped'))
    },
  }
}
