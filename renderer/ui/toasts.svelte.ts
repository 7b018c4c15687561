/** How long an act can be undone, in milliseconds. */
export const UNDO_MS = 8000
const PLAIN_MS = 5000

export interface ToastOptions {
  tone?: 'plain' | 'good' | 'loss'
  action?: { label: string; run: () => void }
  /** How long it stays, in milliseconds; `UNDO_MS` where there is an action. */
  waitMs?: number
  /** Called once when it goes, whichever way. */
  onGone?: (why: 'acted' | 'expired' | 'dismissed') => void
}

export interface Toast extends ToastOptions {
  id: number
  text: string
}

/** Short messages at the foot of the window; time stands still while one is looked at. */
export class Toasts {
  items = $state.raw<Toast[]>([])
  #next = 1
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>()

  show(text: string, options: ToastOptions = {}): number {
    const toast = { ...options, id: this.#next++, text }
    this.items = [...this.items, toast]
    this.resume(toast.id)
    return toast.id
  }

  /** Says what was done and offers to take it back for 8 s; `onGone` tells which it was. */
  undoable(text: string, label: string, undo: () => void, onGone?: ToastOptions['onGone']): number {
    return this.show(text, { action: { label, run: undo }, ...(onGone ? { onGone } : {}) })
  }

  act(id: number): void {
    this.items.find((toast) => toast.id === id)?.action?.run()
    this.remove(id, 'acted')
  }

  remove(id: number, why: 'acted' | 'expired' | 'dismissed' = 'dismissed'): void {
    const toast = this.items.find((item) => item.id === id)
    if (!toast) return
    this.pause(id)
    this.items = this.items.filter((item) => item.id !== id)
    toast.onGone?.(why)
  }

  pause(id: number): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  /** Starts the whole wait anew. */
  resume(id: number): void {
    const toast = this.items.find((item) => item.id === id)
    if (!toast) return
    this.pause(id)
    const waitMs = toast.waitMs ?? (toast.action ? UNDO_MS : PLAIN_MS)
    this.#timers.set(
      id,
      setTimeout(() => this.remove(id, 'expired'), waitMs),
    )
  }
}
