import { rateLimited } from './errors.ts'

export interface RateLimit {
  /** Takes one token of `key`; throws 429 with Retry-After when none is left. */
  take(key: string): void
  /** Gives one back, for what turned out not to count. */
  giveBack(key: string): void
}

interface Bucket {
  tokens: number
  at: number
}

const MAX_KEYS = 10_000

/**
 * Token buckets of `size`, refilled at `perSecond`. Our own, because the known libraries answer by promise and this is
 * asked on every request. The bucket used longest ago is forgotten first.
 */
export function createRateLimit(size: number, perSecond: number, now: () => number = () => performance.now()): RateLimit {
  const buckets = new Map<string, Bucket>()
  return {
    take(key) {
      const at = now()
      const bucket = buckets.get(key) ?? { tokens: size, at }
      bucket.tokens = Math.min(size, bucket.tokens + ((at - bucket.at) / 1000) * perSecond)
      bucket.at = at
      buckets.delete(key)
      buckets.set(key, bucket)
      if (buckets.size > MAX_KEYS) buckets.delete(buckets.keys().next().value as string)
      if (bucket.tokens < 1) throw rateLimited((1 - bucket.tokens) / perSecond)
      bucket.tokens -= 1
    },
    giveBack(key) {
      const bucket = buckets.get(key)
      if (bucket) bucket.tokens = Math.min(size, bucket.tokens + 1)
    },
  }
}

/** A bucket of `size` that takes a minute to fill. */
export const perMinute = (size: number) => createRateLimit(size, size / 60)

interface Window {
  count: number
  until: number
}

/** At most `size` of a key in `windowMs` from its first one; unlike a bucket, none comes back before that is over. */
export function createWindowLimit(size: number, windowMs: number, now: () => number = () => performance.now()): RateLimit {
  const windows = new Map<string, Window>()
  return {
    take(key) {
      const at = now()
      const known = windows.get(key)
      const current = known && known.until > at ? known : { count: 0, until: at + windowMs }
      if (current.count >= size) throw rateLimited((current.until - at) / 1000)
      current.count += 1
      windows.delete(key)
      windows.set(key, current)
      if (windows.size > MAX_KEYS) windows.delete(windows.keys().next().value as string)
    },
    giveBack(key) {
      const current = windows.get(key)
      if (current) current.count = Math.max(0, current.count - 1)
    },
  }
}
