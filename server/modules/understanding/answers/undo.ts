import { z } from 'zod'
import type { ToolCall } from '../../chat/chat.contract.ts'
import { Timer } from '../../timers/timers.contract.ts'
import { Todo } from '../../todos/todos.contract.ts'
import { type AnswerHelp, type Answers, given } from './answer.ts'

interface Step {
  action: string
  params: Record<string, unknown>
}

const Id = z.object({ id: z.uuid() })
const Kept = Todo.omit({ id: true, completedAt: true, createdAt: true })
const Cleared = z.object({ list: z.string().optional(), items: z.array(Kept) })
const Added = Id.extend({ wasThere: z.boolean().optional() })
const Paused = z.object({ paused: z.boolean().optional(), addMs: z.number().optional() })
const Event = z.object({
  title: z.string(),
  startAt: z.string(),
  endAt: z.string(),
  allDay: z.boolean(),
  location: z.string().optional(),
  notes: z.string().optional(),
  personId: z.string().optional(),
  recurrence: z.string().optional(),
})
const Series = z.object({ startAt: z.string(), endAt: z.string(), timezone: z.string(), excluded: z.array(z.string()) })
const Removed = Event.extend({ occurrenceOnly: z.boolean().optional(), series: Series.optional() })
const Forgotten = z.object({ chunkId: z.uuid(), canUndo: z.boolean().optional() })
const Moved = Id.extend({ before: Event })

const todoAgain = (todo: z.output<typeof Kept>): Step => ({ action: 'add_todo', params: { ...todo, personId: todo.personId ?? null } })

/** A timer goes on with what was left, an alarm at its time, unless that is past. */
function timerAgain({ kind, name, endsAt, remainingMs }: z.output<typeof Timer>): Step[] {
  if (remainingMs <= 0) return []
  return [{ action: 'set_timer', params: given(kind === 'alarm' ? { endsAt, name } : { durationMs: remainingMs, name }) }]
}

/** What takes back an action, given what it said of itself; nothing where it cannot be. */
const INVERSES: Readonly<Record<string, (data: unknown, params: unknown) => Step[]>> = {
  complete_todo: (data) => [{ action: 'reopen_todo', params: Id.parse(data) }],
  reopen_todo: (data) => [{ action: 'complete_todo', params: Id.parse(data) }],
  add_todo(data) {
    const { id, wasThere } = Added.parse(data)
    return wasThere ? [] : [{ action: 'remove_todo', params: { id } }]
  },
  remove_todo: (data) => [todoAgain(Kept.parse(data))],
  clear_list(data) {
    const { list, items } = Cleared.parse(data)
    return items.map((item) => todoAgain({ ...item, list }))
  },
  set_timer: (data) => [{ action: 'cancel_timer', params: Id.parse(data) }],
  cancel_timer: (data) =>
    z
      .array(Timer)
      .parse([data].flat())
      .flatMap((timer) => timerAgain(timer)),
  change_timer(data, params) {
    const { paused, addMs } = Paused.parse(params)
    const changes = given({ paused: paused === undefined ? undefined : !paused, addMs: addMs === undefined ? undefined : -addMs })
    return [{ action: 'change_timer', params: { ...Id.parse(data), ...changes } }]
  },
  add_event: (data) => [{ action: 'remove_event', params: { ...Id.parse(data), all: true } }],
  remove_event(data) {
    const { occurrenceOnly, recurrence, series, ...event } = Removed.parse(data)
    return [{ action: 'add_event', params: given({ ...event, ...(!occurrenceOnly && { recurrence, ...series }) }) }]
  },
  forget(data) {
    const { chunkId, canUndo } = Forgotten.parse(data)
    return canUndo ? [{ action: 'remember_again', params: { chunkId } }] : []
  },
  move_event(data) {
    const { id, before } = Moved.parse(data)
    const { startAt, endAt, allDay } = before
    return [{ action: 'move_event', params: { id, startAt, endAt, allDay } }]
  },
}

/** What changes nothing, so that there is nothing to take back and what was done before is meant. */
const ONLY_LOOK: ReadonlySet<string> = new Set(['list_todos', 'list_timers', 'list_events', 'recall'])

const hasChanged = (calls: readonly ToolCall[]) => calls.some(({ name, status }) => status === 'done' && !ONLY_LOOK.has(name))

/** What takes back the calls of an answer, the last one first. */
function stepsBack(calls: readonly ToolCall[]): Step[] {
  return calls.toReversed().flatMap(({ name, status, params, data }) => {
    try {
      return status === 'done' ? (INVERSES[name]?.(data, params) ?? []) : []
    } catch {
      return [] // what was kept of it says too little
    }
  })
}

export const undoAnswers: Answers = {
  async undo(_, help: AnswerHelp) {
    const steps = stepsBack(help.lastCalls.find(hasChanged) ?? []).filter(({ action }) => help.has(action))
    if (steps.length === 0) return help.speech.say('nothing_to_undo')
    const said: string[] = []
    for (const { action, params } of steps) said.push((await help.run(action, params, 'nothing_to_undo')).output)
    return help.told({ output: said.length === 1 ? (said[0] as string) : help.speech.say('undone') }, 'undone')
  },
}
