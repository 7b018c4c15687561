import type { OwnerSession } from '../../../server/modules/auth/auth.contract.ts'
import type { ApiKey } from '../../../server/modules/keys/keys.contract.ts'
import type { Scope } from '../../../server/modules/paired-devices/paired-devices.contract.ts'
import type { HearthClient } from '../../api.ts'
import { fieldErrors, hasStatus } from '../../messages/field-errors.ts'
import { t } from '../../messages/messages.ts'
import { Countdown } from '../../ui/countdown.svelte.ts'
import { Resource } from '../../ui/resource.svelte.ts'

const DAY_MS = 86_400_000

/** The browsers signed in as the owner. */
export class OwnerSessions {
  readonly list: Resource<OwnerSession[]>
  readonly #auth: HearthClient['auth']

  constructor(auth: HearthClient['auth']) {
    this.#auth = auth
    this.list = new Resource((signal) => auth.sessions({}, { signal }))
  }

  async end({ id }: OwnerSession): Promise<void> {
    await this.#auth.endSession({ params: { id } })
    this.list.value = this.list.value?.filter((other) => other.id !== id) ?? []
  }
}

/** The API keys; a new one is readable in `made` until it is put away. */
export class ApiKeys {
  readonly list: Resource<ApiKey[]>
  made = $state.raw<(ApiKey & { key: string }) | null>(null)
  readonly #keys: HearthClient['keys']

  constructor(keys: HearthClient['keys']) {
    this.#keys = keys
    this.list = new Resource((signal) => keys.list({}, { signal }))
  }

  /** `days` 0 stands for a key that does not end. */
  async create(label: string, scope: Scope, days: number): Promise<void> {
    const expiresAt = days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString()
    this.made = await this.#keys.create({ body: { label, scope, expiresAt } })
    void this.list.load()
  }

  async revoke({ id }: ApiKey): Promise<void> {
    await this.#keys.revoke({ params: { id } })
    this.list.value = this.list.value?.filter((other) => other.id !== id) ?? []
  }
}

/** Changes the owner's password. */
export class PasswordChange {
  current = $state('')
  next = $state('')
  wrong = $state.raw<{ current?: string; next?: string }>({})
  failure = $state.raw<unknown>(null)
  busy = $state(false)
  readonly wait = new Countdown()
  readonly #auth: HearthClient['auth']

  constructor(auth: HearthClient['auth']) {
    this.#auth = auth
  }

  /** True when it was changed. */
  async change(): Promise<boolean> {
    this.failure = null
    const missing = 10 - this.next.length
    this.wrong = {
      ...(this.current === '' ? { current: t('ui.notFilledIn') } : {}),
      ...(missing > 0 ? { next: this.next === '' ? t('ui.notFilledIn') : t('setup.you.passwordShort', missing) } : {}),
    }
    if (Object.keys(this.wrong).length > 0 || this.busy) return false
    this.busy = true
    try {
      await this.#auth.password({ body: { current: this.current, next: this.next } })
      this.current = ''
      this.next = ''
      return true
    } catch (error) {
      if (hasStatus(error, 401)) this.wrong = { current: t('settings.password.wrong') }
      else if (hasStatus(error, 429)) this.wait.to(Date.now() + (error.retryAfterSec ?? 60) * 1000)
      else if (fieldErrors(error).next) this.wrong = fieldErrors(error)
      else this.failure = error
      return false
    } finally {
      this.busy = false
    }
  }
}
