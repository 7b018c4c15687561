import type { Schema } from './openapi-document.ts'

/** A JSON Schema in the short notation of TypeScript, descriptions as comments. */
export function schemaText(schema: Schema, depth = 0): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? 'unknown'
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const some = schema.anyOf ?? schema.oneOf
  if (some) return some.map((part) => schemaText(part, depth)).join(' | ')
  if (schema.allOf) return schema.allOf.map((part) => schemaText(part, depth)).join(' & ')
  if (schema.properties) return objectText(schema, schema.properties, depth)
  if (schema.items) return `Array<${schemaText(schema.items, depth)}>`
  if (typeof schema.additionalProperties === 'object') return `Record<string, ${schemaText(schema.additionalProperties, depth)}>`
  const types = [schema.type ?? 'unknown'].flat().join(' | ')
  return schema.format ? `${types} (${schema.format})` : types
}

function objectText({ required = [] }: Schema, properties: Record<string, Schema>, depth: number): string {
  const indent = '  '.repeat(depth + 1)
  const lines = Object.entries(properties).map(([name, property]) => {
    const mark = required.includes(name) ? '' : '?'
    const note = property.description ? `  // ${property.description}` : ''
    return `${indent}${name}${mark}: ${schemaText(property, depth + 1)}${note}`
  })
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`
}
