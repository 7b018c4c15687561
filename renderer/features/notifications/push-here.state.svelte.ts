import type { Hearth } from '../../app-context.ts'
import { mayKeepWindow } from '../../shell/keep-window.ts'
import { isSameKey, keyBytes } from './push-key.ts'
import { chooseOutside, mayShowOutside } from './show-outside.ts'

type Deps = Pick<Hearth, 'client' | 'live' | 'session'>

/** Why this browser shows no notifications outside its window, where it cannot. */
export type PushHindrance = 'insecure' | 'unsupported' | 'denied'
/** How far they reach: also while no window is open, only beside one, or so because the push service did not answer. */
type Reach = 'closed' | 'open' | 'unpaired' | 'unreached'

/** How this device shows notifications outside the window of Hearth. */
export class PushHere {
  isOn = $state(false)
  isBusy = $state(false)
  reach = $state<Reach>('open')
  #isDenied = $state(false)
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
    this.isOn = window.isSecureContext && mayShowOutside()
  }

  get hindrance(): PushHindrance | null {
    if (!window.isSecureContext) return 'insecure'
    if (!('Notification' in window)) return 'unsupported'
    return this.#isDenied ? 'denied' : null
  }

  /** Looks how it stands, and says it to the server again where it is on: a browser may be given a new address at any time. */
  async look(): Promise<void> {
    if (this.hindrance && this.hindrance !== 'denied') return
    this.#isDenied = Notification.permission === 'denied'
    this.isOn = mayShowOutside()
    if (this.isOn && !this.isBusy) await this.#reachFurther()
  }

  /** Asks for permission, and says to the server how this browser is reached. */
  async turnOn(): Promise<void> {
    this.isBusy = true
    try {
      const permission = await Notification.requestPermission()
      this.#isDenied = permission === 'denied'
      if (permission !== 'granted') return
      chooseOutside(true)
      this.isOn = true
      await this.#reachFurther()
    } finally {
      this.isBusy = false
    }
  }

  /** The server drops an address that reaches nobody by itself. */
  async turnOff(): Promise<void> {
    this.isBusy = true
    try {
      chooseOutside(false)
      this.isOn = false
      const registration = await navigator.serviceWorker?.getRegistration()
      const subscription = await registration?.pushManager?.getSubscription()
      await subscription?.unsubscribe().catch(() => false)
    } finally {
      this.isBusy = false
    }
  }

  /** To where no window is open, if this browser is a paired device that can be pushed to. */
  async #reachFurther(): Promise<void> {
    if (!mayKeepWindow() || !('PushManager' in window)) this.reach = 'open'
    else if (!this.#deps.session.device) this.reach = 'unpaired'
    else
      this.reach = await this.#subscribe().then(
        () => 'closed',
        () => 'unreached', // once more at the next look
      )
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
}
