import type { Level } from '../../../server/modules/notifications/notifications.contract.ts'

/** What a TV shows large: one notification, or how many there are. */
export interface Banner {
  /** Of the notification; null where it stands for several. */
  id: string | null
  title: string
  body: string
  level: Level
  /** Its buttons, the harmless one last. */
  acts: { label: string; name: string; run: () => void }[]
}

const SHOWN_MS = { info: 12_000, warning: 20_000, critical: null }

/** One banner at a time, urgent ones first; each leaves by itself once it has been there for long enough, but for urgent ones. */
export class BannerQueue {
  #waiting = $state.raw<Banner[]>([])
  readonly shown = $derived<Banner | null>(this.#waiting[0] ?? null)
  /** How many come after the one that is shown. */
  readonly behind = $derived(Math.max(0, this.#waiting.length - 1))
  #timer: ReturnType<typeof setTimeout> | undefined

  add(banner: Banner): void {
    const before = this.shown
    const isUrgent = banner.level === 'critical'
    const at = isUrgent ? this.#waiting.findIndex(({ level }) => level !== 'critical') : -1
    this.#waiting = at < 0 ? [...this.#waiting, banner] : [...this.#waiting.slice(0, at), banner, ...this.#waiting.slice(at)]
    if (this.shown !== before) this.resume()
  }

  /** Takes away what is shown, and whatever else is over with it. */
  leave(banner: Banner): void {
    this.#keep((one) => one !== banner)
  }

  /** Takes away what has been read elsewhere. */
  drop(ids: ReadonlySet<string>): void {
    if (this.#waiting.some(({ id }) => id !== null && ids.has(id))) this.#keep(({ id }) => id === null || !ids.has(id))
  }

  clear(): void {
    this.#keep(() => false)
  }

  /** Time stands still while somebody is at it. */
  pause(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Starts the whole wait anew. */
  resume(): void {
    this.pause()
    const { shown } = this
    const waitMs = shown && SHOWN_MS[shown.level]
    if (shown && waitMs) this.#timer = setTimeout(() => this.leave(shown), waitMs)
  }

  #keep(isKept: (banner: Banner) => boolean): void {
    const before = this.shown
    this.#waiting = this.#waiting.filter(isKept)
    if (this.shown !== before) this.resume()
  }
}
