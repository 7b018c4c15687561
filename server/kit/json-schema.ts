import { createRequire } from 'node:module'
import { createContext, Script } from 'node:vm'
import type { ErrorObject } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import type { FormatName } from 'ajv-formats/dist/formats.js'
import type { Detail } from './errors.ts'
import { type LinearPattern, linearPattern, type Steps } from './linear-pattern.ts'

const require = createRequire(import.meta.url)

/** A schema that comes from elsewhere asks for what is not offered here; the message says what, for whoever wrote it. */
export class SchemaError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SchemaError'
  }
}

export type JsonSchema = Record<string, unknown>

const MAX_SCHEMA_CHARS = 32_768
const MAX_SCHEMA_DEPTH = 24
const MAX_SUBSCHEMAS = 200
const MAX_PATTERN_CHARS = 1_000
const MAX_WORDS = 500
const MAX_DETAILS = 20
/** What a schema may ask for, so that compiling it takes few milliseconds; a plain property counts one. */
const MAX_WEIGHT = 450
/** Of a list of names or values; the check of a longer one is a loop and costs no more. */
const MAX_LISTED = 200
/** Of all patterns of a schema, as `LinearPattern` counts it. */
const MAX_PATTERN_SIZE = 8_000
/** What matching the patterns of a schema may cost in one check, which is some milliseconds. */
const CHECK_STEPS = 200_000
/**
 * A check that takes longer is given up: references that multiply, lists whose every two are compared. It goes by the clock, and a busy
 * machine may have stood still meanwhile: hence several tries.
 */
const CHECK_MS = 6
const CHECK_TRIES = 3
/** What can take longer than the value is long; a schema without any of it is checked without looking at the clock. */
const COSTLY = /"(?:\$ref|uniqueItems)":/
const MAX_FREE_SUBSCHEMAS = 50
/** A value of more parts is checked by the clock as well, since each may be a fault that is noted. */
const MAX_FREE_PARTS = 15_000

const setOf = (words: string) => new Set(words.split(/\s+/))
/** Keywords by what they hold; any other is left out, since nothing here would obey it. */
const ONE = setOf(`not if then else items additionalProperties unevaluatedItems unevaluatedProperties contains propertyNames`)
const LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const MAP = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
const NUMBER = setOf(`minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties
  maxProperties minContains maxContains`)
const PLAIN = new Set(['type', 'enum', 'const', 'required', 'dependentRequired', 'uniqueItems', 'default', 'examples'])
const WORDS = new Set(['title', 'description'])
const FORMATS: FormatName[] = ['date', 'time', 'date-time', 'duration', 'uri', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Runs `work` and ends it when its time is over, wherever in it that goes. Throws Node's ERR_SCRIPT_EXECUTION_TIMEOUT. */
function guarded<T>(work: () => T, tries = CHECK_TRIES): T {
  sandbox.work = work
  try {
    return call.runInContext(sandbox, { timeout: CHECK_MS }) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT' || tries === 1) throw error
    return guarded(work, tries - 1)
  } finally {
    sandbox.work = undefined
  }
}
const sandbox = createContext({ work: undefined as (() => unknown) | undefined })
const call = new Script('work()')

function readPattern(pattern: unknown): LinearPattern {
  if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN_CHARS) throw new SchemaError('A pattern is too long.')
  try {
    new RegExp(pattern, 'u')
  } catch {
    throw new SchemaError('A pattern is no regular expression.')
  }
  const linear = linearPattern(pattern)
  if (!linear) throw new SchemaError('A pattern repeats too much, or refers back to what it matched.')
  return linear
}

/** What the check under way may still cost. */
const budget: Steps = { left: 0 }

/** Ajv's engine for patterns. */
const engine = Object.assign(
  (pattern: string) => {
    const linear = readPattern(pattern)
    return { test: (text: string) => linear.test(text, budget), toString: () => pattern }
  },
  { code: 'linearPattern' },
)

function checkReference(ref: unknown): string {
  if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref)) throw new SchemaError('A reference leads out of the schema.')
  return ref
}

/** Of the JSON text; infinite where it nests deeper than the stack. */
function lengthOf(schema: JsonSchema): number {
  try {
    return JSON.stringify(schema).length
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const isNames = (value: unknown) => Array.isArray(value) && value.every((name) => typeof name === 'string')

function checkPlain(key: string, value: unknown): void {
  const isRight =
    key === 'enum'
      ? Array.isArray(value) && value.length > 0
      : key === 'required'
        ? isNames(value)
        : key === 'dependentRequired'
          ? isObject(value) && Object.values(value).every(isNames)
          : true
  if (!isRight) throw new SchemaError(`${key} cannot be read.`)
}

const listed = (value: unknown) => (Array.isArray(value) ? Math.min(value.length, MAX_LISTED) : 0)

/** About how long it takes to compile a keyword, without what is inside of it. */
function weightOf(key: string, value: unknown): number {
  if (key === '$ref') return 4
  if (key === 'pattern') return 3
  if (key === 'required' || key === 'enum' || key === 'type') return 1 + listed(value) / 3
  if (key === 'dependentRequired')
    return Object.values(value as Record<string, unknown[]>).reduce((sum, names) => sum + 1 + names.length, 1)
  if (key === '$defs' || key === 'definitions') return 2 * Object.keys(value as object).length // each becomes a function
  if (key === 'patternProperties') return 3 * Object.keys(value as object).length
  return MAP.has(key) || key === 'default' || key === 'examples' ? 0 : 1
}

interface Cleaned {
  clean: JsonSchema
  weight: number
}

/**
 * A copy of a schema that came from elsewhere, of the keywords that are obeyed here, texts cut; older drafts become 2020-12. Throws
 * {@link SchemaError} for what is too large, nested too deep, or refers to another document.
 */
export const cleanSchema = (schema: unknown): JsonSchema => cleaned(schema).clean

function cleaned(schema: unknown): Cleaned {
  if (!isObject(schema)) throw new SchemaError('A schema has to be an object.')
  if (lengthOf(schema) > MAX_SCHEMA_CHARS) throw new SchemaError('The schema is too large.')
  let patternSize = 0
  let weight = 0
  let count = 0

  function copyPattern(value: unknown): string {
    patternSize += readPattern(value).size
    if (patternSize > MAX_PATTERN_SIZE) throw new SchemaError('The patterns are too large.')
    return value as string
  }

  function copyMap(value: unknown, depth: number, key: string): JsonSchema {
    if (!isObject(value)) throw new SchemaError(`${key} has to be an object.`)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [key === 'patternProperties' ? copyPattern(name) : name, copy(inner, depth + 1)]),
    )
  }

  const copyList = (value: unknown, depth: number, key: string) => {
    if (!Array.isArray(value) || value.length === 0) throw new SchemaError(`${key} has to be a list.`)
    return value.map((inner) => copy(inner, depth + 1))
  }

  function copyKeyword(key: string, value: unknown, depth: number): [string, unknown] | null {
    if (key === '$ref') return [key, checkReference(value)]
    if (key === 'pattern') return [key, copyPattern(value)]
    if (key === 'items' && Array.isArray(value)) return value.length > 0 ? ['prefixItems', copyList(value, depth, key)] : null
    if (ONE.has(key)) return [key, copy(value, depth + 1)]
    if (LIST.has(key)) return [key, copyList(value, depth, key)]
    if (MAP.has(key)) return [key, copyMap(value, depth, key)]
    if (WORDS.has(key)) return typeof value === 'string' ? [key, value.slice(0, MAX_WORDS)] : null
    if (NUMBER.has(key)) return typeof value === 'number' ? [key, value] : null
    if (key === 'format') return (FORMATS as unknown[]).includes(value) ? [key, value] : null
    if (!PLAIN.has(key)) return null
    checkPlain(key, value)
    return [key, value]
  }

  function copy(value: unknown, depth: number): JsonSchema | boolean {
    if (typeof value === 'boolean') return value
    if (!isObject(value)) throw new SchemaError('A schema has to be an object.')
    count += 1
    if (count > MAX_SUBSCHEMAS) throw new SchemaError('The schema is too large.')
    if (depth > MAX_SCHEMA_DEPTH) throw new SchemaError('The schema is nested too deep.')
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) => {
        const kept = copyKeyword(key, inner, depth)
        if (kept && !WORDS.has(key)) weight += weightOf(...kept)
        return kept ? [kept] : []
      }),
    )
  }

  const clean = copy(schema, 0) as JsonSchema
  return { clean, weight }
}

function detailOf({ instancePath, keyword, params, message }: ErrorObject): Detail {
  const named = keyword === 'required' ? params.missingProperty : keyword === 'additionalProperties' ? params.additionalProperty : undefined
  const parts = instancePath.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const path = ['body', ...parts.slice(1), ...(named === undefined ? [] : [String(named)])].join('.').slice(0, 200)
  if (keyword === 'required') return { path, message: 'is missing' }
  if (keyword === 'additionalProperties') return { path, message: 'is not known here' }
  return { path, message: (message ?? 'is not valid').slice(0, 300) }
}

/**
 * One for each schema, since it keeps what it compiled for as long as it lives. It fetches nothing. The library is loaded with the first
 * one, which takes 50 ms and 14 MB.
 */
function validator(): Ajv2020 {
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const { fastFormats } = require('ajv-formats/dist/formats.js') as typeof import('ajv-formats/dist/formats.js')
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    ownProperties: true,
    inlineRefs: false,
    code: { optimize: false, regExp: engine },
    meta: false,
    validateSchema: false,
    logger: false,
  })
  for (const name of FORMATS) ajv.addFormat(name, fastFormats[name])
  return ajv
}

/** Whether a value has more parts than `most`; looked at no further than that. */
function hasMoreParts(value: unknown, most: number): boolean {
  const open = [value]
  for (let parts = 0; open.length > 0; parts += 1) {
    if (parts + open.length > most) return true
    const part = open.pop()
    if (typeof part !== 'object' || part === null) continue
    if (Array.isArray(part) && part.length > most) return true
    for (const key in part) {
      if (open.push((part as JsonSchema)[key]) > most) return true
    }
  }
  return false
}

/** What a value has that the schema does not allow, one detail per fault; none where all is well. */
export type SchemaCheck = (value: unknown) => Detail[]

/**
 * Makes a check of values against a schema that came from elsewhere. Throws {@link SchemaError}. A value that takes more
 * than some milliseconds to check is a fault of its own.
 */
export function compileSchema(schema: unknown): SchemaCheck {
  const { clean, weight } = cleaned(schema)
  if (weight > MAX_WEIGHT) throw new SchemaError('The schema asks for too much.')
  const text = JSON.stringify(clean)
  const isCostly = COSTLY.test(text) || text.split('{').length > MAX_FREE_SUBSCHEMAS
  const validate = compiled(clean)
  return (value) => {
    const run = () => {
      budget.left = CHECK_STEPS
      return validate(value)
    }
    try {
      if (isCostly || hasMoreParts(value, MAX_FREE_PARTS) ? guarded(run) : run()) return []
    } catch {
      return [{ path: 'body', message: 'is too much to be checked' }]
    }
    return (validate.errors ?? []).slice(0, MAX_DETAILS).map(detailOf)
  }
}

function compiled(clean: JsonSchema): ReturnType<Ajv2020['compile']> {
  try {
    return validator().compile(clean)
  } catch (error) {
    throw new SchemaError(`The schema cannot be used: ${error instanceof Error ? error.message.slice(0, 200) : 'it is not valid'}.`)
  }
}
