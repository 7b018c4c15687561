import { z } from 'zod'
import { endpoint } from '../../kit/endpoint.ts'
import { event } from '../../kit/events.ts'

export const ActionEntry = z
  .object({
    name: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()).describe('JSON Schema of the one object it takes.'),
    risk: z.enum(['low', 'high']).describe('What is high is for admins, and a model asks before it does it.'),
  })
  .meta({ id: 'Action' })
export type ActionEntry = z.output<typeof ActionEntry>

export const ActionResult = z
  .object({
    output: z.string().describe('What happened, in a sentence.'),
    data: z.unknown().optional(),
    artifacts: z.array(z.unknown()).optional(),
  })
  .meta({ id: 'ActionResult' })

/** Through what an action was asked for. */
export const Origin = z.enum(['api', 'chat', 'model', 'mcp', 'job', 'webhook', 'plugin', 'skill'])

export const ActionRun = z
  .object({
    id: z.uuid(),
    action: z.string(),
    params: z.unknown(),
    origin: Origin,
    caller: z.string().describe('The name that the person, device or API key had when it asked.'),
    personId: z.uuid().nullable(),
    deviceId: z.uuid(),
    conversationId: z.uuid().nullable(),
    status: z.enum(['succeeded', 'failed']),
    output: z.string().nullable(),
    error: z.string().nullable(),
    startedAt: z.string(),
    durationMs: z.number().int(),
  })
  .meta({ id: 'ActionRun' })
export type ActionRun = z.output<typeof ActionRun>

export const actionsContract = {
  list: endpoint({
    method: 'GET',
    path: '/api/actions',
    access: 'member',
    summary: 'What can be done, with the schema of its parameters',
    returns: z.array(ActionEntry),
  }),
  runs: endpoint({
    method: 'GET',
    path: '/api/actions/runs',
    access: 'admin',
    summary: 'Who had what done, newest first',
    query: z.strictObject({
      action: z.string().max(200).optional(),
      status: z.enum(['succeeded', 'failed']).optional(),
      before: z.uuid().optional().describe('A run of the list: those that came before it.'),
      limit: z.coerce.number().int().min(1).max(500).default(100),
    }),
    returns: z.array(ActionRun),
  }),
  execute: endpoint({
    method: 'POST',
    path: '/api/actions/{name}/execute',
    access: 'member',
    summary: 'Do it; ends when the caller leaves, after 60 s at the latest',
    description: 'The body is the action’s parameters. Members run what is of low risk; the rest answers 403.',
    params: z.object({ name: z.string().max(200) }),
    body: z.record(z.string(), z.unknown()),
    returns: ActionResult,
    status: 200,
  }),
}

/** An action ended; how is told by the list of runs. */
export const actionRan = event('action.run', z.object({ id: z.uuid(), action: z.string() }))
