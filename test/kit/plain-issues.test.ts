import { expect, test } from 'vitest'
import { z } from 'zod'
import { AppError, detailsOf, invalid, saidOf } from '../../server/kit/errors.ts'

function faultsOf(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value)
  return error ? detailsOf('body', error).map(({ path, message }) => `${path}: ${message}`) : []
}

test.each([
  [z.object({ persons: z.array(z.string()).min(1) }), { persons: [] }, 'body.persons: must have at least one entry'],
  [z.object({ persons: z.array(z.string()).max(2) }), { persons: ['a', 'b', 'c'] }, 'body.persons: must have at most 2 entries'],
  [z.object({ name: z.string() }), {}, 'body.name: is missing'],
  [z.object({ name: z.string() }), { name: 5 }, 'body.name: must be a text'],
  [z.object({ name: z.string().min(1) }), { name: '' }, 'body.name: must have at least one character'],
  [z.object({ name: z.string().max(3) }), { name: 'abcd' }, 'body.name: must have at most 3 characters'],
  [z.object({ level: z.number().max(100) }), { level: 101 }, 'body.level: must be at most 100'],
  [z.object({ level: z.number().positive() }), { level: 0 }, 'body.level: must be more than 0'],
  [z.object({ level: z.int() }), { level: 1.5 }, 'body.level: must be a whole number'],
  [z.object({ kind: z.enum(['a', 'b']) }), { kind: 'c' }, 'body.kind: must be one of a, b'],
  [z.object({ kind: z.literal('a') }), { kind: 'c' }, 'body.kind: must be a'],
  [z.object({ id: z.uuid() }), { id: 'x' }, 'body.id: is not an id'],
  [z.object({ day: z.iso.date() }), { day: 'x' }, 'body.day: is not a date like 2026-12-24'],
  [z.strictObject({}), { more: 1 }, 'body: has a field that nobody knows: more'],
  [z.object({}), undefined, 'body: is missing'],
  [z.object({ either: z.union([z.string(), z.number()]) }), { either: true }, 'body.either: is not one of the things it may be'],
  [z.object({ zone: z.string().refine(() => false, 'is not an IANA time zone') }), { zone: 'x' }, 'body.zone: is not an IANA time zone'],
])('a fault is told in plain words %#', (schema, value, said) => expect(faultsOf(schema, value)).toEqual([said]))

test('a person hears of a field by its name alone', () => {
  expect(saidOf(invalid([{ path: 'body.action', message: 'is no button of this notification' }]))).toBe(
    'Action is no button of this notification.',
  )
  expect(saidOf(invalid([{ path: 'body.persons.0.birthDate', message: 'is missing' }]))).toBe('Birth date is missing.')
  expect(saidOf(invalid([{ path: 'body', message: 'cannot be read' }]))).toBe('This cannot be read.')
  expect(saidOf(new AppError(404, 'not_found', 'This does not exist.'))).toBe('This does not exist.')
})
