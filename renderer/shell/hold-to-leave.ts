/** As long as nobody rests a finger by chance. */
const HOLD_MS = 1200
/** A finger that moves further scrolls. */
const STILL_PX = 12

/** Calls `leave` when a finger or the mouse is held still anywhere in the window; returns what ends that. */
export function holdToLeave(leave: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let from = { x: 0, y: 0 }
  const ended = new AbortController()
  const options = { signal: ended.signal, capture: true, passive: true }
  const stop = () => clearTimeout(timer)
  window.addEventListener(
    'pointerdown',
    ({ clientX, clientY }) => {
      stop()
      from = { x: clientX, y: clientY }
      timer = setTimeout(leave, HOLD_MS)
    },
    options,
  )
  window.addEventListener(
    'pointermove',
    ({ clientX, clientY }) => {
      if (Math.hypot(clientX - from.x, clientY - from.y) > STILL_PX) stop()
    },
    options,
  )
  for (const type of ['pointerup', 'pointercancel']) window.addEventListener(type, stop, options)
  return () => {
    stop()
    ended.abort()
  }
}
