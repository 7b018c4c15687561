import { z } from 'zod'
import { nameWords } from '../../messages/action-words.ts'

const Property = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  format: z.string().optional(),
  default: z.unknown().optional(),
  items: z.looseObject({ type: z.unknown().optional() }).optional(),
  anyOf: z.array(z.looseObject({ type: z.unknown().optional() })).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
})
const ObjectSchema = z.looseObject({
  properties: z.record(z.string(), Property).default({}),
  required: z.array(z.string()).default([]),
})

export type FieldKind =
  | 'text'
  | 'long'
  | 'number'
  | 'whole'
  | 'minutes'
  | 'seconds'
  | 'yes-no'
  | 'choice'
  | 'moment'
  | 'lines'
  | 'json'
  | 'text-or-json'

/** One field of a form that was drawn from a JSON Schema. Values are kept as text, `yes-no` as 'true' or ''. */
export interface SchemaField {
  name: string
  label: string
  hint: string | undefined
  kind: FieldKind
  required: boolean
  options: string[]
  initial: string
  /** Types of values that a `text-or-json` takes beside text. */
  types: string[]
}

/** Milliseconds are asked for in minutes, or in seconds where they can only be few. */
const MS: Partial<Record<FieldKind, number>> = { minutes: 60_000, seconds: 1_000 }
const FEW_MS = 600_000
const IN_MS = /^(?<what>.*)_?ms$/i

const typesOf = ({ type, anyOf }: z.output<typeof Property>): string[] =>
  [type ?? anyOf?.map((one) => one.type) ?? []].flat().filter((one): one is string => typeof one === 'string' && one !== 'null')

const LONG_TEXT = /^(body|content|message|notes|text)$/i

function kindOf(name: string, property: z.output<typeof Property>): FieldKind {
  if (property.enum) return 'choice'
  const types = typesOf(property)
  const [type] = types
  if (types.length > 1) return types.includes('string') ? 'text-or-json' : 'json'
  if (type === 'boolean') return 'yes-no'
  if ((type === 'integer' || type === 'number') && /(?:[a-z]Ms|_ms)$/.test(name))
    return property.maximum !== undefined && property.maximum <= FEW_MS ? 'seconds' : 'minutes'
  if (type === 'integer') return 'whole'
  if (type === 'number') return 'number'
  if (type === 'array') return property.items?.type === 'string' ? 'lines' : 'json'
  if (type !== 'string') return 'json'
  if (property.format === 'date-time') return 'moment'
  return LONG_TEXT.test(name) ? 'long' : 'text'
}

function initialOf(kind: FieldKind, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (kind === 'yes-no') return value === true ? 'true' : ''
  if (kind === 'lines' && Array.isArray(value)) return value.join('\n')
  const each = MS[kind]
  if (each !== undefined && typeof value === 'number') return String(value / each)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The fields that a JSON Schema of an object asks for, what is required first. */
export function fieldsOf(schema: unknown): SchemaField[] {
  const parsed = ObjectSchema.safeParse(schema)
  if (!parsed.success) return []
  const { properties, required } = parsed.data
  const fields = Object.entries(properties).map(([name, property]) => {
    const kind = kindOf(name, property)
    return {
      name,
      label: property.title ?? nameWords(MS[kind] === undefined ? name : (IN_MS.exec(name)?.groups?.what ?? name)),
      hint: property.description,
      kind,
      required: required.includes(name),
      options: property.enum?.filter((value) => value !== null).map(String) ?? [],
      initial: initialOf(kind, property.default),
      types: typesOf(property).filter((type) => type !== 'string'),
    }
  })
  return fields.toSorted((a, b) => Number(b.required) - Number(a.required))
}

/** The value that a text is as JSON, where it is of one of these types; undefined where it is plain text. */
function jsonOf(types: readonly string[], text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    const type = Array.isArray(value) ? 'array' : typeof value
    return types.includes(type) || (type === 'number' && types.includes('integer')) ? value : undefined
  } catch {
    return undefined
  }
}

/** What a field's text stands for; undefined where it is left out. Throws SyntaxError for JSON that cannot be read. */
function readText({ kind, required, types }: SchemaField, text: string): unknown {
  if (kind === 'yes-no') return text === 'true' ? true : required ? false : undefined
  if (text.trim() === '') return required && (kind === 'text' || kind === 'long') ? '' : undefined
  if (kind === 'number' || kind === 'whole') return Number(text)
  const each = MS[kind]
  if (each !== undefined) return Math.round(Number(text) * each)
  if (kind === 'text-or-json') return jsonOf(types, text) ?? text
  if (kind === 'moment') return new Date(text).toISOString()
  if (kind === 'lines')
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
  return kind === 'json' ? JSON.parse(text) : text
}

/** The parameters that a filled-in form stands for, and the names of fields whose text cannot be read. */
export function paramsOf(
  fields: readonly SchemaField[],
  texts: Record<string, string>,
): { params: Record<string, unknown>; unread: string[] } {
  const params: Record<string, unknown> = {}
  const unread: string[] = []
  for (const field of fields) {
    try {
      const value = readText(field, texts[field.name] ?? '')
      if (value !== undefined) params[field.name] = value
    } catch {
      unread.push(field.name)
    }
  }
  return { params, unread }
}
