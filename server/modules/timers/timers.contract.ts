import { z } from 'zod'
import { ById, editable, endpoint, nothing } from '../../kit/endpoint.ts'
import { event } from '../../kit/events.ts'

export const Timer = z
  .object({
    id: z.uuid(),
    name: z.string().optional(),
    kind: z.enum(['timer', 'alarm']).describe('A timer runs for a while; an alarm rings at a time of day.'),
    durationMs: z.number().int().describe('All of it, with what was added.'),
    endsAt: z.string().describe('When it rings or rang; while paused, when it would if it went on now.'),
    pausedAt: z.string().optional(),
    remainingMs: z.number().int().describe('At the moment of the answer; 0 once it rang.'),
    rangAt: z.string().optional(),
    deviceId: z.uuid().optional().describe('Where it was set and rings.'),
    createdAt: z.string(),
  })
  .meta({ id: 'Timer' })
export type Timer = z.output<typeof Timer>

/** A timer as it stands for whoever asks. */
export const SeenTimer = Timer.extend({
  owner: z.string().optional().describe('Whose it is, by name; absent for your own.'),
  mayChange: z.boolean().describe('Whether you may change or end it; an alarm is its own person’s, where it has one.'),
}).meta({ id: 'SeenTimer' })
export type SeenTimer = z.output<typeof SeenTimer>

/** The longest a timer runs, in milliseconds: a year. */
export const MAX_MS = 366 * 24 * 3_600_000
export const TimerName = z
  .string()
  .max(100)
  .transform((value) =>
    value
      .toWellFormed()
      .replaceAll(/[\s\0]+/g, ' ')
      .trim(),
  )
/** In milliseconds. */
export const Duration = z.number().int().min(1).max(MAX_MS)
const moment = z.iso.datetime({ offset: true }).transform((at) => new Date(at).toISOString())
const readOnly = ['id', 'kind', 'pausedAt', 'remainingMs', 'rangAt', 'owner', 'mayChange', 'createdAt'] as const

export const timersContract = {
  list: endpoint({
    method: 'GET',
    path: '/api/timers',
    access: 'member',
    summary: 'Timers and alarms, the next to ring first; those that rang stay for an hour',
    returns: z.array(SeenTimer),
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/timers',
    access: 'member',
    summary: 'Set a timer by its duration, or an alarm by when it rings',
    body: editable(
      {
        name: TimerName.optional(),
        durationMs: Duration.optional().describe('Milliseconds; without it an alarm at `endsAt`.'),
        endsAt: moment.optional().describe('When an alarm rings; beside `durationMs` it must be when that is over, else 400.'),
        deviceId: z.uuid().optional().describe('Where it rings; here unless stated, another device for admins only.'),
      },
      readOnly,
    ),
    returns: SeenTimer,
    status: 201,
  }),
  get: endpoint({ method: 'GET', path: '/api/timers/{id}', access: 'member', summary: 'One timer', params: ById, returns: SeenTimer }),
  update: endpoint({
    method: 'PATCH',
    path: '/api/timers/{id}',
    access: 'member',
    summary: 'Name, pause or resume a timer, or give it more or less time; another’s alarm for admins only',
    description: 'With no time left one that runs rings at once; one that is paused stays so and rings when it goes on.',
    params: ById,
    body: editable(
      { name: TimerName.optional(), paused: z.boolean().optional(), addMs: z.number().int().min(-MAX_MS).max(MAX_MS).optional() },
      [...readOnly, 'durationMs', 'endsAt', 'deviceId'],
    ),
    returns: SeenTimer,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/timers/{id}',
    access: 'member',
    summary: 'Cancel a timer, or end its ringing; another’s alarm for admins only',
    params: ById,
    returns: nothing,
  }),
}

/** A timer was set, changed, cancelled or rang. */
export const timerChanged = event('timer.changed', z.object({ id: z.uuid(), state: z.enum(['set', 'changed', 'rang', 'removed']) }))
