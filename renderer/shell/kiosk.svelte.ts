const AWAKE = 'hearth.kiosk.awake'
const BARE = 'hearth.kiosk.bare'

/** Why this screen cannot be kept on from here; `refused` where the device itself said no, as on a low battery. */
type WakeHindrance = 'insecure' | 'unsupported' | 'refused'

const isSeen = () => document.visibilityState === 'visible'

/** A screen on the wall: kept on, and without the frame around the pages. Chosen for this browser alone. */
export class Kiosk {
  /** Whether the screen is to be kept on. */
  keepsOn = $state(localStorage.getItem(AWAKE) === 'on')
  /** Whether it is, now. */
  isHeld = $state(false)
  /** Whether the frame is hidden. */
  bare = $state(localStorage.getItem(BARE) === 'on')
  #isRefused = $state(false)
  #lock: WakeLockSentinel | null = null
  #asks = 0

  get hindrance(): WakeHindrance | null {
    if (!window.isSecureContext) return 'insecure'
    if (!('wakeLock' in navigator)) return 'unsupported'
    return this.keepsOn && this.#isRefused ? 'refused' : null
  }

  keepOn(on: boolean): void {
    this.keepsOn = on
    localStorage.setItem(AWAKE, on ? 'on' : 'off')
  }

  showBare(on: boolean): void {
    this.bare = on
    localStorage.setItem(BARE, on ? 'on' : 'off')
  }

  /** Holds the lock from now on, also after the window was out of sight, which ends every lock; returns what ends that. */
  hold(): () => void {
    const seen = () => {
      if (isSeen()) void this.#ask()
    }
    seen()
    document.addEventListener('visibilitychange', seen)
    return () => {
      document.removeEventListener('visibilitychange', seen)
      this.#asks++
      this.#isRefused = false
      this.isHeld = false
      const lock = this.#lock
      this.#lock = null
      lock?.release().catch(() => undefined) // it is gone already
    }
  }

  async #ask(): Promise<void> {
    if (!('wakeLock' in navigator) || (this.#lock && !this.#lock.released)) return
    const mine = ++this.#asks
    try {
      const lock = await navigator.wakeLock.request('screen')
      if (mine !== this.#asks) return void (await lock.release())
      this.#lock = lock
      this.isHeld = true
      this.#isRefused = false
      lock.addEventListener('release', () => {
        if (this.#lock === lock) this.isHeld = false
      })
    } catch {
      if (mine === this.#asks) this.#isRefused = isSeen()
    }
  }
}
