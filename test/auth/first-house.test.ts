import { afterAll, beforeAll, expect, test } from 'vitest'
import { type House, startHouse } from '../support/house.ts'

let house: House
beforeAll(async () => {
  house = await startHouse()
})
afterAll(() => house[Symbol.asyncDispose]())

test('the owner signs in by password and sees the empty house', async () => {
  const owner = await house.owner()
  expect(await owner.api.auth.session()).toEqual({ user: { email: null, name: 'Ada', picture: null } })
  expect(await owner.api.pairedDevices.list()).toEqual([])
  const { household, persons } = await owner.api.household.get()
  expect(household.mode).toBe('single')
  expect(persons).toHaveLength(1)
})

test('a phone pairs, talks and is revoked at once', async () => {
  const phone = await house.pair('Bob’s phone')
  const answer = await phone.api.chat.send({ body: { message: 'Tell me a story' } })
  const [head = '', ...rest] = (await answer.text()).split('\n')
  expect(JSON.parse(head)).toMatchObject({ conversationId: expect.any(String), messageId: expect.any(String) })
  expect(rest.join('\n')).toContain('language model')
  const [conversation] = await phone.api.chat.list({ query: {} })
  expect(conversation?.title).toBe('Tell me a story')
  const owner = await house.owner()
  expect(await owner.api.pairedDevices.list()).toMatchObject([{ name: 'Bob’s phone', type: 'phone', scope: 'member', isConnected: false }])
  await owner.api.pairedDevices.revoke({ params: { id: phone.id } })
  const refused = await phone.fetch('/api/chat/conversations')
  expect(refused.status).toBe(401)
  expect(await refused.json()).toEqual({ error: 'Unauthorized' })
})
