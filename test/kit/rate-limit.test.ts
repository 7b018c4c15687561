import { expect, test } from 'vitest'
import { createRateLimit, createWindowLimit, perMinute, type RateLimit } from '../../server/kit/rate-limit.ts'

/** How many of `tries` go through. */
function taken(limit: RateLimit, tries: number, key = 'a'): number {
  let count = 0
  for (let at = 0; at < tries; at++) {
    try {
      limit.take(key)
      count += 1
    } catch (error) {
      expect(error).toMatchObject({ status: 429, code: 'rate_limited' })
    }
  }
  return count
}

test('a bucket empties, refills over time and never beyond its size', () => {
  let now = 0
  const limit = createRateLimit(5, 2, () => now)
  expect(taken(limit, 8)).toBe(5)
  now += 1_000
  expect(taken(limit, 8)).toBe(2)
  now += 3_600_000
  expect(taken(limit, 8)).toBe(5)
})

test('tries while it is empty do not put the refill off', () => {
  let now = 0
  const limit = createRateLimit(1, 1, () => now)
  expect(taken(limit, 1)).toBe(1)
  for (; now < 1_000; now += 10) expect(taken(limit, 1)).toBe(0)
  now += 10
  expect(taken(limit, 1)).toBe(1)
})

test('keys do not share a bucket', () => {
  const limit = createRateLimit(2, 1, () => 0)
  expect([taken(limit, 3, 'a'), taken(limit, 3, 'b')]).toEqual([2, 2])
})

test('Retry-After is the whole seconds until the next token, at least one', () => {
  const retryAfter = (limit: RateLimit) => {
    limit.take('a')
    try {
      limit.take('a')
    } catch (error) {
      return (error as { headers: Record<string, string> }).headers['retry-after']
    }
    return undefined
  }
  expect(retryAfter(createRateLimit(1, 1 / 90, () => 0))).toBe('90')
  expect(retryAfter(createRateLimit(1, 50, () => 0))).toBe('1')
})

test('what turned out not to count is given back, and never more than was there', () => {
  const limit = createRateLimit(2, 0.001, () => 0)
  limit.take('a')
  limit.giveBack('a')
  limit.giveBack('a')
  limit.giveBack('nobody')
  expect(taken(limit, 5)).toBe(2)
  expect(taken(limit, 5, 'nobody')).toBe(2)
})

test('per minute means that many, then one every so often', () => {
  expect(taken(perMinute(20), 30)).toBe(20)
})

test('a flood of keys neither grows memory without end nor frees one that is in use', () => {
  const limit = createRateLimit(1, 0.000_001, () => 0)
  expect(taken(limit, 1, 'busy')).toBe(1)
  for (let at = 0; at < 50_000; at++) {
    limit.take(`key ${at}`)
    if (at % 100 === 0) expect(taken(limit, 1, 'busy')).toBe(0)
  }
  // The oldest are forgotten, which shows that not all of them are kept.
  expect(taken(limit, 1, 'key 0')).toBe(1)
})

test('a window gives nothing back before it is over, and counts from its first taker', () => {
  let now = 0
  const limit = createWindowLimit(5, 900_000, () => now)
  expect(taken(limit, 8)).toBe(5)
  now += 899_000
  expect(taken(limit, 8)).toBe(0)
  expect(taken(limit, 1, 'b')).toBe(1)
  now += 1_001
  expect(taken(limit, 8)).toBe(5)
  limit.giveBack('a')
  expect(taken(limit, 8)).toBe(1)
})
