const EVERY_MS = 2_000
/** Less is how a clock is kept right all the time. */
const NOTICED_MS = 1_000

/** Tells by how many milliseconds the clock on the wall was set back, soon after it was; returns what ends the watch. */
export function watchClock(onSetBack: (ms: number) => void): () => void {
  const ahead = () => Date.now() - performance.now()
  let known = ahead()
  const timer = setInterval(() => {
    const setBackMs = known - ahead()
    known = ahead()
    if (setBackMs > NOTICED_MS) onSetBack(setBackMs)
  }, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
