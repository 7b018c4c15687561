import { expect, test, vi } from 'vitest'
import { cleanSchema, compileSchema, SchemaError } from '../../server/kit/json-schema.ts'
import { createSchemaCache } from '../../server/kit/schema-cache.ts'

const refused = (schema: unknown) => expect(() => compileSchema(schema)).toThrow(SchemaError)

test('each fault is told with its path, and a right value has none', () => {
  const check = compileSchema({
    type: 'object',
    properties: { level: { type: 'integer', maximum: 10 }, mail: { type: 'string', format: 'email' }, list: { items: { type: 'string' } } },
    required: ['level', 'room'],
    additionalProperties: false,
  })
  expect(check({ level: 3, room: 1 })).toEqual([{ path: 'body.room', message: 'is not known here' }])
  expect(check({ level: 11, mail: 'x', list: ['a', 2], odd: 1 }).toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: 'body.level', message: 'must be <= 10' },
    { path: 'body.list.1', message: 'must be string' },
    { path: 'body.mail', message: 'must match format "email"' },
    { path: 'body.odd', message: 'is not known here' },
    { path: 'body.room', message: 'is missing' },
  ])
  expect(compileSchema({})('anything')).toEqual([])
})

test('older drafts are read as they were meant, and an unknown keyword means nothing', () => {
  const check = compileSchema({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'https://schemas.example/one',
    definitions: { small: { type: 'integer', exclusiveMaximum: 5 } },
    properties: { pair: { items: [{ type: 'string' }, { $ref: '#/definitions/small' }] }, odd: { 'x-colour': 'red', format: 'no-such' } },
  })
  expect(check({ pair: ['a', 4], odd: 'x' })).toEqual([])
  expect(check({ pair: ['a', 7] })).toMatchObject([{ path: 'body.pair.1' }])
})

test('two schemas of one id do not get in each other’s way', () => {
  const a = compileSchema({ $id: 'https://schemas.example/same', type: 'string' })
  const b = compileSchema({ $id: 'https://schemas.example/same', type: 'number' })
  expect([a('x'), b(1)]).toEqual([[], []])
  expect(a(1)).toHaveLength(1)
})

test('a schema that leads elsewhere, is too large, too deep or no schema is refused', () => {
  refused({ $ref: 'http://127.0.0.1/schema.json' })
  refused({ properties: { a: { $ref: 'other.json#/x' } } })
  refused({ $ref: '#/$defs/missing' })
  refused({ anyOf: Array.from({ length: 10_000 }, () => ({ type: 'string' })) })
  refused({ description: 'x'.repeat(100_000) })
  let deep: object = {}
  for (let level = 0; level < 100; level += 1) deep = { not: deep }
  refused(deep)
  let abyss: object = {}
  for (let level = 0; level < 200_000; level += 1) abyss = { not: abyss }
  refused(abyss)
  refused({ properties: { a: { pattern: '(' } } })
  refused({ pattern: 'a'.repeat(1_001) })
  for (const schema of [
    null,
    'x',
    [],
    { type: 'strange' },
    { type: 5 },
    { required: 'x' },
    { enum: [] },
    { allOf: {} },
    { properties: [] },
  ])
    refused(schema)
})

const LONG = 100_000
test.each([
  ['^(a+)+$', 'a'],
  ['^(a|a)*$', 'a'],
  ['(a|aa)+$', 'a'],
  ['^([a-z]+)*$', 'a'],
  ['(.*)*x', 'a'],
  ['.*.*.*x', 'a'],
  ['^(\\w+\\s?)*$', 'a'],
  ['^(\\d+)*q', '1'],
  ['^(é+)+$', 'é'],
  ['^((a{1,9}){1,9}){1,9}$', 'a'],
  ['^(?=(a+)+b)', 'a'],
])('a pattern that could go many ways holds up nothing: %s', (pattern, sign) => {
  const text = `${sign.repeat(LONG)}!`
  const byValue = compileSchema({ properties: { a: { type: 'string', pattern } }, additionalProperties: false })
  const byName = compileSchema({ patternProperties: { [pattern]: { type: 'string' } }, additionalProperties: false })
  expect(byValue({ a: text })).toHaveLength(1)
  expect(byName({ [text]: 'x' })).toHaveLength(1)
  expect(byValue({ a: Array.from({ length: 9 }, () => sign).join('') }).length).toBeLessThan(2)
})

test('what all patterns of a value cost is limited, and many short values are no trouble', () => {
  const check = compileSchema({ items: { pattern: '^(?:a|b)*a(?:a|b){12}$' } })
  const text = (at: number) => (at ** 3 % 2 ** 30).toString(2).padStart(30, '0').replaceAll('0', 'a').replaceAll('1', 'b')
  expect(check(Array.from({ length: 20_000 }, (_, at) => text(at)))).toEqual([{ path: 'body', message: 'is too much to be checked' }])
  const names = Array.from({ length: 10_000 }, (_, at) => `name-${at}`)
  expect(compileSchema({ items: { pattern: '^[a-z]+-\\d+$' } })(names)).toEqual([])
  expect(compileSchema({ items: { pattern: '^[a-z]+$' } })(names)).toHaveLength(20)
})

test('patterns that are too large together, or that refer back, are refused', () => {
  const words = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { pattern: `^.{1,900}${at}$` }]))
  expect(compileSchema({ properties: words(4) })({ p1: 'x1' })).toEqual([])
  refused({ properties: words(9) })
  refused({ pattern: '^(a|b)\\1$' })
})

test.each(['^[a-z0-9]+(-[a-z0-9]+)*$', '^(\\d+,)*\\d+$', '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', '^(?:[A-Za-z0-9+/]{4})*(?:==)?$'])(
  'a pattern as people write it is taken: %s',
  (pattern) => expect(compileSchema({ pattern })('no match!')).toHaveLength(1),
)

test('a schema that asks for more than can be compiled in a few milliseconds is refused, and an ordinary large one is not', () => {
  const many = <T>(count: number, make: (at: number) => T) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, make(at)]))
  refused({ dependentRequired: many(1_500, () => ['a', 'b']) })
  refused({ properties: many(190, () => ({ type: 'string', minLength: 1, maxLength: 9, format: 'date-time', enum: ['a', 'b'] })) })
  refused({ $defs: many(90, (at) => ({ properties: { x: { $ref: `#/$defs/p${(at + 1) % 90}` } } })), $ref: '#/$defs/p0' })
  const words = 'x'.repeat(100)
  const check = compileSchema({ properties: many(150, () => ({ type: 'string', description: words, maxLength: 100 })), required: ['p0'] })
  expect(check({ p0: 1 })).toEqual([{ path: 'body.p0', message: 'must be string' }])
})

test('a schema that comes again is not compiled again, nor one that was refused, until nobody asks for it', () => {
  const compile = vi.fn(compileSchema)
  const cache = createSchemaCache(compile)
  const good = () => ({ type: 'string' })
  const bad = () => ({ pattern: '(' })
  for (let reads = 0; reads < 3; reads += 1) {
    expect(cache.compile(good())('x')).toEqual([])
    expect(() => cache.compile(bad())).toThrow(SchemaError)
    cache.sweep()
  }
  expect(compile).toHaveBeenCalledTimes(2)
  cache.sweep()
  cache.compile(good())
  expect(compile).toHaveBeenCalledTimes(3)
})

test('what would take for ever is given up and is a fault', () => {
  const tooMuch = [{ path: 'body', message: 'is too much to be checked' }]
  const odd = Array.from({ length: 20_000 }, (_, at) => ({ a: { b: at } }))
  expect(compileSchema({ properties: { a: { uniqueItems: true } } })({ a: odd })).toEqual(tooMuch)
  const double = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] })
  const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}`, at === 39 ? { type: 'string' } : double(`d${at + 1}`)]))
  expect(compileSchema({ $defs, $ref: '#/$defs/d0' })(1)).toEqual(tooMuch)
  let nested: object = {}
  for (let level = 0; level < 200_000; level += 1) nested = { a: nested }
  expect(compileSchema({ properties: { a: { $ref: '#' } } })(nested)).toEqual(tooMuch)
  expect(compileSchema({ $ref: '#' })({})).toEqual(tooMuch)
})

test('of very many faults not each is noted', () => {
  const check = compileSchema({ items: { type: 'string' } })
  expect(check(Array.from({ length: 1_000 }, (_, at) => at))).toHaveLength(20)
  expect(check(Array.from({ length: 2_000_000 }, (_, at) => at))).toEqual([{ path: 'body', message: 'is too much to be checked' }])
})

test('names that JavaScript knows are ordinary names', () => {
  const check = compileSchema({
    properties: { constructor: { type: 'string' }, toString: { type: 'string' } },
    required: ['hasOwnProperty'],
  })
  expect(check({}).map(({ path }) => path)).toEqual(['body.hasOwnProperty'])
  expect(check(JSON.parse('{"hasOwnProperty":1,"__proto__":{"x":1},"constructor":2}')).map(({ path }) => path)).toEqual([
    'body.constructor',
  ])
})

test('a cleaned schema holds what is obeyed, its texts cut', () => {
  expect(cleanSchema({ type: 'object', $comment: 'x', properties: { a: { description: 'y'.repeat(900), 'x-evil': 1 } } })).toEqual({
    type: 'object',
    properties: { a: { description: 'y'.repeat(500) } },
  })
})
