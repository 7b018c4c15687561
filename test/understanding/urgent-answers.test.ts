import { expect, test } from 'vitest'
import { json } from '../support/credentials.ts'
import { makeFamily } from '../support/family.ts'
import { startHouse } from '../support/house.ts'

test('who is in danger is told whom to call before anything else, in a house without a model', async () => {
  await using house = await startHouse()
  const { owner } = await makeFamily(house)
  async function say(message: string): Promise<string> {
    const answer = await (await owner.fetch('/api/chat', json({ message }))).text()
    return answer.slice(answer.indexOf('\n') + 1)
  }
  expect(await say('help me, there is a fire')).toMatch(/^Get everyone out first\. I cannot call anyone: please call 112 /)
  expect(await say('call 112')).toBe('I cannot call anyone. Please call 112 now, or have somebody near you do it.')
  expect(await say('I want to kill myself')).toContain('talking helps')
  expect(await say('Ich kriege keine Luft')).toContain('Ich kann niemanden anrufen')
  // what is to be kept or told to others is kept or told
  expect(await say('remember that grandma had a heart attack in 2019')).toContain('I will remember')
  expect(await say('remind me tomorrow at 9 to call the police about the bike')).toContain('I will remind you')
  expect(await say('tell everyone there is a fire in the kitchen')).toMatch(/sent.*Get everyone out first/is)
})
