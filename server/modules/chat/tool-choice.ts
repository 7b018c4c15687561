import type { Action } from '../../kit/actions.ts'

/** Always offered where the caller may have them done: what a household asks for in words that no description foresees. */
const CORE = ['remember', 'recall', 'add_todo', 'add_event', 'set_timer']
const NOTHING_SAYING = new Set(
  'the and for with that this what when where how you your can could would please are was has have its about'.split(' '),
)

const stem = (word: string) => word.replace(/(?:ing|ed|es|s)$/, '')
const wordsOf = (text: string): Set<string> =>
  new Set((text.toLowerCase().match(/\p{L}{3,}/gu) ?? []).filter((word) => !NOTHING_SAYING.has(word)).map(stem))

interface Ranked {
  action: Action
  score: number
}

/** Words of a request weigh the more the fewer actions speak of them; a word of the name counts double. */
function rank(actions: readonly Action[], text: string): Ranked[] {
  const asked = wordsOf(text)
  const known = actions.map((action) => ({
    action,
    name: wordsOf(action.name.replaceAll(/[._-]/g, ' ')),
    all: wordsOf(`${action.name.replaceAll(/[._-]/g, ' ')} ${action.description}`),
  }))
  const weight = (word: string) => Math.log(1 + known.length / (1 + known.filter(({ all }) => all.has(word)).length))
  return known.map(({ action, name, all }) => ({
    action,
    score: [...asked].reduce((sum, word) => sum + (all.has(word) ? weight(word) * (name.has(word) ? 2 : 1) : 0), 0),
  }))
}

/**
 * The actions that a model is offered for a request, by name: at most `most`, those that the request seems to be about first, then those
 * offered before in the conversation (so that the evaluated prompt stays good), then the core. Text that an action's author wrote decides
 * about its place alone.
 */
export function chooseTools(actions: readonly Action[], text: string, before: ReadonlySet<string>, most = 12): Action[] {
  const ranked = rank(actions, text)
  const place = ({ action, score }: Ranked) =>
    score > 0 ? score + 100 : before.has(action.name) ? 50 : CORE.includes(action.name) ? 25 : 0
  return ranked
    .map((entry) => ({ ...entry, place: place(entry) }))
    .filter((entry) => entry.place > 0)
    .toSorted((a, b) => b.place - a.place)
    .slice(0, most)
    .map(({ action }) => action)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
