import { expect, test } from 'vitest'
import { fieldsOf, paramsOf } from '../../renderer/features/actions/schema-fields.ts'

const schema = {
  type: 'object',
  required: ['title', 'count'],
  properties: {
    note: { type: 'string', description: 'Said aloud.' },
    title: { type: 'string' },
    count: { type: 'integer', default: 2 },
    share: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    loud: { type: 'boolean', default: true },
    level: { enum: ['info', 'warning'] },
    dueAt: { type: 'string', format: 'date-time' },
    names: { type: 'array', items: { type: 'string' } },
    body: { type: 'string' },
    more: { type: 'object' },
    either: { type: ['string', 'number'] },
  },
}

test('each property becomes the field that fits its type, what is required first', () => {
  const fields = fieldsOf(schema)
  expect(fields.slice(0, 2).map(({ name }) => name)).toEqual(['title', 'count'])
  expect(Object.fromEntries(fields.map(({ name, kind }) => [name, kind]))).toEqual({
    title: 'text',
    count: 'whole',
    note: 'text',
    share: 'number',
    loud: 'yes-no',
    level: 'choice',
    dueAt: 'moment',
    names: 'lines',
    body: 'long',
    more: 'json',
    either: 'json',
  })
  expect(fields.find(({ name }) => name === 'dueAt')?.label).toBe('Due at')
  expect(fields.find(({ name }) => name === 'loud')?.initial).toBe('true')
  expect(fields.find(({ name }) => name === 'count')?.initial).toBe('2')
})

test('a filled-in form becomes parameters; what is empty is left out', () => {
  const fields = fieldsOf(schema)
  const texts = {
    title: 'Tea',
    count: '3',
    share: '',
    loud: '',
    level: 'info',
    names: 'Ada\n\n Ben ',
    more: '{"a":1}',
    dueAt: '2026-01-02T03:04:00Z',
  }
  expect(paramsOf(fields, texts)).toEqual({
    params: { title: 'Tea', count: 3, level: 'info', names: ['Ada', 'Ben'], more: { a: 1 }, dueAt: '2026-01-02T03:04:00.000Z' },
    unread: [],
  })
})

test('what cannot be read is named, and a schema that is none has no fields', () => {
  expect(paramsOf(fieldsOf(schema), { title: 'x', count: '1', more: '{', dueAt: 'soon' }).unread.toSorted()).toEqual(['dueAt', 'more'])
  for (const odd of [null, 7, 'x', [], { properties: 7 }]) expect(fieldsOf(odd)).toEqual([])
})
