import { afterEach, expect, test, vi } from 'vitest'
import { createWakeUp } from '../../server/kit/wake-up.ts'
import { later } from '../support/clock.ts'

const WAIT = { timeout: 10_000 }
afterEach(() => void vi.useRealTimers())

/** A wake-up over a list of times, and what it did. */
function waking({ stepMs = 20, fails = 0 } = {}) {
  const due: number[] = []
  const rung: number[] = []
  const failures: unknown[] = []
  let left = fails
  const wakeUp = createWakeUp({
    nextAt: () => (due.length > 0 ? Math.min(...due) : null),
    async ring() {
      if (left-- > 0) throw new Error('no')
      const next = Math.min(...due)
      due.splice(due.indexOf(next), 1)
      rung.push(next)
    },
    onFailed: (error) => void failures.push(error),
    stepMs,
  })
  return { wakeUp, due, rung, failures }
}

test('what is due is done in order, what came due before the start at once', async () => {
  const { wakeUp, due, rung } = waking()
  const now = Date.now()
  due.push(now + 60, now - 5_000, now + 30)
  wakeUp.start()
  await expect.poll(() => rung, WAIT).toEqual([now - 5_000, now + 30, now + 60])
  expect(Date.now()).toBeGreaterThanOrEqual(now + 60)
  due.push(now + 61)
  wakeUp.rearm()
  await expect.poll(() => rung, WAIT).toHaveLength(4)
  await wakeUp.stop()
})

test('more than a timeout can hold is waited for in steps, and a clock that is set is noticed', async () => {
  const { wakeUp, due, rung } = waking()
  due.push(Date.now() + 60 * 86_400_000)
  wakeUp.start()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(rung).toEqual([])
  later(60 * 86_400_000)
  await expect.poll(() => rung, WAIT).toHaveLength(1)
  await wakeUp.stop()
})

test('what fails is told and tried again', async () => {
  const { wakeUp, due, rung, failures } = waking({ fails: 1 })
  due.push(Date.now() - 1)
  wakeUp.start()
  await expect.poll(() => failures, WAIT).toHaveLength(1)
  wakeUp.rearm()
  await expect.poll(() => rung, WAIT).toHaveLength(1)
  await wakeUp.stop()
})

test('stopped, it does nothing more, and waits for what is being done', async () => {
  let begun = 0
  const first = Promise.withResolvers<void>()
  const wakeUp = createWakeUp({
    nextAt: () => Date.now(),
    ring() {
      begun += 1
      return first.promise
    },
    onFailed: () => undefined,
  })
  wakeUp.start()
  await expect.poll(() => begun, WAIT).toBe(1)
  let stopped = false
  const stopping = wakeUp.stop().then(() => {
    stopped = true
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(stopped).toBe(false)
  first.resolve()
  await stopping
  wakeUp.rearm()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(begun).toBe(1)
})
