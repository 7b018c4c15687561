import type { Scope } from '../../../server/modules/paired-devices/paired-devices.contract.ts'
import type { HearthClient } from '../../api.ts'
import { hasStatus } from '../../messages/field-errors.ts'
import { t } from '../../messages/messages.ts'

/** The owner enters the code that a TV shows. */
export class LetIn {
  code = $state('')
  scope = $state<Scope>('member')
  personId = $state('')
  wrong = $state('')
  failure = $state.raw<unknown>(null)
  busy = $state(false)
  readonly #pairing: HearthClient['pairing']

  constructor(pairing: HearthClient['pairing']) {
    this.#pairing = pairing
  }

  /** The name of the device that was let in, or null where that did not work. */
  async approve(): Promise<string | null> {
    this.failure = null
    this.wrong = this.code.trim() === '' ? t('ui.notFilledIn') : ''
    if (this.wrong || this.busy) return null
    this.busy = true
    try {
      const body = { userCode: this.code.trim(), scope: this.scope, ...(this.personId ? { personId: this.personId } : {}) }
      const { name } = await this.#pairing.approve({ body })
      this.code = ''
      return name
    } catch (error) {
      if (hasStatus(error, 404) || hasStatus(error, 400)) this.wrong = t('code.unknown')
      else this.failure = error
      return null
    } finally {
      this.busy = false
    }
  }
}
