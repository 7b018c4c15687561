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
    either: 'text-or-json',
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

test('milliseconds are asked for in minutes or seconds', () => {
  const spans = {
    properties: {
      durationMs: { type: 'integer', minimum: 1000, maximum: 31_536_000_000 },
      timeoutMs: { type: 'integer', maximum: 30_000, default: 10_000 },
      terms: { type: 'integer' },
    },
  }
  const fields = fieldsOf(spans)
  expect(fields.map(({ label, kind, initial }) => [label, kind, initial])).toEqual([
    ['Duration', 'minutes', ''],
    ['Timeout', 'seconds', '10'],
    ['Terms', 'whole', ''],
  ])
  expect(paramsOf(fields, { durationMs: '1.5', timeoutMs: '2', terms: '' }).params).toEqual({ durationMs: 90_000, timeoutMs: 2_000 })
})

test('text that may be JSON too is taken as it is, unless it is that', () => {
  const fields = fieldsOf({ properties: { body: { anyOf: [{ type: 'string' }, { type: 'object' }, { type: 'array' }] } } })
  const read = (body: string) => paramsOf(fields, { body })
  expect(read('plain text')).toEqual({ params: { body: 'plain text' }, unread: [] })
  expect(read('7')).toEqual({ params: { body: '7' }, unread: [] })
  expect(read('{"a": 1}')).toEqual({ params: { body: { a: 1 } }, unread: [] })
  expect(read('[1]')).toEqual({ params: { body: [1] }, unread: [] })
  expect(paramsOf(fieldsOf(schema), { title: 'x', count: '1', either: '7' }).params).toMatchObject({ either: 7 })
})

test('what cannot be read is named, and a schema that is none has no fields', () => {
  expect(paramsOf(fieldsOf(schema), { title: 'x', count: '1', more: '{', dueAt: 'soon' }).unread.toSorted()).toEqual(['dueAt', 'more'])
  for (const odd of [null, 7, 'x', [], { properties: 7 }]) expect(fieldsOf(odd)).toEqual([])
})
