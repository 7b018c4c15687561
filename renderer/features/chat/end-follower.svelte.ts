/** Closer to the end than this, in pixels, counts as being there. */
const NEAR = 48

/** Keeps a scrolling element at its end while it grows, as long as its reader is there. */
export class EndFollower {
  /** The reader is at the end, or the end is being followed. */
  following = $state(true)
  #scroller: HTMLElement | null = null
  #lastTop = 0

  /** For `{@attach}`; the first child is what grows. */
  readonly attach = (scroller: HTMLElement): (() => void) => {
    this.#scroller = scroller
    const sizes = new ResizeObserver(() => this.#follow())
    sizes.observe(scroller)
    if (scroller.firstElementChild) sizes.observe(scroller.firstElementChild)
    const scrolled = () => this.#scrolled(scroller)
    scroller.addEventListener('scroll', scrolled, { passive: true })
    this.jump()
    return () => {
      sizes.disconnect()
      scroller.removeEventListener('scroll', scrolled)
      this.#scroller = null
    }
  }

  /** Goes to the end and follows it from now on. */
  jump(): void {
    this.following = true
    this.#follow()
  }

  #follow(): void {
    const scroller = this.#scroller
    // An open menu closes when what is under it moves.
    if (!scroller || !this.following || document.querySelector('[aria-haspopup="menu"][aria-expanded="true"]')) return
    scroller.scrollTop = scroller.scrollHeight
  }

  #scrolled(scroller: HTMLElement): void {
    const left = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop
    if (left <= NEAR) this.following = true
    else if (scroller.scrollTop < this.#lastTop) this.following = false
    this.#lastTop = scroller.scrollTop
  }
}
