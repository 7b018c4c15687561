import type { Hearth } from '../../app-context.ts'
import { mayKeepWindow } from '../../shell/keep-window.ts'
import { isSameKey, keyBytes } from './push-key.ts'

type Deps = Pick<Hearth, 'client' | 'live' | 'session'>

/** Why this browser cannot be reached while Hearth is closed, where it cannot. */
export type PushHindrance = 'insecure' | 'unsupported' | 'denied' | 'unpaired'

/** How this device is reached while no window of Hearth is open. */
export class PushHere {
  isOn = $state(false)
  isBusy = $state(false)
  failure = $state.raw<unknown>(null)
  #isDenied = $state(false)
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get hindrance(): PushHindrance | null {
    if (!window.isSecureContext) return 'insecure'
    if (!mayKeepWindow() || !('PushManager' in window) || !('Notification' in window)) return 'unsupported'
    if (!this.#deps.session.device) return 'unpaired'
    return this.#isDenied ? 'denied' : null
  }

  /** Looks how it stands, and says it to the server again where it is on: a browser may be given a new address at any time. */
  async look(): Promise<void> {
    if (this.hindrance && this.hindrance !== 'denied') return
    this.#isDenied = Notification.permission === 'denied'
    const registration = await navigator.serviceWorker.getRegistration()
    const known = await registration?.pushManager.getSubscription()
    this.isOn = Boolean(known) && Notification.permission === 'granted'
    if (!this.isOn || this.isBusy) return
    await this.#subscribe().catch(() => undefined) // once more at the next look
  }

  /** Asks for permission and says to the server how this browser is reached. Never rejects: look at `failure`. */
  async turnOn(): Promise<void> {
    await this.#trying(async () => {
      const permission = await Notification.requestPermission()
      this.#isDenied = permission === 'denied'
      if (permission !== 'granted') return
      await this.#subscribe()
      this.isOn = true
    })
  }

  /** The server drops an address that reaches nobody by itself. */
  async turnOff(): Promise<void> {
    await this.#trying(async () => {
      const registration = await navigator.serviceWorker.getRegistration()
      await (await registration?.pushManager.getSubscription())?.unsubscribe()
      this.isOn = false
    })
  }

  async #subscribe(): Promise<void> {
    const { publicKey } = await this.#deps.client.push.vapid()
    const applicationServerKey = keyBytes(publicKey)
    const { pushManager } = await navigator.serviceWorker.ready
    let subscription = await pushManager.getSubscription()
    if (subscription && !isSameKey(subscription.options.applicationServerKey, applicationServerKey)) {
      await subscription.unsubscribe()
      subscription = null
    }
    subscription ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })
    this.#deps.live.send('push.register', { provider: 'webpush', token: JSON.stringify(subscription) })
  }

  async #trying(work: () => Promise<void>): Promise<void> {
    this.isBusy = true
    this.failure = null
    try {
      await work()
    } catch (error) {
      this.failure = error
    }
    this.isBusy = false
  }
}
