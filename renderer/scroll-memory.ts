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

/** Remembers how far each history entry was scrolled, across reloads of the tab. */
export function createScrollMemory() {
  const positions = new Map(Object.entries(read()))
  let waiting = 0
  return {
    nextKey: () => `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 7)}`,
    keep() {
      const key = currentKey()
      positions.delete(key)
      positions.set(key, window.scrollY)
      const recent = [...positions].slice(-MAX_ENTRIES)
      sessionStorage.setItem(NAME, JSON.stringify(Object.fromEntries(recent)))
    },
    /** Pages fill while they load, so the place is taken again until it is reached or most of a second has passed. */
    restore() {
      const top = positions.get(currentKey()) ?? 0
      let frames = 0
      cancelAnimationFrame(waiting)
      const settle = () => {
        window.scrollTo(0, top)
        if (Math.abs(window.scrollY - top) > 1 && frames++ < RESTORE_FRAMES) waiting = requestAnimationFrame(settle)
      }
      settle()
    },
  }
}
