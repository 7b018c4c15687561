import type { HearthClient } from '../../api.ts'
import { hasStatus } from '../../messages/field-errors.ts'
import { t } from '../../messages/messages.ts'
import { Countdown } from '../../ui/countdown.svelte.ts'

const POLL_MS = 2500
const RETRY_MS = 5000

interface Request {
  id: string
  userCode: string
  pollSecret: string
}

/** A screen asks to be let in: shows a code, waits for the owner, and takes a new code when the old one has run out. */
export class TvCode {
  request = $state.raw<Request | null>(null)
  failure = $state.raw<unknown>(null)
  lost = $state(false)
  renewed = $state(false)
  readonly left = new Countdown()
  readonly wait = new Countdown()
  readonly #pairing: HearthClient['pairing']
  readonly #done: () => Promise<void>
  #timer: ReturnType<typeof setTimeout> | undefined
  #stopped = false

  constructor(pairing: HearthClient['pairing'], done: () => Promise<void>) {
    this.#pairing = pairing
    this.#done = done
  }

  async ask(): Promise<void> {
    this.failure = null
    try {
      const deviceInfo = { name: t('tv.defaultName'), type: 'tv' as const, platform: 'browser' }
      const { expiresAt, ...request } = await this.#pairing.request({ body: { deviceInfo } })
      if (this.#stopped) return
      this.renewed = this.request !== null
      this.request = request
      this.lost = false
      this.left.to(Date.parse(expiresAt), () => void this.ask())
      this.#later(POLL_MS, () => this.#look(request))
    } catch (error) {
      if (this.#stopped) return
      this.#askFailed(error)
    }
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.left.stop()
    this.wait.stop()
  }

  #askFailed(error: unknown): void {
    this.request = null
    if (hasStatus(error, 429)) this.wait.to(Date.now() + (error.retryAfterSec ?? 60) * 1000, () => void this.ask())
    else if (hasStatus(error, 0) || hasStatus(error, 503)) {
      this.failure = error
      this.#later(RETRY_MS, () => this.ask())
    } else this.failure = error
  }

  async #look(request: Request): Promise<void> {
    try {
      const { id, pollSecret } = request
      const answer = await this.#pairing.poll({ params: { id }, body: { pollSecret, browser: true } })
      if (this.#stopped || this.request !== request) return
      this.lost = false
      if ('device' in answer) return await this.#done()
    } catch (error) {
      if (this.#stopped || this.request !== request) return
      if ([401, 404, 409, 410].some((status) => hasStatus(error, status))) return await this.ask()
      this.lost = true
    }
    this.#later(POLL_MS, () => this.#look(request))
  }

  #later(waitMs: number, then: () => Promise<void>): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void then(), waitMs)
  }
}
