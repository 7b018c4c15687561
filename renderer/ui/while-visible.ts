/** Calls `look` now, whenever the window comes back into view, and every `everyMs` while it is seen; returns what ends that. */
export function whileVisible(look: () => void, everyMs: number): () => void {
  const seen = () => {
    if (document.visibilityState === 'visible') look()
  }
  look()
  const timer = setInterval(seen, everyMs)
  document.addEventListener('visibilitychange', seen)
  window.addEventListener('focus', seen)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', seen)
    window.removeEventListener('focus', seen)
  }
}
