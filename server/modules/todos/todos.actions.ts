import { z } from 'zod'
import { type Action, type ActionCall, action } from '../../kit/actions.ts'
import { closest } from '../../kit/closest.ts'
import { AppError, invalid } from '../../kit/errors.ts'
import { instantOf, spokenList, spokenMoment } from '../../kit/spoken-time.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { type Todo, todoFields } from './todos.contract.ts'
import { listKeyOf, type TodosService } from './todos.service.ts'

export interface TodoActionsDeps {
  todos: TodosService
  household: HouseholdService
}

const { title, list, notes, recurrence, personId } = todoFields
const moment = z.iso.datetime({ offset: true, local: true }).nullable().optional()
const AddInput = z.strictObject({
  title,
  list: list.optional().describe('Such as `shopping`; without it a plain to-do.'),
  notes: notes.optional(),
  dueAt: moment.describe('Without an offset in the household’s time.'),
  remindAt: moment,
  recurrence: recurrence.optional().describe('An RRULE value, such as FREQ=WEEKLY;BYDAY=MO.'),
  personId: personId.optional().describe('Whom it is for; asked for in the chat, a reminder is for who asks, or with null for everyone.'),
})
const FindInput = z
  .strictObject({ id: z.uuid().optional(), title: title.optional(), list: list.optional() })
  .refine((input) => input.id ?? input.title, { message: 'id or title is needed', path: ['title'] })
const ListInput = z.strictObject({ list: list.optional(), status: z.enum(['open', 'completed', 'all']).default('open') })

const MAX_SOUGHT = 1_000
const MAX_SAID = 12
const PLAIN = /^(?:to[- ]?dos?|tasks?)$/i

/** What can be done with to-dos, each told in a sentence. */
export function createTodoActions({ todos, household }: TodoActionsDeps): Action[] {
  const place = () => household.get().household
  const said = (at: string) => spokenMoment(at, place())
  const nameOf = (name: string) => (/\blist$/i.test(name) ? name : `${name} list`)
  const onList = (name: string | undefined) => (name ? ` on the ${nameOf(name)}` : '')

  /** “the shopping list” is the list “shopping”, in the spelling it has; empty for what is on none. */
  function listMeant(wanted: string): string {
    const lists = todos.lists().map(({ name }) => name)
    const same = (name: string) => lists.find((known) => listKeyOf(known) === listKeyOf(name))
    const bare = wanted.replace(/^(?:the|my|our) /i, '').replace(/ list$/i, '')
    return same(wanted) ?? same(bare) ?? (PLAIN.test(bare) ? '' : bare)
  }

  /** The list that is there and meant, misspelt or shortened. */
  function listSought(wanted: string | null | undefined): string | undefined {
    if (!wanted) return undefined
    const meant = listMeant(wanted)
    const names = todos.lists().map(({ name }) => name)
    return meant === '' ? '' : (closest(meant, names, (name) => name) ?? meant)
  }

  /** Throws 404 with a sentence that can be said. */
  function find({ id, title: wanted = '', list: onWhich }: z.output<typeof FindInput>): Todo {
    if (id) return todos.get(id)
    const list = listSought(onWhich)
    const found = closest(wanted, todos.list({ status: 'open', list, limit: MAX_SOUGHT }), (todo) => todo.title)
    if (!found) throw new AppError(404, 'not_found', `I found no open “${wanted}”${onList(list) || ' among the to-dos'}.`)
    return found
  }

  function instant(text: string | null | undefined, path: string): string | undefined {
    if (!text) return undefined
    const at = instantOf(text, place())
    if (!at) throw invalid([{ path, message: 'is no moment' }])
    return at
  }

  /** “remind me” is said to nobody else. */
  const personOf = (input: z.output<typeof AddInput>, { caller, origin }: ActionCall): string | null | undefined =>
    input.personId === undefined && input.remindAt && ['chat', 'model'].includes(origin) ? caller.personId : input.personId

  function added(todo: Todo, { caller }: ActionCall): string {
    const again = todo.recurrence ? ' It comes again.' : ''
    if (todo.remindAt) {
      const name = todo.personId ? (household.person(todo.personId)?.displayName ?? 'you') : 'everyone'
      const who = todo.personId && todo.personId === caller.personId ? 'you' : name
      return `I will remind ${who} ${said(todo.remindAt)}: ${todo.title}.${again}`
    }
    const due = todo.dueAt ? ` It is due ${said(todo.dueAt)}.` : ''
    return `Added ${todo.title} to the ${todo.list ? nameOf(todo.list) : 'to-do list'}.${due}${again}`
  }

  const one = (todo: Todo, list: string | undefined) =>
    `${todo.title}${list === undefined && todo.list ? ` (${todo.list})` : ''}${todo.dueAt && !todo.completedAt ? ` (due ${said(todo.dueAt)})` : ''}`

  function listed(items: Todo[], list: string | undefined, status: 'open' | 'completed' | 'all'): string {
    const where = list ? `the ${nameOf(list)}` : 'the to-do list'
    if (items.length === 0) return status === 'completed' ? `Nothing on ${where} is done yet.` : `There is nothing on ${where}.`
    const more = items.length - MAX_SAID
    const names = items.slice(0, MAX_SAID).map((todo) => one(todo, list))
    const all = spokenList(more > 0 ? [...names, `${more} more`] : names)
    return status === 'completed' ? `Done on ${where}: ${all}.` : `On ${where}: ${all}.`
  }

  return [
    action({
      name: 'add_todo',
      description: 'Add a to-do, a thing to a list such as shopping, or with remindAt a reminder',
      input: AddInput,
      risk: 'low',
      async run(input, call) {
        const todo = await todos.create({
          ...input,
          list: input.list ? listMeant(input.list) || null : null,
          dueAt: instant(input.dueAt, 'body.dueAt'),
          remindAt: instant(input.remindAt, 'body.remindAt'),
          personId: personOf(input, call),
        })
        return { output: added(todo, call), data: todo }
      },
    }),
    action({
      name: 'complete_todo',
      description: 'Mark a to-do or a thing on a list as done',
      input: FindInput,
      risk: 'low',
      async run(input) {
        const { todo, next } = await todos.complete(find(input).id)
        const at = next?.dueAt ?? next?.remindAt
        return { output: `I ticked off ${todo.title}${onList(todo.list)}.${at ? ` It comes again ${said(at)}.` : ''}`, data: todo }
      },
    }),
    action({
      name: 'remove_todo',
      description: 'Delete a to-do, or take a thing off a list',
      input: FindInput,
      risk: 'low',
      async run(input) {
        const todo = await todos.remove(find(input).id)
        return { output: `I removed ${todo.title} from the ${todo.list ? nameOf(todo.list) : 'to-do list'}.`, data: todo }
      },
    }),
    action({
      name: 'list_todos',
      description: 'Tell what is to be done, or what is on a list',
      input: ListInput,
      risk: 'low',
      async run(input) {
        const list = listSought(input.list)
        const items = todos.list({ status: input.status, list, limit: 500 })
        return { output: listed(items, list, input.status), data: items }
      },
    }),
  ]
}
