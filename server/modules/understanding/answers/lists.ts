import { z } from 'zod'
import { Todo } from '../../todos/todos.contract.ts'
import { type AnswerHelp, type Answers, given, type Slots, text } from './answer.ts'

const Todos = z.array(Todo)
const NONE = 'cannot_lists'
/** What the actions call the to-dos that are on no list. */
const PLAIN = 'to-do'
const MOST_SAID = 12

async function open(list: unknown, { run }: AnswerHelp): Promise<Todo[]> {
  const { data } = await run('list_todos', given({ list, status: 'open' }), NONE)
  return Todos.safeParse(data).data ?? []
}

const nameOf = (list: unknown, { speech }: AnswerHelp) =>
  text(list) ? speech.say('list_named', { list: text(list) }) : speech.say('todo_list')

/** Everything there is to do, on whatever list but those for shopping. */
async function toDo(help: AnswerHelp): Promise<string> {
  const { speech } = help
  const shopping = speech.say('words_shopping').split(' ')
  const todos = (await open(undefined, help)).filter(({ list = '' }) => !shopping.some((word) => list.toLowerCase().includes(word)))
  return listed(todos, speech.say('todo_list'), help)
}

async function show(list: unknown, help: AnswerHelp): Promise<string> {
  return listed(await open(list ?? PLAIN, help), nameOf(list, help), help)
}

function listed(todos: readonly Todo[], name: string, { speech }: AnswerHelp): string {
  if (todos.length === 0) return speech.say('list_empty', { list: name })
  const said = todos.slice(0, MOST_SAID).map(({ title }) => title)
  if (todos.length > MOST_SAID) said.push(speech.say('more', { count: todos.length - MOST_SAID }))
  return speech.say('list_shown', { list: name, items: speech.list(said) })
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
  const titles = (items as unknown[]).map(text)
  for (const title of titles) await help.run('add_todo', given({ title, list }), NONE)
  return help.speech.say('list_added', { items: help.speech.list(titles), list: nameOf(list, help) })
}

async function remind({ title, personId, person, who, remindAt, dueAt, recurrence, timed }: Slots, help: AnswerHelp): Promise<string> {
  const { run, speech } = help
  await run('add_todo', given({ title, personId, remindAt, dueAt, recurrence }), NONE)
  const values = { title: text(title), name: text(person), time: remindAt ? speech.moment(text(remindAt)) : '' }
  if (!remindAt) return speech.say(who === undefined ? 'todo_added' : 'reminder_untimed', values)
  const said = speech.say(who === 'person' ? 'reminder_for' : who === 'all' ? 'reminder_all' : 'reminder_set', values)
  return [said, recurrence && speech.say('comes_again'), !timed && !recurrence && speech.say('reminder_morning')].filter(Boolean).join(' ')
}

export const listAnswers: Answers = {
  list_add: add,
  todo_add: remind,
  remind,
  remind_ask: async (_, { speech }) => speech.say('remind_of_what'),
  list_complete: (slots, help) => each('complete_todo', 'list_completed', slots, help),
  list_remove: (slots, help) => each('remove_todo', 'list_removed', slots, help),
  list_show: ({ list, list_is }, help) => (list_is === 'todo' ? toDo(help) : show(list, help)),
  async list_has({ item, list }, help) {
    const wanted = text(item).toLowerCase()
    const there = (await open(list ?? PLAIN, help)).some(
      ({ title }) => title.toLowerCase().includes(wanted) || wanted.includes(title.toLowerCase()),
    )
    return help.speech.say(there ? 'list_has' : 'list_has_not', { item: text(item), list: nameOf(list, help) })
  },
  async lists_show(_, { speech, names }) {
    const lists = names.lists.filter((name) => name !== '')
    return lists.length === 0 ? speech.say('no_lists') : speech.say('lists_shown', { lists: speech.list(lists), count: lists.length })
  },
}
