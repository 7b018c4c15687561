import { sha256 } from './crypto.ts'
import { compileSchema, type JsonSchema, type SchemaCheck, SchemaError } from './json-schema.ts'

export type SchemaCache = ReturnType<typeof createSchemaCache>

/** Keeps the checks of schemas that come again and again, also which of them are refused, so that only what is new is compiled. */
export function createSchemaCache(compile: typeof compileSchema = compileSchema) {
  let kept = new Map<string, SchemaCheck | SchemaError>()
  let used = new Map<string, SchemaCheck | SchemaError>()

  function compiled(schema: JsonSchema): SchemaCheck | SchemaError {
    try {
      return compile(schema)
    } catch (error) {
      if (error instanceof SchemaError) return error
      throw error
    }
  }

  return {
    /** As `compileSchema`. */
    compile(schema: JsonSchema): SchemaCheck {
      const digest = sha256(JSON.stringify(schema))
      const outcome = used.get(digest) ?? kept.get(digest) ?? compiled(schema)
      used.set(digest, outcome)
      if (outcome instanceof SchemaError) throw outcome
      return outcome
    },
    /** Forgets what nobody asked for since the last sweep. */
    sweep(): void {
      kept = used
      used = new Map()
    },
  }
}
