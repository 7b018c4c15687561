import { z } from 'zod'
import { type Action, type ActionCall, action } from '../../kit/actions.ts'
import { closest } from '../../kit/closest.ts'
import { AppError, invalid } from '../../kit/errors.ts'
import { instantOf, spokenList, spokenMoment } from '../../kit/spoken-time.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { type Todo, todoFields } from './todos.contract.ts'
import { END_OF_TIME, listKeyOf, type TodosService } from './todos.service.ts'

export interface TodoActionsDeps {
  todos: TodosService
  household: HouseholdService
  /** Whether a reminder for this person would reach a device of theirs. */
  reaches(personId: string): boolean
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
const ListInput = z.strictObject({
  list: list.optional(),
  status: z.enum(['open', 'completed', 'all']).default('open'),
  mine: z.boolean().optional().describe('Only what is for who asks, or for nobody in particular.'),
  until: moment.describe('Only what is due or reminds before then; with it without a time nothing.'),
  reminders: z.boolean().optional().describe('Only what reminds, of those still to come.'),
})
const ClearInput = z.strictObject({ list: list.unwrap() })

const MAX_SOUGHT = 1_000
const MAX_LISTED = 500
/** So many that were cleared are told one by one, so that they can be put back; of more only how many. */
const MAX_KEPT = 500
const CLEARED_AT_ONCE = 100
const MAX_SAID = 12
const PLAIN = /^(?:to[- ]?dos?|tasks?)$/i

/** What can be done with to-dos, each told in a sentence. */
export function createTodoActions({ todos, household, reaches }: TodoActionsDeps): Action[] {
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

  /** What is for somebody without a device waits for their first one. */
  const waits = ({ remindAt, personId }: Todo) => remindAt !== undefined && personId !== undefined && !reaches(personId)

  /** What is open already and the same, but for its case. */
  function sameOpen({ title: wanted, list: onWhich, personId: whose = null, ...times }: z.output<typeof AddInput>): Todo | undefined {
    if (times.dueAt || times.remindAt || times.recurrence || times.notes) return undefined
    const list = onWhich ? listMeant(onWhich) : ''
    const open = todos.list({ status: 'open', list, limit: MAX_SOUGHT })
    const isSame = (todo: Todo) => listKeyOf(todo.title) === listKeyOf(wanted) && (todo.personId ?? null) === whose
    return open.find((todo) => isSame(todo) && !todo.dueAt && !todo.remindAt)
  }

  /** Takes off what is open, page by page, until there is no more; tells the first of it. */
  async function clear(list: string, signal: AbortSignal): Promise<{ count: number; first: Todo[] }> {
    const first: Todo[] = []
    let count = 0
    while (!signal.aborted) {
      const page = todos.list({ status: 'open', list, limit: CLEARED_AT_ONCE })
      if (page.length === 0) break
      if (first.length <= MAX_KEPT) first.push(...page)
      await todos.removeAll(page.map(({ id }) => id))
      count += page.length
    }
    return { count, first }
  }

  type Wanted = z.output<typeof ListInput>

  /** The open ones of certain times or people; null where none of these is asked for. */
  function among({ mine, until, reminders }: Wanted, list: string | undefined, { caller }: ActionCall): Todo[] | null {
    const personId = mine ? caller.personId : undefined
    if (until || reminders) return todos.coming({ until: instant(until, 'body.until') ?? END_OF_TIME, personId, reminders, list })
    if (!mine) return null
    const open = todos.list({ status: 'open', list, limit: MAX_LISTED })
    return open.filter((todo) => todo.personId === undefined || todo.personId === personId)
  }

  function added(todo: Todo, { caller }: ActionCall): string {
    const again = todo.recurrence ? ' It comes again.' : ''
    const isOver = todo.remindAt !== undefined && todo.remindAt <= new Date().toISOString()
    if (todo.remindAt && !isOver) {
      const name = todo.personId ? (household.person(todo.personId)?.displayName ?? 'you') : 'everyone'
      if (waits(todo))
        return `${name} has no device here yet, so this waits for their first one: ${todo.title}, ${said(todo.remindAt)}.${again}`
      const who = todo.personId && todo.personId === caller.personId ? 'you' : name
      return `I will remind ${who} ${said(todo.remindAt)}: ${todo.title}.${again}`
    }
    const due = todo.dueAt ? ` It is due ${said(todo.dueAt)}.` : ''
    const over = isOver ? ` Its reminder, ${said(todo.remindAt ?? '')}, is over.` : ''
    return `Added ${todo.title} to the ${todo.list ? nameOf(todo.list) : 'to-do list'}.${due}${over}${again}`
  }

  const one = (todo: Todo, list: string | undefined) =>
    `${todo.title}${list === undefined && todo.list ? ` (${todo.list})` : ''}${todo.dueAt && !todo.completedAt ? ` (due ${said(todo.dueAt)})` : ''}`

  /** What reminds, with when. */
  const reminding = (items: Todo[]): string =>
    items.length === 0
      ? 'There are no reminders.'
      : `I will remind you of ${spokenList(items.slice(0, MAX_SAID).map((todo) => `${todo.title} ${said(todo.remindAt ?? '')}`))}.`

  function listed(items: Todo[], total: number, list: string | undefined, status: 'open' | 'completed' | 'all'): string {
    const where = list ? `the ${nameOf(list)}` : 'the to-do list'
    if (items.length === 0) return status === 'completed' ? `Nothing on ${where} is done yet.` : `There is nothing on ${where}.`
    const more = total - MAX_SAID
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
        const there = sameOpen(input)
        if (there) {
          const where = there.list ? nameOf(there.list) : 'to-do list'
          return { output: `${there.title} is on the ${where} already.`, data: { ...there, wasThere: true } }
        }
        const fields = {
          ...input,
          list: input.list ? listMeant(input.list) || null : null,
          dueAt: instant(input.dueAt, 'body.dueAt'),
          remindAt: instant(input.remindAt, 'body.remindAt'),
          personId: personOf(input, call),
        }
        const todo = await todos.create(fields, { aheadOnly: true })
        return { output: added(todo, call), data: { ...todo, ...(waits(todo) && { waits: true }) } }
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
        const again = at ? ` It comes again ${said(at)}.` : next && !next.completedAt ? ' It is open again for the next time.' : ''
        return { output: `I ticked off ${todo.title}${onList(todo.list)}.${again}`, data: todo }
      },
    }),
    action({
      name: 'reopen_todo',
      description: 'Open a to-do again that was marked as done',
      input: z.strictObject({ id: z.uuid() }),
      risk: 'low',
      async run({ id }) {
        const todo = await todos.update(id, { completed: false })
        return { output: `${todo.title} is open again.`, data: todo }
      },
    }),
    action({
      name: 'clear_list',
      description: 'Take everything that is open off a list',
      input: ClearInput,
      risk: 'low',
      modelAsks: true,
      async run(input, { signal }) {
        const list = listSought(input.list) ?? ''
        const { count, first } = await clear(list, signal)
        const where = `the ${list ? nameOf(list) : 'to-do list'}`
        const what = count === 1 ? `${first[0]?.title}` : `all ${count} things`
        const items = count > MAX_KEPT ? [] : first.map(({ id: _, list: __, createdAt: ___, ...todo }) => todo)
        const output = count === 0 ? `There is nothing on ${where}.` : `I took ${what} off ${where}.`
        return { output, data: { ...(first[0]?.list && { list: first[0].list }), count, items } }
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
      async run(input, call) {
        const { status } = input
        const list = listSought(input.list)
        const found = status === 'open' ? among(input, list, call) : null
        if (found) {
          const output = input.reminders ? reminding(found) : listed(found, found.length, list, status)
          return { output, data: { items: found.slice(0, MAX_LISTED), total: found.length } }
        }
        const items = todos.list({ status, list, limit: MAX_LISTED })
        const total = status === 'open' ? todos.countOpen(list) : items.length
        return { output: listed(items, total, list, status), data: { items, total } }
      },
    }),
  ]
}
