import type { PairedDevice, Scope } from '../../../server/modules/paired-devices/paired-devices.contract.ts'
import type { HearthClient } from '../../api.ts'
import { hasStatus } from '../../messages/field-errors.ts'
import { Countdown } from '../../ui/countdown.svelte.ts'

const POLL_MS = 1500

interface Link {
  id: string
  webLink: string
  appLink: string
}

/** One pairing from the choice of scope to the device, or until it is cancelled. */
export class AddDevice {
  phase = $state<'choose' | 'waiting' | 'expired' | 'done'>('choose')
  scope = $state<Scope>('member')
  personId = $state('')
  link = $state.raw<Link | null>(null)
  device = $state.raw<PairedDevice | null>(null)
  failure = $state.raw<unknown>(null)
  busy = $state(false)
  /** The last look did not reach the server. */
  lost = $state(false)
  readonly left = new Countdown()
  readonly #pairing: HearthClient['pairing']
  readonly #paired: (device: PairedDevice) => void
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(pairing: HearthClient['pairing'], paired: (device: PairedDevice) => void) {
    this.#pairing = pairing
    this.#paired = paired
  }

  async start(): Promise<void> {
    this.busy = true
    this.failure = null
    try {
      const { qr, webQr, pairing } = await this.#pairing.start({
        body: { scope: this.scope, ...(this.personId ? { personId: this.personId } : {}) },
      })
      this.link = { id: pairing.id, webLink: webQr, appLink: qr }
      this.phase = 'waiting'
      this.left.to(Date.parse(pairing.expiresAt), () => this.#end('expired'))
      this.#later()
    } catch (error) {
      this.failure = error
    }
    this.busy = false
  }

  again(): void {
    this.device = null
    this.phase = 'choose'
  }

  /** Stops waiting; a link that nobody used yet is cancelled. */
  async stop(): Promise<void> {
    const open = this.phase === 'waiting' ? this.link : null
    this.#end('choose')
    if (!open) return
    try {
      await this.#pairing.cancel({ params: { id: open.id } })
    } catch (error) {
      // Whether it ran out, was used, or cannot be reached: the link ends by itself within ten minutes.
      this.failure = error
    }
  }

  #later(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#look(), POLL_MS)
  }

  async #look(): Promise<void> {
    const { link } = this
    if (!link) return
    try {
      const { status, device } = await this.#pairing.state({ params: { id: link.id } })
      if (this.link !== link) return
      this.lost = false
      if (status === 'completed' && device) {
        this.device = device
        this.#end('done')
        this.#paired(device)
      } else if (status !== 'pending') this.#end('expired')
    } catch (error) {
      if (this.link !== link) return
      if (hasStatus(error, 404)) this.#end('expired')
      else this.lost = true
    }
    if (this.phase === 'waiting') this.#later()
  }

  #end(phase: AddDevice['phase']): void {
    clearTimeout(this.#timer)
    this.left.stop()
    this.link = null
    this.lost = false
    this.phase = phase
  }
}
