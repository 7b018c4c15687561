import type { HearthClient } from '../../api.ts'
import type { AssistantStatus } from './hello.ts'

const LOOK_AGAIN_MS = 3000

/** Knows whether the language model can answer. */
export class Assistant {
  status = $state<AssistantStatus>('unknown')
  /** Why it cannot be used, in the server's plain words. */
  detail = $state('')
  readonly #models: HearthClient['models']
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(models: HearthClient['models']) {
    this.#models = models
  }

  /** Asks now, and again while the model is loading; returns what ends that. */
  watch(): () => void {
    const ended = new AbortController()
    const look = async () => {
      const answer = await this.#models.llm(undefined, { signal: ended.signal }).catch(() => null) // shown as unknown
      if (ended.signal.aborted) return
      this.status = answer?.status ?? 'unknown'
      this.detail = answer?.detail ?? ''
      if (this.status === 'loading') this.#timer = setTimeout(() => void look(), LOOK_AGAIN_MS)
    }
    void look()
    return () => {
      ended.abort()
      clearTimeout(this.#timer)
    }
  }
}
