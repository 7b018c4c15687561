/** Something read from the server: its last value stays while it is read again, and after a failure. */
export class Resource<T> {
  value = $state.raw<T>()
  error = $state.raw<unknown>(null)
  loading = $state(false)
  readonly #read: (signal: AbortSignal) => Promise<T>
  #current: AbortController | null = null

  constructor(read: (signal: AbortSignal) => Promise<T>) {
    this.#read = read
  }

  /** Reads anew; a read still under way is dropped. Never rejects: look at `error`. */
  async load(): Promise<void> {
    this.#current?.abort()
    const mine = new AbortController()
    this.#current = mine
    this.loading = true
    try {
      const value = await this.#read(mine.signal)
      if (mine.signal.aborted) return
      this.value = value
      this.error = null
    } catch (error) {
      if (mine.signal.aborted) return
      this.error = error
    }
    this.loading = false
  }
}
