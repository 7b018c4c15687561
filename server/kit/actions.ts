import { z } from 'zod'
import type { Caller } from './caller.ts'
import { AppError, detailsOf, invalid, notFound } from './errors.ts'

export const ActionResult = z.object({
  output: z.string().describe('What happened, in a sentence.'),
  data: z.unknown().optional(),
  artifacts: z.array(z.unknown()).optional(),
})
export type ActionResult = z.output<typeof ActionResult>

export interface ActionCall {
  caller: Caller
  signal: AbortSignal
}

/** Something that a person, the model, a webhook, a schedule or a plugin may have done. */
export interface Action {
  name: string
  description: string
  input: z.ZodType
  /** `high` is asked about before a model may run it, and is not for members. */
  risk: 'low' | 'high'
  run(input: never, call: ActionCall): Promise<ActionResult>
}

/** Ties an action's `run` to the type of its `input` schema. */
export function action<Input extends z.ZodType>(
  spec: Omit<Action, 'input' | 'run'> & { input: Input; run(input: z.output<Input>, call: ActionCall): Promise<ActionResult> },
): Action {
  return spec
}

export interface ActionRegistry {
  /** Returns what takes the action out again. Throws when the name is taken. */
  add(action: Action): () => void
  list(): { name: string; description: string; parameters: unknown; risk: Action['risk'] }[]
  /** Throws 404 for an unknown name, 400 for wrong parameters, 504 after 60 s, 500 `action_failed` with the action's message. */
  run(name: string, input: unknown, call: ActionCall): Promise<ActionResult>
}

const TIME_LIMIT_MS = 60_000

/** One registry for everything that can be done, whoever asks. `waitMs` is the time an action may take. */
export function createActionRegistry(waitMs: number = TIME_LIMIT_MS): ActionRegistry {
  const actions = new Map<string, Action>()

  async function limited(spec: Action, input: unknown, call: ActionCall): Promise<ActionResult> {
    const timeout = AbortSignal.timeout(waitMs)
    const signal = AbortSignal.any([call.signal, timeout])
    const cut = () => new AppError(504, 'timeout', timeout.aborted ? `${spec.name} took too long.` : `${spec.name} was cancelled.`)
    if (signal.aborted) throw cut()
    const ended = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(cut())))
    const running = (async () => spec.run(input as never, { ...call, signal }))()
    return Promise.race([running, ended])
  }

  return {
    add(spec) {
      if (actions.has(spec.name)) throw new Error(`An action named ${spec.name} exists already`)
      actions.set(spec.name, spec)
      return () => void actions.delete(spec.name)
    },
    list: () =>
      [...actions.values()].map(({ name, description, input, risk }) => ({
        name,
        description,
        risk,
        parameters: z.toJSONSchema(input, { io: 'input' }),
      })),
    async run(name, input, call) {
      const spec = actions.get(name)
      if (!spec) throw notFound('This action')
      const parsed = spec.input.safeParse(input)
      if (!parsed.success) throw invalid(detailsOf('body', parsed.error))
      try {
        return ActionResult.parse(await limited(spec, parsed.data, call))
      } catch (error) {
        if (error instanceof AppError) throw error
        throw new AppError(500, 'action_failed', error instanceof Error ? error.message : 'The action failed.', { cause: error })
      }
    },
  }
}
