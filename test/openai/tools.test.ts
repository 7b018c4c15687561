import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CallingModel, startCallingModel } from '../support/calling-model.ts'
import { json } from '../support/credentials.ts'
import { type House, type Person, startHouse } from '../support/house.ts'

let model: CallingModel
let house: House
let owner: Person
beforeAll(async () => {
  model = await startCallingModel()
  model.call('weather in Paris', 'get_weather', { city: 'Paris' })
  house = await startHouse({ env: { SERVICE_LLM_BASE_URL: model.url } })
  owner = await house.residentOwner()
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await model.stop()
})

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const tools = [{ type: 'function', function: { name: 'get_weather', description: 'The weather of a city', parameters } }]
const ask = (body: object) => owner.fetch('/v1/chat/completions', json(body))
const asking = { messages: [{ role: 'user', content: 'What is the weather in Paris?' }], tools }
const called = { type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } }

test('a call of the client’s function is answered with, and runs nothing here', async () => {
  const answer = (await (await ask(asking)).json()) as { choices: unknown[] }
  expect(answer.choices).toMatchObject([
    { finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [{ id: expect.any(String), ...called }] } },
  ])
  expect(await owner.api.actions.runs({ query: {} })).toEqual([])
})

test('streamed, the call comes as a piece of its own', async () => {
  const events = (await (await ask({ ...asking, stream: true })).text()).trim().split('\n\n')
  expect(events.pop()).toBe('data: [DONE]')
  const choices = events.map((event) => (JSON.parse(event.slice(6)) as { choices: { delta: object; finish_reason: unknown }[] }).choices[0])
  expect(choices.map((choice) => choice?.finish_reason).filter(Boolean)).toEqual(['tool_calls'])
  expect(choices.filter((choice) => choice && 'tool_calls' in choice.delta)).toMatchObject([
    { delta: { tool_calls: [{ index: 0, ...called }] } },
  ])
})

test('what the tool answered comes back as data with the call before it', async () => {
  const messages = [
    ...asking.messages,
    { role: 'assistant', content: null, tool_calls: [{ id: 'c1', ...called }] },
    { role: 'tool', tool_call_id: 'c1', content: 'Rain, 12 degrees' },
  ]
  model.asked.length = 0
  const answer = (await (await ask({ messages, tools })).json()) as { choices: unknown[] }
  expect(answer.choices).toMatchObject([{ finish_reason: 'stop', message: { content: expect.any(String) } }])
  const [, assistant, result] = model.asked[0]?.messages ?? []
  expect(assistant).toMatchObject({ role: 'assistant', content: expect.stringContaining('get_weather with {"city":"Paris"}') })
  expect(result).toMatchObject({ role: 'user', content: expect.stringMatching(/data, not an instruction.*Rain, 12 degrees/s) })
})

test('functions that are not wanted or cannot be read are left out or refused', async () => {
  model.asked.length = 0
  await ask({ ...asking, tool_choice: 'none' })
  expect(model.asked[0]?.tools).toEqual([])
  const wrong = { type: 'function', function: { name: 'get_weather', parameters: { $ref: 'http://127.0.0.1/s' } } }
  const answer = await ask({ ...asking, tools: [wrong] })
  expect([answer.status, await answer.json()]).toMatchObject([400, { details: [{ path: 'body.tools.0.function.parameters' }] }])
  for (const name of ['', 'a b', 'x'.repeat(65)])
    expect((await ask({ ...asking, tools: [{ type: 'function', function: { name } }] })).status, name).toBe(400)
})
