import { z } from 'zod'
import type { SetupRequest } from '../../../server/modules/setup/setup.contract.ts'
import type { HearthClient } from '../../api.ts'
import { fieldErrors, hasStatus } from '../../messages/field-errors.ts'
import { t } from '../../messages/messages.ts'
import { Countdown } from '../../ui/countdown.svelte.ts'

export const steps = ['pin', 'you', 'house'] as const
export type Step = (typeof steps)[number]
type Field = 'pin' | 'owner.name' | 'owner.email' | 'owner.password' | 'household.displayName' | 'household.timezone' | IdpField
type IdpField = 'idp.issuer' | 'idp.clientId' | 'idp.clientSecret'
type Errors = Partial<Record<Field, string>>

const MIN_PASSWORD = 10
const isWebAddress = (text: string) => z.url({ protocol: /^https?$/ }).safeParse(text).success
const stepOf = (field: string): Step => (field === 'pin' ? 'pin' : field.startsWith('owner.') ? 'you' : 'house')

/** The answers of the wizard, checked step by step; the server has the last word and sends one back to the right step. */
export class SetupState {
  step = $state<Step>('pin')
  pin = $state('')
  name = $state('')
  email = $state('')
  password = $state('')
  displayName = $state(t('setup.house.nameDefault'))
  timezone = $state(Intl.DateTimeFormat().resolvedOptions().timeZone)
  locale = $state(navigator.language)
  idp = $state({ issuer: '', clientId: '', clientSecret: '' })
  errors = $state.raw<Errors>({})
  failure = $state.raw<unknown>(null)
  busy = $state(false)
  readonly wait = new Countdown()
  readonly #setup: HearthClient['setup']
  readonly #done: () => void

  constructor(setup: HearthClient['setup'], pin: string, done: () => void) {
    this.#setup = setup
    this.#done = done
    this.pin = pin
    if (pin) this.step = 'you'
  }

  back(): void {
    this.errors = {}
    this.step = steps[Math.max(0, steps.indexOf(this.step) - 1)] ?? 'pin'
  }

  /** Checks this step and goes to the next; the last one sends everything. */
  async next(): Promise<void> {
    this.errors = this.#check(this.step)
    this.failure = null
    if (Object.keys(this.errors).length > 0) return
    const following = steps[steps.indexOf(this.step) + 1]
    if (following) this.step = following
    else await this.#finish()
  }

  #check(step: Step): Errors {
    if (step === 'pin') return /^(\d{6})?$/.test(this.pin.trim()) ? filled({ pin: this.pin }) : { pin: t('setup.pin.notSix') }
    if (step === 'you') {
      const missing = MIN_PASSWORD - this.password.length
      return {
        ...filled({ 'owner.name': this.name, 'owner.password': this.password }),
        ...(missing > 0 && this.password !== '' ? { 'owner.password': t('setup.you.passwordShort', missing) } : {}),
        ...(this.email && !z.email().safeParse(this.email).success ? { 'owner.email': t('setup.you.emailBad') } : {}),
      }
    }
    const { issuer, clientId, clientSecret } = this.idp
    const wanted = issuer || clientId || clientSecret
    return {
      ...filled({ 'household.displayName': this.displayName }),
      ...(wanted ? filled({ 'idp.issuer': issuer, 'idp.clientId': clientId, 'idp.clientSecret': clientSecret }) : {}),
      ...(issuer && !isWebAddress(issuer) ? { 'idp.issuer': t('setup.idp.issuerBad') } : {}),
    }
  }

  #answers(): SetupRequest {
    const { issuer } = this.idp
    return {
      pin: this.pin.trim(),
      owner: { name: this.name.trim(), password: this.password, ...(this.email ? { email: this.email.trim() } : {}) },
      household: { displayName: this.displayName.trim(), timezone: this.timezone, locale: this.locale },
      ...(issuer ? { idp: { ...this.idp } } : {}),
    }
  }

  async #finish(): Promise<void> {
    this.busy = true
    try {
      await this.#setup.complete({ body: this.#answers() })
      this.#done()
    } catch (error) {
      this.#refuse(error)
    }
    this.busy = false
  }

  #refuse(error: unknown): void {
    const found = fieldErrors(error)
    const [first] = Object.keys(found)
    if (first) {
      this.errors = found
      this.step = stepOf(first)
    } else if (hasStatus(error, 401)) {
      this.errors = { pin: t('setup.pin.wrong') }
      this.step = 'pin'
    } else if (hasStatus(error, 429)) {
      this.step = 'pin'
      this.wait.to(Date.now() + (error.retryAfterSec ?? 60) * 1000)
    } else if (hasStatus(error, 409)) this.#done()
    else this.failure = error
  }
}

const filled = (fields: Errors): Errors =>
  Object.fromEntries(Object.entries(fields).flatMap(([field, value]) => (value.trim() === '' ? [[field, t('ui.notFilledIn')]] : [])))
