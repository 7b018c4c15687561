import type { Action } from '../../kit/actions.ts'

/**
 * Always offered where the caller may have them done: what a household asks for in words that no description foresees, and that no tool of
 * another server may crowd out.
 */
const CORE = ['remember', 'recall', 'add_todo', 'list_todos', 'add_event', 'list_events', 'set_timer']
const FOREIGN = 'mcp.'
/** Of the places that are left, so many are the house's own first. */
const OWN_FIRST = 2
/** Meanings less alike than this are about something else. */
const ALIKE = 0.55
/** What likeness in meaning weighs beside words that are the same. */
const MEANING = 6
const NOTHING_SAYING = new Set(
  'the and for with that this what when where how you your can could would please are was has have its about'.split(' '),
)

/** What is known of actions beside what their authors wrote. */
export interface ChoiceHints {
  /** How alike the meanings of the request and of the action are, to 1. */
  likeness(action: Action): number
  /** With which words people of the household's language ask for it. */
  words(action: Action): readonly string[]
}
const NO_HINTS: ChoiceHints = { likeness: () => 0, words: () => [] }

const stem = (word: string) => word.replace(/(?:ing|ed|es|en|s|e|n)$/, '')
const wordsOf = (text: string): Set<string> =>
  new Set((text.toLowerCase().match(/\p{L}{3,}/gu) ?? []).filter((word) => !NOTHING_SAYING.has(word)).map(stem))

/** An action in words: its name and what its author says of it. */
export const textOfAction = ({ name, description }: Action): string => `${name.replaceAll(/[._-]/g, ' ')}. ${description}`

/** Words of an action's name, and of all that its author wrote, worked out once. */
const written = new WeakMap<Action, { name: ReadonlySet<string>; all: ReadonlySet<string> }>()

export function wordsOfAction(action: Action): { name: ReadonlySet<string>; all: ReadonlySet<string> } {
  const known = written.get(action) ?? { name: wordsOf(action.name.replaceAll(/[._-]/g, ' ')), all: wordsOf(textOfAction(action)) }
  written.set(action, known)
  return known
}

interface Ranked {
  action: Action
  score: number
}

/** Words of a request weigh the more the fewer actions speak of them; a word of the name counts double, a likeness in meaning besides. */
function rank(actions: readonly Action[], text: string, hints: ChoiceHints): Ranked[] {
  const asked = wordsOf(text)
  const known = actions.map((action) => {
    const { name, all } = wordsOfAction(action)
    const further = wordsOf(hints.words(action).join(' '))
    return { action, name, all: further.size === 0 ? all : new Set([...all, ...further]) }
  })
  const weights = new Map(
    [...asked].map((word) => [word, Math.log(1 + known.length / (1 + known.filter(({ all }) => all.has(word)).length))]),
  )
  return known.map(({ action, name, all }) => {
    const words = [...asked].reduce((sum, word) => sum + (all.has(word) ? (weights.get(word) ?? 0) * (name.has(word) ? 2 : 1) : 0), 0)
    const likeness = hints.likeness(action)
    return { action, score: words + (likeness >= ALIKE ? (likeness - ALIKE) * MEANING : 0) }
  })
}

/**
 * The actions that a model is offered for a request, by name: at most `most`, of which the core has its places, tools of other servers at
 * most half and the house's own some before those. The rest goes to those that the request seems to be about first, then to those offered
 * before in the conversation (so that the evaluated prompt stays good). Text that an action's author wrote decides about its place alone.
 */
export function chooseTools(
  actions: readonly Action[],
  text: string,
  before: ReadonlySet<string>,
  { most = 12, hints = NO_HINTS }: { most?: number; hints?: ChoiceHints } = {},
): Action[] {
  const isForeign = ({ action: { name } }: Ranked) => name.startsWith(FOREIGN)
  const place = ({ action, score }: Ranked) => (score > 0 ? score + 100 : before.has(action.name) ? 50 : 0)
  const ranked = rank(actions, text, hints)
  const core = ranked.filter(({ action: { name } }) => CORE.includes(name))
  const others = ranked.filter((one) => !core.includes(one) && place(one) > 0).toSorted((a, b) => place(b) - place(a))
  const own = others.filter((one) => !isForeign(one))
  const foreign = new Set(others.filter(isForeign).slice(0, Math.floor(most / 2)))
  const first = own.slice(0, OWN_FIRST)
  const kept = core.toSorted((a, b) => place(b) - place(a)).slice(0, Math.max(0, most - first.length))
  const rest = others.filter((one) => !first.includes(one) && (!isForeign(one) || foreign.has(one)))
  return [...kept, ...first, ...rest]
    .slice(0, most)
    .map(({ action }) => action)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
