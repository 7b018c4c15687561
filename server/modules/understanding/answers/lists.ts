import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { closest } from '../../../kit/closest.ts'
import { Todo } from '../../todos/todos.contract.ts'
import { fold } from '../tokens.ts'
import { type AnswerHelp, type Answers, given, type Slots, text } from './answer.ts'

const Todos = z.object({ items: z.array(Todo), total: z.number() })
type Found = z.output<typeof Todos>
const Added = z.object({ waits: z.boolean().optional(), wasThere: z.boolean().optional() })
const NONE = 'cannot_lists'
/** What the actions call the to-dos that are on no list. */
const PLAIN = 'to-do'
const MOST_SAID = 12
/** What is kept of an action with its answer, in characters; without that it is not taken back. */
const MOST_KEPT = 15_000
const Cleared = z.object({ count: z.number(), items: z.array(z.unknown()) })

async function find(params: Record<string, unknown>, { run }: AnswerHelp): Promise<Found> {
  const { data } = await run('list_todos', given({ status: 'open', ...params }), NONE)
  return Todos.safeParse(data).data ?? { items: [], total: 0 }
}

const nameOf = (list: unknown, { speech }: AnswerHelp) =>
  text(list) ? speech.say('list_named', { list: text(list) }) : speech.say('todo_list')

/** Without what stands on lists for shopping. */
function withoutShopping({ items }: Found, { speech }: AnswerHelp): Todo[] {
  const shopping = speech.say('words_shopping').split(' ')
  return items.filter(({ list = '' }) => !shopping.some((word) => list.toLowerCase().includes(word)))
}

/** Everything there is to do, on whatever list but those for shopping. */
async function toDo(help: AnswerHelp): Promise<string> {
  const found = await find({}, help)
  const todos = withoutShopping(found, help)
  return listed({ items: todos, total: found.total - found.items.length + todos.length }, help.speech.say('todo_list'), help)
}

/** The speaker's and nobody's in particular, that is due or reminds today or before. */
async function dueThen({ from, to }: Slots, help: AnswerHelp): Promise<string> {
  const { speech } = help
  const now = speech.now().toUTC().toISO() ?? ''
  const until = text(to) || speech.now().plus({ days: 1 }).startOf('day').toUTC().toISO()
  const found = withoutShopping(await find({ mine: true, until }, help), help)
  // What is overdue is to be done today, not on a day to come.
  const begin = text(from) > now ? text(from) : ''
  const todos = found.filter(({ dueAt, remindAt }) => [dueAt, remindAt].some((at) => at !== undefined && at >= begin))
  if (todos.length === 0) return speech.say(begin ? 'nothing_then' : 'nothing_today')
  return speech.say(begin ? 'todo_then' : 'todo_today', { items: shortened(todos, todos.length, help) })
}

/** What somebody is reminded of, with when; the speaker unless named. */
async function reminders({ about, aboutId }: Slots, help: AnswerHelp): Promise<string> {
  const { speech } = help
  const name = text(about)
  const found = await find(name ? { reminders: true } : { mine: true, reminders: true }, help)
  const items = name ? found.items.filter(({ personId }) => personId === aboutId) : found.items
  const total = name ? items.length : found.total
  if (total === 0) return speech.say(name ? 'no_reminders_of' : 'no_reminders', { name })
  const said = items.slice(0, MOST_SAID).map((todo) => withTime(todo, help))
  if (total > said.length) said.push(speech.say('more', { count: total - said.length }))
  return speech.say(name ? 'reminders_of' : 'reminders_shown', { name, items: said.join('; ') })
}

const withTime = ({ title, remindAt }: Todo, { speech }: AnswerHelp) =>
  remindAt ? speech.say('reminder_at', { title, time: speech.moment(remindAt) }) : title

/** Those that may be meant: of that very title the soonest, else all that have it in theirs, else the one spelt nearly so. */
function meant(wanted: string, todos: readonly Todo[]): Todo[] {
  const sought = fold(wanted)
  const same = todos.find(({ title }) => fold(title) === sought)
  if (same) return [same]
  const holding = todos.filter(({ title }) => ` ${fold(title)}`.includes(` ${sought}`))
  const near = holding.length > 0 ? null : closest(wanted, todos, ({ title }) => title)
  return near ? [near] : holding
}

/** The speaker’s own reminders first; by their titles then others’, which is asked about, and what is to be done without a time. */
async function removeReminder({ title }: Slots, help: AnswerHelp): Promise<string> {
  const { speech, run, speaker, household } = help
  const wanted = text(title)
  if (wanted === '' && !speaker) return speech.say('reminder_name_it')
  const own = speaker ? [{ mine: true, reminders: true }] : []
  for (const params of wanted === '' ? own : [...own, { reminders: true }, { list: PLAIN }]) {
    const { items } = await find(params, help)
    const found = wanted === '' ? items : meant(wanted, items)
    const [one, ...others] = found
    if (!one) continue
    if (others.length > 0)
      return speech.say('which_reminder', { items: speech.either(found.slice(0, MOST_SAID).map((todo) => withTime(todo, help))) })
    const other = one.personId === speaker?.id ? undefined : household.persons.find(({ id }) => id === one.personId)
    if (other) {
      const question = speech.say('reminder_of_other', { name: other.displayName, title: withTime(one, help) })
      help.ask('remove_todo', { id: one.id }, one.title, question)
      return question
    }
    await run('remove_todo', { id: one.id }, NONE)
    const said = speech.say(one.remindAt ? 'reminder_removed' : 'reminder_removed_untimed', { title: withTime(one, help) })
    return `${said} ${speech.say('can_undo')}`
  }
  return wanted === '' ? speech.say('no_reminders') : speech.say('no_such_reminder', { title: wanted })
}

/** A time that is said of what was put down without one just now, and is still as it was. */
async function remindThen({ remindAt, recurrence, timed }: Slots, help: AnswerHelp): Promise<string | null> {
  const added = help.lastCalls[0]?.findLast(({ name, status }) => name === 'add_todo' && status === 'done')
  const todo = Todo.safeParse(added?.data).data
  if (!todo || !remindAt || todo.remindAt || todo.list || help.lastModelReply) return null
  const now = (await find({ list: PLAIN }, help)).items.find(({ id }) => id === todo.id)
  if (!isDeepStrictEqual(now, todo)) return null
  const { id, title, notes, personId } = todo
  const isOwn = personId === undefined || personId === help.speaker?.id
  const person = help.household.persons.find((one) => one.id === personId)?.displayName
  const when = { remindAt, dueAt: remindAt, recurrence: recurrence ?? todo.recurrence, timed }
  const said = await remind({ title, notes, personId, person, who: isOwn ? 'me' : 'person', ...when }, help)
  await help.run('remove_todo', { id }, NONE)
  return said
}

async function show(list: unknown, help: AnswerHelp): Promise<string> {
  return listed(await find({ list: list ?? PLAIN }, help), nameOf(list, help), help)
}

function shortened(todos: readonly Todo[], total: number, { speech }: AnswerHelp): string {
  const said = todos.slice(0, MOST_SAID).map(({ title }) => title)
  if (total > said.length) said.push(speech.say('more', { count: total - said.length }))
  return speech.list(said)
}

function listed({ items, total }: Found, name: string, help: AnswerHelp): string {
  if (items.length === 0) return help.speech.say('list_empty', { list: name })
  return help.speech.say('list_shown', { list: name, items: shortened(items, total, help) })
}

async function each(action: string, key: string, { item, items, list }: Slots, help: AnswerHelp): Promise<string> {
  const said: string[] = []
  const titles = Array.isArray(items) ? items.map(text) : [text(item)]
  for (const title of titles) {
    said.push(help.told(await help.run(action, given({ title, list }), NONE), key, { item: title, list: nameOf(list, help) }))
  }
  return said.join(' ')
}

async function add({ items, list }: Slots, help: AnswerHelp): Promise<string> {
  const { speech } = help
  const fresh: string[] = []
  const there: string[] = []
  for (const title of (items as unknown[]).map(text)) {
    const { data } = await help.run('add_todo', given({ title, list }), NONE)
    if (Added.safeParse(data).data?.wasThere) there.push(title)
    else fresh.push(title)
  }
  return [
    fresh.length > 0 && speech.say('list_added', { items: speech.list(fresh), list: nameOf(list, help) }),
    there.length > 0 && speech.say('list_there', { items: speech.list(there), list: nameOf(list, help), count: there.length }),
  ]
    .filter(Boolean)
    .join(' ')
}

async function clear({ list }: Slots, help: AnswerHelp): Promise<string> {
  const result = await help.run('clear_list', { list: list ?? PLAIN }, NONE)
  const { count, items } = Cleared.safeParse(result.data).data ?? { count: 0, items: [] }
  if (count === 0) return help.speech.say('list_empty', { list: nameOf(list, help) })
  const said = help.told(result, 'list_cleared', { list: nameOf(list, help), count })
  return items.length === count && JSON.stringify(result.data).length <= MOST_KEPT ? `${said} ${help.speech.say('can_undo')}` : said
}

async function remind(
  { title, notes, personId, person, who, remindAt, dueAt, recurrence, timed }: Slots,
  help: AnswerHelp,
): Promise<string> {
  const { run, speech } = help
  const result = await run('add_todo', given({ title, notes, personId, remindAt, dueAt, recurrence }), NONE)
  const waits = Added.safeParse(result.data).data?.waits === true
  const values = { title: text(title), name: text(person), time: remindAt ? speech.moment(text(remindAt)) : '' }
  if (remindAt && text(remindAt) <= speech.now().toJSDate().toISOString()) return help.told(result, 'todo_added', values)
  if (!remindAt) return speech.say(who === undefined ? 'todo_added' : 'reminder_untimed', values)
  const said = speech.say(
    waits && values.name ? 'reminder_no_device' : who === 'person' ? 'reminder_for' : who === 'all' ? 'reminder_all' : 'reminder_set',
    values,
  )
  return [said, recurrence && speech.say('comes_again'), !timed && !recurrence && speech.say('reminder_morning')].filter(Boolean).join(' ')
}

export const listAnswers: Answers = {
  list_add: add,
  list_need: add,
  list_ask: async ({ list }, help) => help.speech.say('list_add_what', { list: nameOf(list, help) }),
  list_clear: clear,
  todo_today: dueThen,
  reminders_show: reminders,
  reminder_remove: removeReminder,
  when_only: remindThen,
  todo_add: remind,
  remind,
  remind_ask: async (_, { speech }) => speech.say('remind_of_what'),
  list_complete: (slots, help) => each('complete_todo', 'list_completed', slots, help),
  list_remove: (slots, help) => each('remove_todo', 'list_removed', slots, help),
  list_show: ({ list, list_is }, help) => (list_is === 'todo' ? toDo(help) : show(list, help)),
  async list_has({ item, list }, help) {
    const wanted = text(item).toLowerCase()
    const there = (await find({ list: list ?? PLAIN }, help)).items.some(
      ({ title }) => title.toLowerCase().includes(wanted) || wanted.includes(title.toLowerCase()),
    )
    return help.speech.say(there ? 'list_has' : 'list_has_not', { item: text(item), list: nameOf(list, help) })
  },
  async lists_show(_, { speech, names }) {
    const lists = names.lists.filter((name) => name !== '')
    return lists.length === 0 ? speech.say('no_lists') : speech.say('lists_shown', { lists: speech.list(lists), count: lists.length })
  },
}
