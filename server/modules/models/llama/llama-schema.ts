import type { GbnfJsonObjectSchema } from 'node-llama-cpp'

type Schema = Record<string, unknown>
const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)
const ANYTHING: Schema = { type: ['string', 'number', 'boolean', 'null'] }
const NOTHING: Schema = { type: 'null' }

/** Formats that the library's grammars write. */
const WRITTEN_FORMATS = ['date-time', 'date', 'time']

/** The library refuses what its own grammar let through where lengths, patterns and other formats join in; whoever takes the value checks these. */
function writable({ minLength: _, maxLength: __, pattern: ___, minItems: ____, maxItems: _____, format, ...schema }: Schema): Schema {
  return WRITTEN_FORMATS.includes(String(format)) ? { ...schema, format } : schema
}

function translated(given: unknown, optionalAsNull: boolean): Schema {
  if (!isSchema(given)) return ANYTHING
  const schema = writable(given)
  const inner = (value: unknown) => translated(value, optionalAsNull)
  const choices = schema.oneOf ?? schema.anyOf
  if (Array.isArray(choices)) return { oneOf: choices.map(inner) }
  if (Array.isArray(schema.allOf)) return inner(Object.assign({}, ...schema.allOf.filter(isSchema)))
  if (isSchema(schema.properties)) {
    const required = Array.isArray(schema.required) ? schema.required : []
    const properties = Object.entries(schema.properties).map(([name, value]) => {
      const known = inner(value)
      return [name, optionalAsNull && !required.includes(name) ? { oneOf: [known, NOTHING] } : known]
    })
    return { ...schema, type: 'object', properties: Object.fromEntries(properties) }
  }
  if (schema.items !== undefined) return { ...schema, type: 'array', items: inner(schema.items) }
  const known = ['type', 'enum', 'const', '$ref'].some((key) => key in schema)
  return known ? schema : { ...schema, ...ANYTHING }
}

/**
 * A JSON Schema in the dialect of llama.cpp's grammars, which takes what it does not know for null and writes every property.
 * With `optionalAsNull` an optional property may be written as null; `withoutNulls` takes these out again.
 */
export function grammarSchema(schema: object, optionalAsNull = false): GbnfJsonObjectSchema {
  // the library checks the shape itself
  return translated(schema, optionalAsNull) as unknown as GbnfJsonObjectSchema
}

/** Removes the optional properties of `params` that a model wrote as null or left empty. */
export function withoutNulls(schema: object, params: unknown): unknown {
  if (!isSchema(schema) || !isSchema(schema.properties) || !isSchema(params)) return params
  const { properties } = schema
  const required = Array.isArray(schema.required) ? schema.required : []
  const kept = Object.entries(params).filter(([name, value]) => (value !== null && value !== '') || required.includes(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutNulls(isSchema(properties[name]) ? properties[name] : {}, value)]))
}
