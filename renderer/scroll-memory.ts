import { z } from 'zod'

const Entry = z.object({ key: z.string() })
const Kept = z.record(z.string(), z.number())
const NAME = 'hearth.scroll'
const MAX_ENTRIES = 60
const RESTORE_FRAMES = 45

const currentKey = () => Entry.safeParse(history.state).data?.key ?? 'start'

function read(): Record<string, number> {
  try {
    return Kept.parse(JSON.parse(sessionStorage.getItem(NAME) ?? '{}'))
  } catch {
    return {}
  }
}

const newKey = () => `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 7)}`

/** Remembers how far each history entry was scrolled, across reloads of the tab. */
export function createScrollMemory() {
  const positions = new Map(Object.entries(read()))
  let waiting = 0
  const stop = () => cancelAnimationFrame(waiting)
  return {
    newKey,
    /** Takes over from the browser, which restores before the pages have filled. */
    start(signal: AbortSignal) {
      history.scrollRestoration = 'manual'
      if (!Entry.safeParse(history.state).success) history.replaceState({ key: newKey() }, '')
      for (const act of ['wheel', 'touchstart', 'keydown', 'pointerdown']) window.addEventListener(act, stop, { signal, passive: true })
    },
    keep() {
      const key = currentKey()
      positions.delete(key)
      positions.set(key, window.scrollY)
      const recent = [...positions].slice(-MAX_ENTRIES)
      sessionStorage.setItem(NAME, JSON.stringify(Object.fromEntries(recent)))
    },
    /** Pages fill while they load and push what is seen away, so the place is held for most of a second, or until one acts. */
    restore() {
      const top = positions.get(currentKey()) ?? 0
      let frames = 0
      stop()
      const hold = () => {
        if (Math.abs(window.scrollY - top) > 1) window.scrollTo(0, top)
        if (top > 0 && frames++ < RESTORE_FRAMES) waiting = requestAnimationFrame(hold)
      }
      hold()
    },
  }
}
