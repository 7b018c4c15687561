import { z } from 'zod'
import { ById, editable, endpoint, nothing } from '../../kit/endpoint.ts'
import { event } from '../../kit/events.ts'

export const Todo = z
  .object({
    id: z.uuid(),
    title: z.string(),
    list: z.string().optional().describe('Such as `shopping`; absent for a plain to-do.'),
    notes: z.string().optional(),
    dueAt: z.string().optional(),
    remindAt: z.string().optional(),
    recurrence: z.string().optional().describe('An RRULE value without its prefix; completing one makes the next.'),
    completedAt: z.string().optional(),
    personId: z.uuid().optional().describe('Whom it is for.'),
    createdAt: z.string(),
  })
  .meta({ id: 'Todo' })
export type Todo = z.output<typeof Todo>

const text = (max: number) =>
  z
    .string()
    .max(max)
    .transform((value) => value.toWellFormed().replaceAll('\0', ''))
const line = (max: number) =>
  text(max)
    .transform((value) => value.replaceAll(/\s+/g, ' ').trim())
    .pipe(z.string().min(1))
const moment = z.iso.datetime({ offset: true }).transform((at) => new Date(at).toISOString())

/** What of a to-do people set. */
export const todoFields = {
  title: line(300),
  list: line(100).nullable(),
  notes: text(20_000).nullable(),
  dueAt: moment.nullable(),
  remindAt: moment.nullable(),
  recurrence: text(500).nullable(),
  personId: z.uuid().nullable(),
}
const { title, ...rest } = todoFields
const readOnly = ['id', 'createdAt', 'completedAt'] as const
const completion = {
  completed: z.boolean().optional(),
  completedAt: z.string().max(40).nullable().optional().describe('Null opens it again; any time completes it now.'),
}

export const todosContract = {
  list: endpoint({
    method: 'GET',
    path: '/api/todos',
    access: 'member',
    summary: 'To-dos: open ones by when they are due; completed ones, or all of them, newest first',
    query: z.strictObject({
      status: z.enum(['open', 'completed', 'all']).default('all'),
      list: z.string().max(100).optional(),
      limit: z.coerce.number().int().min(1).max(500).default(500),
      after: z
        .uuid()
        .optional()
        .describe('The last one of the page before; it may have been completed or opened again since, not deleted.'),
    }),
    returns: z.array(Todo),
  }),
  lists: endpoint({
    method: 'GET',
    path: '/api/todos/lists',
    access: 'member',
    summary: 'The lists and how much is open in each',
    returns: z.array(z.object({ name: z.string(), open: z.number().int() })),
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/todos',
    access: 'member',
    summary: 'Add a to-do',
    body: editable({ title, ...z.object(rest).partial().shape }, readOnly),
    returns: Todo,
    status: 201,
  }),
  get: endpoint({ method: 'GET', path: '/api/todos/{id}', access: 'member', summary: 'One to-do', params: ById, returns: Todo }),
  update: endpoint({
    method: 'PATCH',
    path: '/api/todos/{id}',
    access: 'member',
    summary: 'Change a to-do, complete it, or open it again',
    description:
      'Opening a recurring one again takes back the one that followed it, unless that is done or was changed: then both stay, and completing makes no third.',
    params: ById,
    body: editable({ ...z.object(todoFields).partial().shape, ...completion }, readOnly),
    returns: Todo,
  }),
  complete: endpoint({
    method: 'POST',
    path: '/api/todos/{id}/complete',
    access: 'member',
    summary: 'Mark a to-do as done; a recurring one comes again',
    description:
      'The next one is due and reminds at its own time; where the one that is done had no time, the next has none and is open at once.',
    params: ById,
    returns: Todo,
    status: 200,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/todos/{id}',
    access: 'member',
    summary: 'Delete a to-do',
    params: ById,
    returns: nothing,
  }),
}

export const todoCreated = event('todo.created', z.object({ todoId: z.uuid(), title: z.string() }))
export const todoCompleted = event('todo.completed', z.object({ todoId: z.uuid(), title: z.string() }))
/** Some to-do was added, changed, completed or deleted. */
export const todoChanged = event('todo.changed', z.object({ id: z.uuid() }))
