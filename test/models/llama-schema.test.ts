import { describe, expect, test } from 'vitest'
import { grammarSchema, withoutNulls } from '../../server/modules/models/llama/llama-schema.ts'

describe('schemas for grammars', () => {
  test('keep what llama.cpp knows', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' }, b: { enum: ['x', 'y'] } }, required: ['a', 'b'] }
    expect(grammarSchema(schema)).toEqual(schema)
  })

  test('say alternatives its way, and anything where nothing is said', () => {
    const schema = {
      properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] }, b: {}, c: { allOf: [{ type: 'string' }, { minLength: 2 }] } },
    }
    expect(grammarSchema(schema)).toEqual({
      type: 'object',
      properties: {
        a: { oneOf: [{ type: 'string' }, { type: 'null' }] },
        b: { type: ['string', 'number', 'boolean', 'null'] },
        c: { type: 'string' },
      },
    })
  })

  test('leave out what grammar and library do not agree on', () => {
    const text = { type: 'string', minLength: 1, maxLength: 9, pattern: '^a', format: 'uuid' }
    expect(grammarSchema(text)).toEqual({ type: 'string' })
    expect(grammarSchema({ type: 'string', format: 'date-time' })).toEqual({ type: 'string', format: 'date-time' })
    expect(grammarSchema({ type: 'array', items: text, minItems: 1 })).toEqual({ type: 'array', items: { type: 'string' } })
  })

  test('may leave optional properties out as null, at every depth', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'object', properties: { c: { type: 'number' } } } },
      required: ['a', 'b'],
    }
    expect(grammarSchema(schema, true)).toMatchObject({
      properties: { b: { properties: { c: { oneOf: [{ type: 'number' }, { type: 'null' }] } } } },
    })
    expect(withoutNulls(schema, { a: null, b: { c: null } })).toEqual({ a: null, b: {} })
    expect(withoutNulls(schema, { a: '', b: { c: '' } })).toEqual({ a: '', b: {} })
    expect(withoutNulls(schema, 'text')).toBe('text')
  })
})
