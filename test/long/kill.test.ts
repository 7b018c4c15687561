import { expect, test } from 'vitest'
import { killRounds } from '../support/kill-rounds.ts'

const ROUNDS = 200

test('killed two hundred times under writes from many clients, it loses nothing that it acknowledged', async () => {
  const { acknowledged, lost, readyMs } = await killRounds(ROUNDS)
  readyMs.sort((a, b) => a - b)
  const [median = 0, slowest = 0] = [readyMs[Math.floor(readyMs.length / 2)], readyMs.at(-1)]
  process.stdout.write(
    `${ROUNDS} rounds, ${acknowledged} acknowledged, ${lost.length} lost; ready after ${median.toFixed(0)} ms, at most ${slowest.toFixed(0)} ms\n`,
  )
  expect(lost).toEqual([])
  expect(acknowledged).toBeGreaterThan(ROUNDS * 10)
  expect(median).toBeLessThan(2_000)
})
