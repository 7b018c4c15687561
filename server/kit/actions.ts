import { z } from 'zod'
import { type Caller, mayCall } from './caller.ts'
import { AppError, detailsOf, forbidden, invalid, notFound } from './errors.ts'
import { cleanSchema, compileSchema, type JsonSchema, type SchemaCheck } from './json-schema.ts'

export const ActionResult = z.object({
  output: z.string().describe('What happened, in a sentence.'),
  data: z.unknown().optional(),
  artifacts: z.array(z.unknown()).optional(),
})
export type ActionResult = z.output<typeof ActionResult>

/** Through what an action is asked for. */
export type ActionOrigin = 'api' | 'chat' | 'model' | 'mcp' | 'job' | 'webhook' | 'plugin' | 'skill'

export interface ActionCall {
  caller: Caller
  origin: ActionOrigin
  signal: AbortSignal
  /** The conversation in which it was asked for. */
  conversationId?: string
  /** The person's message that asked for it. */
  messageId?: string
}

/** Something that a person, the model, a webhook, a schedule or a plugin may have done. */
export interface Action {
  name: string
  description: string
  /** JSON Schema of the one object it takes. */
  parameters: Record<string, unknown>
  /** `high` is asked about before a model may run it, and is for admins. */
  risk: 'low' | 'high'
  /** A model asks before it does this, though people may have it done: it cannot be undone. */
  modelAsks?: true
  /** The least a caller's scope must be. */
  access: 'guest' | 'member' | 'admin'
  /** Checks parameters against the schema and fills in defaults. Throws 400 with the path of each fault. */
  parse(params: unknown): unknown
  /** What an id in the parameters means, for whoever is asked whether it may be done. Throws where it means nothing to the caller. */
  about?(params: never, call: ActionCall): string | Promise<string>
  run(params: never, call: ActionCall): Promise<ActionResult>
}

interface ActionSpec<Input extends z.ZodType> {
  name: string
  description: string
  input: Input
  risk: Action['risk']
  modelAsks?: true
  /** `member` unless stated. */
  access?: Action['access']
  about?(params: z.output<Input>, call: ActionCall): string | Promise<string>
  run(params: z.output<Input>, call: ActionCall): Promise<ActionResult>
}

const LONG_PATTERN = 100

/**
 * The schema as a model and a form read it: without patterns that a format says better or that nobody can read, which for one moment of
 * time are four hundred characters. What is sent is checked by zod all the same.
 */
function readableSchema(input: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: 'input',
    override({ jsonSchema }) {
      if (jsonSchema.pattern !== undefined && (jsonSchema.format !== undefined || jsonSchema.pattern.length > LONG_PATTERN))
        delete jsonSchema.pattern
    },
  })
  return schema
}

/** An action of our own, whose parameters are declared by zod. */
export function action<Input extends z.ZodType>({ input, access = 'member', ...spec }: ActionSpec<Input>): Action {
  return {
    ...spec,
    access,
    parameters: readableSchema(input),
    parse(params) {
      const parsed = input.safeParse(params)
      if (!parsed.success) throw invalid(detailsOf('body', parsed.error))
      return parsed.data
    },
  }
}

interface ForeignActionSpec extends Omit<Action, 'parameters' | 'access' | 'parse' | 'run'> {
  /** JSON Schema as its author wrote it. */
  parameters: unknown
  /** `member` unless stated. */
  access?: Action['access']
  /** Where the same schema comes again and again: what remembers it. */
  compile?: (schema: JsonSchema) => SchemaCheck
  run(params: Record<string, unknown>, call: ActionCall): Promise<ActionResult>
}

const MAX_DESCRIPTION = 500

/** An action of a plugin or a tool server, whose words and schema are not trusted. Throws SchemaError where the schema cannot be used. */
export function foreignAction({ parameters, access = 'member', compile = compileSchema, description, ...spec }: ForeignActionSpec): Action {
  const schema = { ...cleanSchema(parameters), type: 'object' }
  const check = compile(schema)
  return {
    ...spec,
    access,
    description: description.slice(0, MAX_DESCRIPTION),
    parameters: schema,
    parse(params) {
      const faults = check(params)
      if (faults.length > 0) throw invalid(faults)
      return params
    },
  }
}

/** Whether this caller may have it done: what is of high risk is for admins. */
export const mayRun = ({ access, risk }: Pick<Action, 'access' | 'risk'>, caller: Caller): boolean =>
  mayCall(risk === 'high' ? 'admin' : access, caller)

/** What the audit learns of a run before it begins. */
export interface BegunRun {
  action: string
  params: unknown
  call: ActionCall
  startedAt: Date
}

/** How a run ended: one of `result` and `error` is there. */
export interface RunEnd {
  durationMs: number
  result: ActionResult | null
  error: string | null
}

/** Writes down that a run begins; where that fails nothing is done. What it resolves to writes down the end, and never rejects. */
export type ActionAudit = (run: BegunRun) => Promise<(end: RunEnd) => Promise<void>>

export interface ActionRegistry {
  /** Returns what takes the action out again. Throws when the name is taken. */
  add(action: Action): () => void
  find(name: string): Action | undefined
  /** Those that this caller may have done, by name. */
  list(caller: Caller): Action[]
  /**
   * Throws 404 for an unknown name, 403 for what the caller may not, 400 for wrong parameters, 504 after 60 s, 500 `action_failed` with the
   * action's message. Every run is written down before it begins, and its end before that is told.
   */
  run(name: string, params: unknown, call: ActionCall): Promise<ActionResult>
}

export interface ActionRegistryOptions {
  audit: ActionAudit
  /** Turns failures of the database and the disk into expected ones; anything else comes back unchanged. */
  translate?(error: unknown): unknown
  /** The time an action may take, in milliseconds. */
  waitMs?: number
}

const TIME_LIMIT_MS = 60_000

/** One registry for everything that can be done, whoever asks. */
export function createActionRegistry({
  audit,
  translate = (error) => error,
  waitMs = TIME_LIMIT_MS,
}: ActionRegistryOptions): ActionRegistry {
  const actions = new Map<string, Action>()

  async function limited(spec: Action, params: unknown, call: ActionCall): Promise<ActionResult> {
    const timeout = AbortSignal.timeout(waitMs)
    const signal = AbortSignal.any([call.signal, timeout])
    const cut = () => new AppError(504, 'timeout', timeout.aborted ? `${spec.name} took too long.` : `${spec.name} was cancelled.`)
    if (signal.aborted) throw cut()
    const ended = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(cut()), { once: true }))
    const running = (async () => ActionResult.parse(await spec.run(params as never, { ...call, signal })))()
    return Promise.race([running, ended])
  }

  /** What is not one of our own failures is told with its message: that is what an action throws for. */
  function toFailure(thrown: unknown): AppError {
    const error = translate(thrown)
    if (error instanceof AppError) return error
    return new AppError(500, 'action_failed', error instanceof Error ? error.message : 'The action failed.', { cause: error })
  }

  return {
    add(spec) {
      if (actions.has(spec.name)) throw new Error(`An action named ${spec.name} exists already`)
      actions.set(spec.name, spec)
      return () => void actions.delete(spec.name)
    },
    find: (name) => actions.get(name),
    list: (caller) => [...actions.values()].filter((spec) => mayRun(spec, caller)).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    async run(name, input, call) {
      const spec = actions.get(name)
      if (!spec) throw notFound('This action')
      if (!mayRun(spec, call.caller)) throw forbidden('You may not have this done.')
      const params = spec.parse(input)
      const ended = await audit({ action: name, params, call, startedAt: new Date() }).catch((error: unknown) => {
        throw toFailure(error)
      })
      const began = performance.now()
      const durationMs = () => Math.round(performance.now() - began)
      const outcome = await limited(spec, params, call).catch(toFailure)
      if (outcome instanceof AppError) {
        await ended({ durationMs: durationMs(), result: null, error: outcome.message })
        throw outcome
      }
      await ended({ durationMs: durationMs(), result: outcome, error: null })
      return outcome
    },
  }
}
