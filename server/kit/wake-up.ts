/** What is due at a time, kept as rows: asks when the next is, and has it done then. */
export interface WakeUp {
  /** What came due while nothing ran is done at once. */
  start(): void
  /** Looks again when the next is due; to be called after every change of it. */
  rearm(): void
  /** Resolves when nothing is being done any more. */
  stop(): Promise<void>
}

export interface WakeUpOptions {
  /** Milliseconds since 1970, read from an index; null when there is nothing to wait for. */
  nextAt(): number | null
  /** Does a slice of what is due by now, so that `nextAt` moves on; it is called again while more is due. */
  ring(): Promise<void>
  onFailed(error: unknown): void
  /** The longest it sleeps in one go. */
  stepMs?: number
}

/** Short enough to notice soon that the clock was set or the machine woke up; far under the 24.8 days that a timeout can hold. */
const STEP_MS = 2_000
const RETRY_MS = 5_000

/** One timeout for the next of many. Times are of the wall clock, which may jump; what fails is tried again. */
export function createWakeUp({ nextAt, ring, onFailed, stepMs = STEP_MS }: WakeUpOptions): WakeUp {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | null = null
  let stopped = true

  function sleep(waitMs: number, then: () => void): void {
    clearTimeout(timer)
    if (stopped || running) return
    timer = setTimeout(then, waitMs)
    timer.unref()
  }

  function sleepUntil(at: number): void {
    const leftMs = at - Date.now()
    if (leftMs <= 0) sleep(0, run)
    else sleep(Math.min(leftMs, stepMs), () => sleepUntil(at))
  }

  function arm(): void {
    if (stopped || running) return
    clearTimeout(timer)
    try {
      const at = nextAt()
      if (at !== null) sleepUntil(at)
    } catch (error) {
      onFailed(error)
      sleep(RETRY_MS, arm)
    }
  }

  function run(): void {
    let then = arm
    running = ring()
      .catch((error: unknown) => {
        onFailed(error)
        then = () => sleep(RETRY_MS, arm)
      })
      .finally(() => {
        running = null
        then()
      })
  }

  return {
    start() {
      stopped = false
      arm()
    },
    rearm: arm,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
