import type { Todo } from '../../../server/modules/todos/todos.contract.ts'
import { type Day, dayOf } from '../../messages/zone.ts'
import { bySoonest } from '../todos/todo-words.ts'

/** What is due on that day or was due before, on whatever list, soonest first. */
export const dueBy = (todos: Todo[], today: Day, zone: string): Todo[] =>
  todos.filter(({ dueAt }) => dueAt !== undefined && dayOf(dueAt, zone) <= today).sort(bySoonest)
