/** For `{@attach}` on what stands at the foot of the window: toasts appear above it. */
export function clearOfToasts(foot: HTMLElement): () => void {
  const root = document.documentElement
  const measure = () => root.style.setProperty('--foot', `${window.innerHeight - foot.getBoundingClientRect().top}px`)
  const sizes = new ResizeObserver(measure)
  sizes.observe(foot)
  window.addEventListener('resize', measure)
  return () => {
    sizes.disconnect()
    window.removeEventListener('resize', measure)
    root.style.removeProperty('--foot')
  }
}
