import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { dueBy } from '../../renderer/features/home/due.ts'
import { whileLive } from '../../renderer/ui/while-live.ts'

const todo = (title: string, dueAt?: string) => ({ id: title, title, createdAt: '2026-01-01T00:00:00.000Z', ...(dueAt ? { dueAt } : {}) })

test('what is due today by the clock of the house is shown, and what was due before, soonest first', () => {
  const todos = [
    todo('tonight', '2026-03-04T22:30:00.000Z'),
    todo('tomorrow in the house already', '2026-03-04T23:30:00.000Z'),
    todo('some day'),
    todo('last week', '2026-02-25T10:00:00.000Z'),
  ]
  expect(dueBy(todos, '2026-03-04', 'Europe/Berlin').map(({ title }) => title)).toEqual(['last week', 'tonight'])
  expect(dueBy(todos, '2026-03-04', 'Europe/London').map(({ title }) => title)).toContain('tomorrow in the house already')
})

/** A line whose messages the test sends. */
function fakeLive() {
  const listeners = new Map<string, Set<(payload: unknown) => void>>()
  const add = (type: string, listener: (payload: unknown) => void) => {
    listeners.set(type, (listeners.get(type) ?? new Set()).add(listener))
    return () => void listeners.get(type)?.delete(listener)
  }
  return {
    live: { on: add, subscribe: add },
    tell: (type: string) => {
      for (const listener of listeners.get(type) ?? []) listener({})
    },
    heard: () => [...listeners.values()].reduce((sum, { size }) => sum + size, 0),
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('window', new EventTarget())
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('looks at once, once for many changes, when the line is back, and rarely besides', () => {
  const { live, tell } = fakeLive()
  const look = vi.fn()
  whileLive(live, ['todo.changed'], look, 60_000)
  expect(look).toHaveBeenCalledTimes(1)
  for (let change = 0; change < 50; change++) tell('todo.changed')
  vi.advanceTimersByTime(1000)
  expect(look).toHaveBeenCalledTimes(2)
  tell('timer.changed')
  vi.advanceTimersByTime(1000)
  expect(look).toHaveBeenCalledTimes(2)
  tell('welcome')
  vi.advanceTimersByTime(1000)
  expect(look).toHaveBeenCalledTimes(3)
  vi.advanceTimersByTime(60_000)
  expect(look).toHaveBeenCalledTimes(4)
})

test('does not wait for an end of changes that never comes', () => {
  const { live, tell } = fakeLive()
  const look = vi.fn()
  whileLive(live, ['memory.index'], look, 60_000)
  for (let change = 0; change < 100; change++) {
    tell('memory.index')
    vi.advanceTimersByTime(50)
  }
  expect(look.mock.calls.length).toBeGreaterThan(10)
  expect(look.mock.calls.length).toBeLessThan(60)
})

test('leaves nothing behind once it is ended', () => {
  const { live, tell, heard } = fakeLive()
  const look = vi.fn()
  const stop = whileLive(live, ['todo.changed', 'timer.changed'], look, 60_000)
  tell('todo.changed')
  stop()
  tell('timer.changed')
  vi.advanceTimersByTime(600_000)
  window.dispatchEvent(new Event('focus'))
  expect(look).toHaveBeenCalledTimes(1)
  expect(heard()).toBe(0)
})
