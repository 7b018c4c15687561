const LONGEST_MS = 3_600_000

/** `Retry-After` in milliseconds: seconds, or a date; null where it says neither. */
function waitOf(header: string): number | null {
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}

export type Rests = ReturnType<typeof createRests>

/** Which gateways or endpoints asked to be left alone, and for how long; an hour at most. */
export function createRests() {
  const endOf = new Map<string, number>()

  return {
    isResting: (name: string): boolean => (endOf.get(name) ?? 0) > performance.now(),

    /** Takes note of what an answer of status 429 or 503 asks for. */
    heard(name: string, status: number, retryAfter: string | undefined): void {
      if ((status !== 429 && status !== 503) || retryAfter === undefined) return
      const waitMs = waitOf(retryAfter.trim())
      if (waitMs === null) return
      for (const [known, end] of endOf) if (end <= performance.now()) endOf.delete(known)
      endOf.set(name, performance.now() + Math.min(waitMs, LONGEST_MS))
    },
  }
}
