import { afterAll, beforeAll, expect, test } from 'vitest'
import { json } from '../support/credentials.ts'
import { type House, startHouse } from '../support/house.ts'
import { type PacedModel, startPacedModel } from '../support/paced-model.ts'

let model: PacedModel
let house: House
beforeAll(async () => {
  model = await startPacedModel()
  house = await startHouse({ env: { SERVICE_LLM_BASE_URL: model.url } })
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await model.stop()
})

const idIn = (answer: Response) => /^\/api\/chat\/conversations\/([\da-f-]{36})$/.exec(answer.headers.get('location') ?? '')?.[1] ?? ''

test('a message whose reply fails is kept, and the failure names its conversation', async () => {
  const { api, fetch } = await house.pair('Phone')
  model.fail(true)
  const refused = await fetch('/api/chat', json({ message: 'Tell me a story about a lighthouse' }))
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({ code: 'model_unavailable' })
  const id = idIn(refused)
  expect(await api.chat.list({ query: {} })).toMatchObject([{ id }])
  expect((await api.chat.get({ params: { id } })).messages).toMatchObject([
    { role: 'user', content: 'Tell me a story about a lighthouse', status: 'complete' },
    { role: 'assistant', content: '', status: 'failed' },
  ])
  const again = await fetch(`/api/chat/conversations/${id}/regenerate`, { method: 'POST' })
  expect([again.status, idIn(again)]).toEqual([503, id])
  model.fail(false)
  await (await api.chat.regenerate({ params: { id } })).text()
  expect((await api.chat.get({ params: { id } })).messages).toMatchObject([
    { role: 'user', status: 'complete' },
    { role: 'assistant', content: 'Yes, I hear you.', status: 'complete' },
  ])
})

test('where nothing was kept, and where all is well, no conversation is named', async () => {
  const phone = await house.pair('Phone')
  const other = await house.pair('Other')
  const { conversationId } = JSON.parse((await (await phone.api.chat.send({ body: { message: 'Hello there, you lighthouse' } })).text()).split('\n')[0] ?? '') as { conversationId: string } // biome-ignore format: one line
  const foreign = await other.fetch('/api/chat', json({ message: 'Hello', conversationId }))
  expect([foreign.status, foreign.headers.get('location')]).toEqual([404, null])
  const empty = await phone.fetch('/api/chat', json({ message: ' ' }))
  expect([empty.status, empty.headers.get('location')]).toEqual([400, null])
  const well = await phone.fetch('/api/chat', json({ message: 'Do tell me more of it', conversationId }))
  expect([well.status, well.headers.get('location')]).toEqual([200, null])
  await well.text()
})
