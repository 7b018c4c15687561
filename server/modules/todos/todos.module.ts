import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import type { WakeUp } from '../../kit/wake-up.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { createTodoActions } from './todos.actions.ts'
import { todosContract } from './todos.contract.ts'
import type { TodosService } from './todos.service.ts'

export interface TodosModuleDeps {
  todos: TodosService
  household: HouseholdService
  reminders: WakeUp
  /** Whether a reminder for this person would reach a device of theirs. */
  reaches(personId: string): boolean
}

export function createTodos({ todos, household, reminders, reaches }: TodosModuleDeps): Module {
  return {
    name: 'todos',
    actions: createTodoActions({ todos, household, reaches }),
    routes: [
      routes(todosContract, {
        list: ({ query }) => todos.list(query),
        lists: () => todos.lists(),
        create: ({ body }) => todos.create(body),
        get: ({ params }) => todos.get(params.id),
        update: ({ params, body: { completedAt, completed, ...changes } }) =>
          todos.update(params.id, { ...changes, completed: completed ?? (completedAt === undefined ? undefined : completedAt !== null) }),
        complete: async ({ params }) => (await todos.complete(params.id)).todo,
        async remove({ params }) {
          await todos.remove(params.id)
        },
      }),
    ],
    async start() {
      reminders.start()
    },
    stop: () => reminders.stop(),
  }
}
