import type { HearthClient } from '../../api.ts'
import { hasStatus } from '../../messages/field-errors.ts'
import { t } from '../../messages/messages.ts'
import { Countdown } from '../../ui/countdown.svelte.ts'

/** One sign-in by password. */
export class SignIn {
  password = $state('')
  wrong = $state('')
  failure = $state.raw<unknown>(null)
  busy = $state(false)
  readonly wait = new Countdown()
  readonly #auth: HearthClient['auth']
  readonly #done: () => Promise<void>

  constructor(auth: HearthClient['auth'], done: () => Promise<void>) {
    this.#auth = auth
    this.#done = done
  }

  async enter(): Promise<void> {
    this.failure = null
    this.wrong = this.password === '' ? t('ui.notFilledIn') : ''
    if (this.wrong || this.busy || this.wait.left > 0) return
    this.busy = true
    try {
      await this.#auth.local({ body: { password: this.password } })
      await this.#done()
    } catch (error) {
      if (hasStatus(error, 401)) this.wrong = t('signIn.wrong')
      else if (hasStatus(error, 429)) this.wait.to(Date.now() + (error.retryAfterSec ?? 60) * 1000)
      else this.failure = error
    }
    this.busy = false
  }
}
