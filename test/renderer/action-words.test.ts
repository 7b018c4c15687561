import { expect, test } from 'vitest'
import { actionWords, callDetails } from '../../renderer/messages/action-words.ts'

test.each([
  ['add_todo', 'Add to-do'],
  ['mcp.tools.list-todos', 'List to-dos (tool server “tools”)'],
  ['set_timer', 'Set timer'],
  ['mcp.weather.set_timer', 'Set timer (tool server “weather”)'],
  ['http_request', 'HTTP request'],
  ['setTimer', 'Set timer'],
  ['getURL', 'Get URL'],
  ['_', '_'],
  ['', ''],
])('%j is called %j', (name, words) => {
  expect(actionWords(name)).toBe(words)
})

test('what an action was given is said as a person reads it', () => {
  const details = callDetails({
    title: 'Milk',
    dueAt: '2026-11-22T18:00:00.000Z',
    list: null,
    headers: {},
    tags: ['a', 'b', 'c'],
    all: true,
    mine: false,
    minutes: 3,
    body: { deep: 1 },
    note: '',
    chunkId: '0b0f4d0e-6a3c-4f6e-9d59-2f1f9f1b9d11',
  })
  expect(details.map(([name]) => name)).toEqual(['Title', 'Due at', 'Tags', 'All', 'Mine', 'Minutes', 'Body'])
  const said = new Map(details)
  expect(said.get('Due at')).not.toContain('T18')
  expect(said.get('Due at')).toContain('2026')
  expect(said.get('Tags')).toBe('a, b, and c')
  expect([said.get('All'), said.get('Mine'), said.get('Minutes'), said.get('Body')]).toEqual(['yes', 'no', '3', '{"deep":1}'])
})

test('where nothing else tells what is meant, its id is shown', () => {
  const id = '0b0f4d0e-6a3c-4f6e-9d59-2f1f9f1b9d11'
  expect(callDetails({ id })).toEqual([])
  expect(callDetails({ id }, { ids: true })).toEqual([['Id', id]])
})

test.each([null, undefined, 'text', 3])('%j has no details', (params) => {
  expect(callDetails(params)).toEqual([])
})
