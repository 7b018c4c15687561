const FOCUSABLE = 'a[href], button:not(:disabled), [tabindex="0"]'
/** How much of what is seen an arrow moves on; the rest helps the eye to find its place. */
const STEP = 0.6

/**
 * For `{@attach}` on what scrolls, where arrows move the focus: scrolls instead while the next thing to focus is out of
 * sight, so that a long text between two buttons can be read with a remote control.
 */
export function readByArrows(scroller: HTMLElement): () => void {
  const keys = (event: KeyboardEvent) => {
    const up = event.key === 'ArrowUp'
    if ((!up && event.key !== 'ArrowDown') || event.defaultPrevented || !(event.target instanceof Element)) return
    const view = scroller.getBoundingClientRect()
    const from = event.target.getBoundingClientRect()
    const ahead = [...scroller.querySelectorAll(FOCUSABLE)]
      .map((element) => element.getBoundingClientRect())
      .filter((box) => box.height > 0 && (up ? box.bottom <= from.top : box.top >= from.bottom))
    const inSight = ahead.some((box) => box.bottom > view.top && box.top < view.bottom)
    const room = up ? scroller.scrollTop : scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop
    if (inSight || room < 1) return
    event.preventDefault()
    scroller.scrollBy({ top: (up ? -STEP : STEP) * scroller.clientHeight, behavior: 'smooth' })
  }
  scroller.addEventListener('keydown', keys)
  return () => scroller.removeEventListener('keydown', keys)
}
