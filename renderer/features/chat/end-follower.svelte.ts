import { untrack } from 'svelte'

/** Closer to the end than this, in pixels, counts as being there. */
const NEAR = 48
const UPWARD_KEYS = new Set(['ArrowUp', 'PageUp', 'Home'])

/** Keeps a scrolling element at its end while it grows, as long as its reader is there. */
export class EndFollower {
  /** The reader is at the end, or the end is being followed. */
  following = $state(true)
  #scroller: HTMLElement | null = null
  #lastTop = 0
  /** A finger or the mouse holds the content or its scroll bar. */
  #held = false

  /** For `{@attach}`; the first child is what grows. */
  readonly attach = (scroller: HTMLElement): (() => void) => {
    this.#scroller = scroller
    const sizes = new ResizeObserver(() => this.#follow())
    sizes.observe(scroller)
    if (scroller.firstElementChild) sizes.observe(scroller.firstElementChild)
    const ended = this.#listen(scroller)
    untrack(() => this.jump())
    return () => {
      sizes.disconnect()
      ended.abort()
      this.#scroller = null
    }
  }

  /** Goes to the end and follows it from now on. */
  jump(): void {
    this.following = true
    this.#follow()
  }

  /** Following moves the content so often that a browser may never begin the scroll that a wheel or key asked for. */
  #listen(scroller: HTMLElement): AbortController {
    const ended = new AbortController()
    const options = { passive: true, signal: ended.signal }
    const hold = (event: Event) => {
      this.#held = event.type === 'touchstart' || event.target === scroller
    }
    const release = () => {
      this.#held = false
    }
    scroller.addEventListener('scroll', () => this.#scrolled(scroller), options)
    scroller.addEventListener('wheel', ({ deltaY }) => deltaY < 0 && this.#leave(scroller), options)
    scroller.addEventListener('keydown', ({ key }) => UPWARD_KEYS.has(key) && this.#leave(scroller), options)
    for (const type of ['touchstart', 'mousedown']) scroller.addEventListener(type, hold, options)
    for (const type of ['touchend', 'touchcancel', 'mouseup']) window.addEventListener(type, release, options)
    return ended
  }

  #leave(scroller: HTMLElement): void {
    if (scroller.scrollHeight > scroller.clientHeight) this.following = false
  }

  #follow(): void {
    const scroller = this.#scroller
    if (!scroller || !this.following || this.#held) return
    // An open menu closes when what is under it moves.
    if (document.querySelector('[aria-haspopup="menu"][aria-expanded="true"]')) return
    scroller.scrollTop = scroller.scrollHeight
    this.#lastTop = scroller.scrollTop
  }

  #scrolled(scroller: HTMLElement): void {
    const left = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop
    // Any step up is the reader's, even a small one; shrunken content only looks like one, and ends at the end.
    if (scroller.scrollTop < this.#lastTop && left > 1) this.following = false
    else if (scroller.scrollTop > this.#lastTop && left <= NEAR) this.following = true
    this.#lastTop = scroller.scrollTop
  }
}
