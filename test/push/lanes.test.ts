import { expect, test, vi } from 'vitest'
import { createLanes } from '../../server/modules/push/lanes.ts'

const never = () => new Promise<never>(() => undefined)
/** Ends when it is told to, as a request does. */
const untilTold = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

test('one lane is never behind another', async () => {
  const lanes = createLanes({ limit: 1, waitMs: 60_000 })
  void lanes.run('slow', never)
  void lanes.run('slow', never)
  expect(await lanes.run('quick', async () => 'done')).toBe('done')
})

test('no more than the limit is under way in a lane, the others in the order in which they came', async () => {
  const lanes = createLanes({ limit: 2, waitMs: 60_000 })
  const begun: number[] = []
  const ends: (() => void)[] = []
  const all = [0, 1, 2, 3, 4].map((at) =>
    lanes.run('a', () => {
      begun.push(at)
      return new Promise<void>((resolve) => void ends.push(resolve))
    }),
  )
  await vi.waitFor(() => expect(begun).toEqual([0, 1]))
  for (let at = 0; at < all.length; at += 1) {
    await vi.waitFor(() => expect(ends.length).toBeGreaterThan(at))
    ends[at]?.()
  }
  await Promise.all(all)
  expect(begun).toEqual([0, 1, 2, 3, 4])
})

test('the time of those who wait for a place runs too, and what they wanted is not begun later', async () => {
  const lanes = createLanes({ limit: 1, waitMs: 100 })
  let begun = 0
  const first = lanes.run('a', untilTold)
  const second = lanes.run('a', async () => {
    begun += 1
  })
  await expect(first).rejects.toThrow('took too long')
  await Promise.allSettled([second])
  expect(await lanes.run('a', async () => 'free again')).toBe('free again')
  expect(begun).toBeLessThanOrEqual(1)
})

test('what does not end when it is told to keeps its place', async () => {
  const lanes = createLanes({ limit: 1, waitMs: 100 })
  let end = () => undefined as void
  await expect(
    lanes.run('a', () => {
      return new Promise<void>((resolve) => {
        end = resolve
      })
    }),
  ).rejects.toThrow('took too long')
  let begun = false
  const next = lanes.run('a', async () => {
    begun = true
  })
  await expect(next).rejects.toThrow('took too long')
  expect(begun).toBe(false)
  end()
  await vi.waitFor(() => lanes.run('a', async () => undefined))
})

test('a stop gives up what is under way, what waits, and what comes', async () => {
  const lanes = createLanes({ limit: 1, waitMs: 60_000 })
  const both = [lanes.run('a', untilTold), lanes.run('a', untilTold)]
  lanes.stop()
  for (const one of [...both, lanes.run('a', untilTold)]) await expect(one).rejects.toThrow('was stopped')
})
