import { whileVisible } from './while-visible.ts'

/** The live line to the server, as far as it is needed here. */
interface LiveLine {
  on(type: string, listener: () => void): () => void
  subscribe(topic: string, listener: () => void): () => void
}

/** Many changes at once are looked at together. */
const TOGETHER_MS = 120

/**
 * Calls `look` now, soon after every message of one of these topics, when the line to the server is back, and as a fallback
 * every `everyMs` while the window is seen; returns what ends that.
 */
export function whileLive(live: LiveLine, topics: string[], look: () => void, everyMs: number): () => void {
  let soon: ReturnType<typeof setTimeout> | undefined
  const changed = () => {
    soon ??= setTimeout(() => {
      soon = undefined
      look()
    }, TOGETHER_MS)
  }
  const stops = [whileVisible(look, everyMs), live.on('welcome', changed), ...topics.map((topic) => live.subscribe(topic, changed))]
  return () => {
    clearTimeout(soon)
    for (const stop of stops) stop()
  }
}
