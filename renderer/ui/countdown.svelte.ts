/** Whole seconds until a moment, counted down for display. */
export class Countdown {
  left = $state(0)
  #until = 0
  #timer: ReturnType<typeof setInterval> | undefined

  /** Counts down to `at`, in milliseconds since 1970, then calls `done`. */
  to(at: number, done?: () => void): void {
    this.stop()
    this.#until = at
    const step = () => {
      this.left = Math.max(0, Math.ceil((this.#until - Date.now()) / 1000))
      if (this.left > 0) return
      this.stop()
      done?.()
    }
    this.#timer = setInterval(step, 250)
    step()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.left = 0
  }
}
