import { expect, test, vi } from 'vitest'
import { deliveryRounds } from './delivery-rounds.ts'

vi.setConfig({ testTimeout: 240_000 })

test('killed again and again while it delivers, it loses none and sends none again that was acknowledged', async () => {
  const { sent, wrong } = await deliveryRounds(10)
  expect(wrong).toEqual([])
  expect(sent).toBeGreaterThanOrEqual(200)
})
