import { t } from '../messages/messages.ts'
import type { Toasts } from './toasts.svelte.ts'

interface Leave {
  /** Says what was done. */
  text: string
  remove: () => Promise<unknown>
  /** The same for a page that goes away before the time to undo it is over. */
  part: () => Promise<unknown>
  /** It could not be removed and is shown again. */
  onfailed: (error: unknown) => void
}

/** Things that are shown no more but removed only once the time to undo that has passed. */
export class Leaving {
  #keys = $state.raw<ReadonlySet<string>>(new Set())
  readonly #toasts: Toasts

  constructor(toasts: Toasts) {
    this.#toasts = toasts
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  add(key: string, { text, remove, part, onfailed }: Leave): void {
    const ended = new AbortController()
    const mark = (leaving: boolean) => {
      const keys = new Set(this.#keys)
      if (leaving) keys.add(key)
      else keys.delete(key)
      this.#keys = keys
    }
    const drop = async () => {
      if (ended.signal.aborted) return
      ended.abort()
      try {
        await remove()
      } catch (error) {
        onfailed(error)
      }
      mark(false)
    }
    const leave = () => {
      ended.abort()
      // The page is gone when the answer comes: a refusal shows when the list is next read.
      part().catch(() => undefined)
    }
    const keep = () => {
      if (ended.signal.aborted) return
      ended.abort()
      mark(false)
    }
    mark(true)
    window.addEventListener('pagehide', leave, { signal: ended.signal })
    this.#toasts.undoable(text, t('ui.undo'), keep, (why) => {
      if (why !== 'acted') void drop()
    })
  }
}
