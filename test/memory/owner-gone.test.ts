import { expect, test } from 'vitest'
import { json } from '../support/credentials.ts'
import { makeFamily } from '../support/family.ts'
import { startHouse } from '../support/house.ts'

test('a memory of somebody who has moved out can be sent back as it was read', async () => {
  await using house = await startHouse()
  const { owner, ben } = await makeFamily(house)
  const made = await owner.fetch('/api/memory/chunks', json({ source: 'note', content: 'Ben keeps the spare key.', personId: ben }))
  expect(made.status).toBe(201)
  const { id } = ((await made.json()) as { chunk: { id: string } }).chunk
  const { household, persons } = await owner.api.household.get()
  await owner.api.household.replace({ body: { ...household, persons: persons.filter((person) => person.id !== ben) } })
  const read = (await (await owner.fetch(`/api/memory/chunks/${id}`)).json()) as { chunk: object }
  const sent = await owner.fetch(`/api/memory/chunks/${id}`, json({ ...read.chunk, pinned: true }, 'PATCH'))
  expect(sent.status, await sent.clone().text()).toBe(200)
})
