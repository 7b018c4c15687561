import { vi } from 'vitest'

/** Moves the wall clock on, by which tokens and sessions are measured; `vi.useRealTimers()` brings it back. */
export function later(ms: number): void {
  const to = Date.now() + ms
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(to)
}
