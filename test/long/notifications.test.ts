import { expect, test } from 'vitest'
import { deliveryRounds } from '../notifications/delivery-rounds.ts'

const ROUNDS = 200

test('killed two hundred times while it delivers, it loses none and sends none again that was acknowledged', async () => {
  const { sent, again, wrong } = await deliveryRounds(ROUNDS)
  process.stdout.write(
    `${ROUNDS} rounds, ${sent} notifications, ${again} seen again before they were acknowledged, ${wrong.length} wrong\n`,
  )
  expect(wrong).toEqual([])
  expect(sent).toBeGreaterThan(ROUNDS * 20)
})
