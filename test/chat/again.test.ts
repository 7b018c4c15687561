import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CallingModel, startCallingModel } from '../support/calling-model.ts'
import { type House, type Person, startHouse } from '../support/house.ts'

let model: CallingModel
let silent: House
let talking: House
beforeAll(async () => {
  model = await startCallingModel()
  silent = await startHouse()
  talking = await startHouse({ env: { SERVICE_LLM_BASE_URL: model.url } })
})
afterAll(async () => {
  await silent[Symbol.asyncDispose]()
  await talking[Symbol.asyncDispose]()
  await model.stop()
})

async function talk(who: Person, message: string, conversationId?: string): Promise<string> {
  const text = await (await who.api.chat.send({ body: { message, ...(conversationId && { conversationId }) } })).text()
  return (JSON.parse(text.split('\n')[0] ?? '') as { conversationId: string }).conversationId
}
const last = async (who: Person, id: string) => (await who.api.chat.get({ params: { id } })).messages.at(-1)

test('asking anew does nothing twice: without a model the answer stays, with one its record does', async () => {
  for (const house of [silent, talking]) {
    const owner = await house.residentOwner()
    const id = await talk(owner, 'Add milk to the shopping list')
    const before = await last(owner, id)
    expect(before?.toolCalls).toMatchObject([{ name: 'add_todo', status: 'done' }])
    await (await owner.api.chat.regenerate({ params: { id } })).text()
    const after = await last(owner, id)
    expect(after?.toolCalls).toEqual(before?.toolCalls)
    expect((await owner.api.chat.get({ params: { id } })).messages).toHaveLength(2)
    if (house === silent) expect(after).toMatchObject({ content: before?.content, model: 'grammar' })
    expect(await owner.api.todos.list({ query: { list: 'shopping' } })).toHaveLength(1)
  }
})

test('“forget that” asks back where an answer rested on several memories', async () => {
  const owner = await talking.residentOwner()
  for (const content of ['Mrs Bell mended the boiler in the cellar.', 'Mrs Bell mended the boiler in the attic.'])
    await owner.api.memory.addChunk({ body: { source: 'note', content } })
  const id = await talk(owner, 'Please write me two lines about Mrs Bell and how she mended the boiler')
  expect((await last(owner, id))?.sources).toHaveLength(2)
  await talk(owner, 'Forget that', id)
  expect((await last(owner, id))?.content).toContain('Which of these')
  expect((await owner.api.memory.chunks({ query: {} })).chunks).toHaveLength(2)
})

test('a model asks before it makes the house forget', async () => {
  const owner = await talking.residentOwner()
  const { chunk } = await owner.api.memory.addChunk({ body: { source: 'note', content: 'The ladder is in the shed.' } })
  model.call('get rid of the ladder', 'forget', { chunkId: chunk.id })
  const id = await talk(owner, 'Kindly get rid of the ladder thing you remember and forget about that memory for me, would you')
  expect((await last(owner, id))?.toolCalls).toMatchObject([{ name: 'forget', status: 'asking' }])
  expect(await owner.api.memory.chunk({ params: { id: chunk.id } })).toMatchObject({ id: chunk.id })
})

test('a personality without end leaves room for an answer', async () => {
  const owner = await talking.residentOwner()
  await owner.api.memory.setSoul({ body: { content: 'Be kind. '.repeat(10_000) } })
  const id = await talk(owner, 'Tell me something nice about the evening sky over the sea')
  expect((await last(owner, id))?.content).toBe('Yes, I hear you.')
  expect(String(model.asked.findLast(({ response_format }) => !response_format)?.messages[0]?.content).length).toBeLessThan(25_000)
})

test('what was to be remembered names the message that said so, with a model as without', async () => {
  model.call('keep the bin day in mind', 'remember', { content: 'The bins go out on Thursdays' })
  for (const [house, message] of [
    [silent, 'Remember that the cellar code is 3141'],
    [talking, 'Would you keep the bin day in mind, it is Thursday'],
  ] as const) {
    const owner = await house.residentOwner()
    const id = await talk(owner, message)
    const { messages } = await owner.api.chat.get({ params: { id } })
    const { chunks } = await owner.api.memory.chunks({ query: { limit: 1 } })
    expect(chunks[0]).toMatchObject({ source: 'note', conversationId: id, messageId: messages[0]?.id })
  }
})
