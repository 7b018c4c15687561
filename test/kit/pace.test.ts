import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPace } from '../../server/kit/pace.ts'

const workFor = (ms: number) => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('work that keeps the pace lets others have their turns, however many share it', async () => {
  const pace = createPace()
  let turns = 0
  let isWatching = true
  const watching = (async () => {
    while (isWatching) {
      await nextTurn()
      turns += 1
    }
  })()
  const work = async () => {
    for (let piece = 0; piece < 20; piece++) {
      await pace()
      workFor(1)
    }
  }
  await Promise.all([work(), work(), work()])
  isWatching = false
  await watching
  expect(turns).toBeGreaterThanOrEqual(6) // 60 ms of work, at most 10 at a stretch
})

test('short work goes on at once', () => {
  const pace = createPace()
  expect([pace(), pace(), pace()]).toEqual([undefined, undefined, undefined])
})

test('a new turn begins anew', async () => {
  const pace = createPace()
  pace()
  workFor(20)
  expect(pace()).toBeInstanceOf(Promise)
  await nextTurn()
  expect(pace()).toBeUndefined()
})
