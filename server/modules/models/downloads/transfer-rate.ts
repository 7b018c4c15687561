const WINDOW_MS = 5_000

/** Tells how fast bytes arrive, over the last five seconds. */
export function createTransferRate(now: () => number = () => performance.now()) {
  let samples: { at: number; bytes: number }[] = []
  const recent = () => {
    const oldest = now() - WINDOW_MS
    samples = samples.filter(({ at }) => at >= oldest)
    return samples
  }
  return {
    add(bytes: number): void {
      const last = samples.at(-1)
      // one sample a tenth of a second is enough
      if (last && now() - last.at < 100) last.bytes += bytes
      else samples.push({ at: now(), bytes })
    },
    perSecond(): number {
      const all = recent()
      const first = all[0]
      if (!first) return 0
      const sum = all.reduce((total, { bytes }) => total + bytes, 0)
      return Math.round((sum * 1000) / Math.max(1000, now() - first.at))
    },
    reset(): void {
      samples = []
    },
  }
}
