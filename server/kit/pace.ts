/** The loop is held no longer than this at a stretch: with a piece of work that begins just before, still well under 20 ms. */
const SLICE_MS = 8

export type Pace = () => Promise<void> | undefined

/**
 * For long work on the loop, to be awaited between its pieces: lets others have a turn once enough of this one is used up, by whichever of
 * those that share the pace.
 */
export function createPace(): Pace {
  let turnBegan: number | null = null
  return () => {
    if (turnBegan === null) {
      turnBegan = performance.now()
      setImmediate(() => {
        turnBegan = null
      })
    }
    return performance.now() - turnBegan < SLICE_MS ? undefined : new Promise((resolve) => setImmediate(resolve))
  }
}
