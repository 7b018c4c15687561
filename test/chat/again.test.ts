import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

test('“forget that” asks back where a model’s answer rested on several memories', async () => {
  const owner = await talking.residentOwner()
  for (const content of ['Mrs Bell mended the boiler in the cellar.', 'Mrs Bell mended the boiler in the attic.'])
    await owner.api.memory.addChunk({ body: { source: 'note', content } })
  model.write('two lines about Mrs Bell', 'She went into the cellar with a spanner, and up to the attic with another.')
  const id = await talk(owner, 'Please write me two lines about Mrs Bell and how she mended the boiler')
  expect((await last(owner, id))?.sources).toHaveLength(2)
  await talk(owner, 'Forget that', id)
  expect((await last(owner, id))?.content).toContain('Which of these')
  expect((await owner.api.memory.chunks({ query: {} })).chunks).toHaveLength(2)
})

test('what a model was only told is neither forgotten nor named as where its answer came from', async () => {
  const owner = await talking.residentOwner()
  const { chunk } = await owner.api.memory.addChunk({
    body: { source: 'note', content: 'Grandma’s medicine: 2 pills of Marcumar every evening', pinned: true },
  })
  const contents = async () => (await owner.api.memory.chunks({ query: {} })).chunks.map(({ content }) => content)
  const all = await contents()
  const asked = 'please write a poem about grandma and her pills'
  model.write(asked, 'Why did the fish blush? It saw the ocean’s bottom. No pills there.')
  const id = await talk(owner, asked)
  expect((await last(owner, id))?.sources?.map(({ chunkId }) => chunkId)).toContain(chunk.id)
  await talk(owner, 'why do you know this?', id)
  expect((await last(owner, id))?.content).toContain('did not come from memory')
  const again = await talk(owner, asked)
  await talk(owner, 'forget that', again)
  expect((await last(owner, again))?.content).toContain('no memory of mine')
  expect(await contents()).toEqual(all)
})

test('where a memory is clearly in a model’s answer, “forget that” names it and waits for a word', async () => {
  const owner = await talking.residentOwner()
  const content = 'The canoe hangs in the old boathouse'
  await owner.api.memory.addChunk({ body: { source: 'note', content } })
  const isKept = async () => (await owner.api.memory.chunks({ query: {} })).chunks.some((chunk) => chunk.content === content)
  const asked = 'please write me a sentence about the canoe'
  model.write(asked, 'It hangs in the boathouse, the old one.')
  const id = await talk(owner, asked)
  await talk(owner, 'why do you know this?', id)
  expect((await last(owner, id))?.content).toContain(content)
  for (const word of ['no', 'yes']) {
    const other = await talk(owner, asked)
    await talk(owner, 'forget that', other)
    expect(await last(owner, other)).toMatchObject({
      content: expect.stringContaining(`“${content}”. Shall I forget it?`),
      toolCalls: [{ name: 'forget', status: 'asking', about: content }],
    })
    expect(await isKept()).toBe(true)
    await talk(owner, word, other)
    expect(await isKept()).toBe(word === 'no')
  }
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

test('of a long memory.md a model is told whole lines, and that it goes on', async () => {
  const owner = await talking.residentOwner()
  writeFileSync(join(talking.dataPath, 'memory.md'), Array.from({ length: 10_000 }, (_, n) => `- line ${n}`).join('\n'))
  await talk(owner, 'What would you do with an afternoon like this')
  const told = String(model.asked.findLast(({ tools }) => tools.length > 0)?.messages[0]?.content)
  const lines = told.split('\n').filter((line) => line.startsWith('> '))
  expect(lines.length).toBeGreaterThan(500)
  expect(lines.slice(0, -1)).toEqual(lines.slice(0, -1).map((_, n) => `> - line ${n}`))
  expect(lines.at(-1)).toBe('> (It goes on, but no more of it is told.)')
})
