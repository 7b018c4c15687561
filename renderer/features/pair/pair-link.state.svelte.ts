import type { HearthClient } from '../../api.ts'
import { fieldErrors, hasStatus } from '../../messages/field-errors.ts'
import { t } from '../../messages/messages.ts'
import { Countdown } from '../../ui/countdown.svelte.ts'
import type { PairingPayload } from './pairing-payload.ts'

interface Guess {
  type: 'phone' | 'tablet'
  name: string
}

/** This browser becomes a paired device by a link. */
export class PairByLink {
  name = $state('')
  type = $state<'phone' | 'tablet'>('phone')
  used = $state(false)
  wrong = $state('')
  failure = $state.raw<unknown>(null)
  busy = $state(false)
  readonly wait = new Countdown()
  readonly payload: PairingPayload
  readonly #pairing: HearthClient['pairing']
  readonly #done: () => Promise<void>

  constructor(pairing: HearthClient['pairing'], payload: PairingPayload, guess: Guess, done: () => Promise<void>) {
    this.#pairing = pairing
    this.#done = done
    this.payload = payload
    this.name = guess.name
    this.type = guess.type
  }

  async pair(): Promise<void> {
    this.failure = null
    this.wrong = this.name.trim() === '' ? t('ui.notFilledIn') : ''
    if (this.wrong || this.busy) return
    this.busy = true
    const { code, secret } = this.payload
    const deviceInfo = { name: this.name.trim(), type: this.type, platform: 'browser' }
    try {
      await this.#pairing.browser({ body: { code, secret, deviceInfo } })
      await this.#done()
    } catch (error) {
      const fields = fieldErrors(error)
      if (hasStatus(error, 401)) this.used = true
      else if (hasStatus(error, 429)) this.wait.to(Date.now() + (error.retryAfterSec ?? 60) * 1000)
      else if (fields['deviceInfo.name']) this.wrong = fields['deviceInfo.name']
      else this.failure = error
    }
    this.busy = false
  }
}
