import { DateTime } from 'luxon'
import { z } from 'zod'
import type { MessageSource } from '../../chat/chat.contract.ts'
import type { Person } from '../../household/household.contract.ts'
import { wordsOf } from '../phrases.ts'
import { usedSources } from '../used-sources.ts'
import { type AnswerHelp, type Answers, type Slots, text } from './answer.ts'

const NONE = 'cannot_memory'
const MOST_LOOKED_AT = 20
const MOST_QUOTED = 4
const MOST_NAMES = 3
const MOST_NEWEST = 6
const MOST_CHARACTERS = 300
const MAX_QUERY = 1_000
/** Of what a short sentence states, all but the value. */
const STATED = /^(.{2,80}? (?:is|are|ist|sind|lautet)) .{1,200}$/iu
const Chunk = z.object({
  id: z.string(),
  title: z.string(),
  content: z.string(),
  observedAt: z.string(),
  personId: z.string().nullable().optional(),
})
const Recalled = z.object({ chunks: z.array(Chunk), answer: z.string().nullable() })
const Remembered = z.object({ chunk: Chunk })
const Forgotten = z.object({ earlier: z.number(), canUndo: z.boolean().optional() })
/** A call that found what might be forgotten, after which one of it is picked. */
const ToForget = z.object({ purpose: z.literal('forget') })

/** Forgets them one by one, and says how to have them back. */
async function forget(sources: readonly MessageSource[], { run, told, speech }: AnswerHelp): Promise<string> {
  const said: string[] = []
  let canUndo = false
  for (const { chunkId, title } of sources) {
    const result = await run('forget', { chunkId }, NONE)
    const { earlier = 0, canUndo: isHeld = false } = Forgotten.safeParse(result.data).data ?? {}
    const one = told(result, 'forgotten', { title })
    said.push(earlier === 0 || one === result.output ? one : `${one}. ${speech.say('forgotten_earlier', { count: earlier })}`)
    canUndo ||= isHeld
  }
  const all = said.join('\n')
  return canUndo ? `${all}${/[.!?…]$/.test(all) ? ' ' : '. '}${speech.say('can_undo')}` : all
}

/** What the last answer rests on. */
const used = ({ lastSources, lastModelReply, describeSource }: AnswerHelp) => usedSources(lastSources, lastModelReply, describeSource)

/** All that is remembered for a purpose, newest first. */
async function every(query: string, purpose: 'about' | 'forget' | 'newest', { run }: AnswerHelp): Promise<z.output<typeof Chunk>[]> {
  const { data } = await run('recall', { query, purpose, limit: MOST_LOOKED_AT }, NONE)
  return Recalled.safeParse(data).data?.chunks ?? []
}

const asSources = (chunks: readonly z.output<typeof Chunk>[]): MessageSource[] => chunks.map(({ id, title }) => ({ chunkId: id, title }))

/** Some of them in quotes, and how many more there are. */
function quotations(chunks: readonly z.output<typeof Chunk>[], { speech }: AnswerHelp): string {
  const items = chunks.slice(0, MOST_QUOTED).map(({ content }) => speech.say('quoted', { text: shortened(content) }))
  const more = chunks.length - items.length
  return [...items, ...(more > 0 ? [speech.say('more', { count: more })] : [])].join(', ')
}

/** Which of several is to be forgotten, each with its number. */
function which(sources: readonly MessageSource[], { speech }: AnswerHelp): string {
  const titles = sources.map(({ title }, at) => `${at + 1}: ${speech.say('quoted', { text: title })}`)
  return speech.say('forget_which_of', { items: titles.join('; ') })
}

/** What memory has to say about something, with what it rests on; null where nothing is clearly about it. */
export async function recollect(query: string, { run, speech }: AnswerHelp) {
  const { data } = await run('recall', { query }, NONE)
  const recalled = Recalled.safeParse(data).data
  const [best] = recalled?.chunks ?? []
  if (!recalled?.answer) return null
  const said =
    speech.language === 'en' || !best ? recalled.answer : speech.say('told_me', { day: speech.day(best.observedAt), content: best.content })
  return { text: said, sources: best ? [{ chunkId: best.id, title: best.title }] : [] }
}

async function keep(content: string, help: AnswerHelp) {
  const result = await help.run('remember', { content }, NONE)
  const chunk = Remembered.safeParse(result.data).data?.chunk
  return {
    text: help.told(result, 'remembered', { content }),
    sources: chunk ? [{ chunkId: chunk.id, title: chunk.title }] : [],
  }
}

/** What is remembered of somebody, quoted. */
function quoted(who: Person, found: readonly z.output<typeof Chunk>[], help: AnswerHelp) {
  const isNamed = ({ title, content, personId }: z.output<typeof Chunk>) => names(`${title} ${content}`, who) || personId === who.id
  const chunks = [...new Map(found.filter(isNamed).map((chunk) => [chunk.id, chunk])).values()].slice(0, MOST_QUOTED)
  if (chunks.length === 0) return null
  return {
    text: help.speech.say('know_of_person', { name: who.displayName, items: quotations(chunks, help) }),
    sources: asSources(chunks),
  }
}

/** What is found for questions, whether it bears on them or not. */
async function foundFor(queries: readonly string[], { run }: AnswerHelp) {
  const found = []
  for (const query of queries)
    found.push(...(Recalled.safeParse((await run('recall', { query, limit: MOST_LOOKED_AT }, NONE)).data).data?.chunks ?? []))
  return found
}

const shortened = (content: string) =>
  content.length <= MOST_CHARACTERS ? content.trim() : `${content.slice(0, MOST_CHARACTERS).toWellFormed().trim()}…`

/** Whether a text speaks of somebody by a name of theirs. */
function names(text: string, { displayName, aliases }: Person): boolean {
  const words = ` ${wordsOf(text).map(bare).join(' ')} `
  return [displayName, ...aliases].some((name) => {
    const called = wordsOf(name).map(bare).join(' ')
    return called !== '' && words.includes(` ${called} `)
  })
}
const bare = (word: string) => word.replace(/'s?$/, '')

/** What is remembered of the people that a question names and bears on the rest of it, with no conclusion drawn from it. */
export async function knownOf(help: AnswerHelp) {
  const who = help.household.persons.find((person) => names(help.text, person))
  return who ? quoted(who, await every(help.text.slice(0, MAX_QUERY), 'about', help), help) : null
}

/** What the household itself knows of somebody. */
function personal({ displayName, role, birthDate }: Person, { speech }: AnswerHelp): string {
  const told = speech.say('person_is', { name: displayName, role: speech.say(`role_${role}`) })
  if (!birthDate) return told
  const born = DateTime.fromISO(birthDate, { zone: speech.now().zone }).setLocale(speech.now().locale ?? 'en')
  const years = Math.max(0, Math.floor(speech.now().diff(born, 'years').years))
  const age = speech.say(years < 1 ? 'age_first_year' : 'age_is', { name: displayName, count: years })
  return `${told} ${age} ${speech.say('person_born', { date: born.toLocaleString(DateTime.DATE_FULL) })}`
}

async function recallAbout({ query }: Slots, help: AnswerHelp) {
  const asked = wordsOf(text(query)).map(bare).join(' ')
  const who = help.household.persons.find(({ displayName, aliases }) =>
    [displayName, ...aliases].some((name) => wordsOf(name).map(bare).join(' ') === asked),
  )
  if (!who) {
    const found = await every(text(query), 'about', help)
    if (found.length < 2) return (await recollect(text(query), help)) ?? help.speech.say('know_nothing', { query: text(query) })
    return { text: help.speech.say('know_of', { query: text(query), items: quotations(found, help) }), sources: asSources(found) }
  }
  const known = quoted(who, await foundFor([who.displayName, ...who.aliases].slice(0, MOST_NAMES), help), help)
  return { text: [personal(who, help), known?.text].filter(Boolean).join(' '), sources: known?.sources ?? [] }
}

export const memoryAnswers: Answers = {
  async remember({ content, contents }, help) {
    const kept = []
    for (const each of Array.isArray(contents) ? contents.map(text) : [text(content)]) kept.push(await keep(each, help))
    return { text: kept.map((one) => one.text).join('\n'), sources: kept.flatMap(({ sources }) => sources) }
  },
  /** Only of what is known: whatever else is said in passing is nobody’s wish to have it kept. */
  async correct({ subject, content, value }, help) {
    if (content !== undefined) return (await recollect(text(subject), help)) ? keep(text(content), help) : null
    const [source] = await used(help)
    const origin = source && (await help.describeSource(source.chunkId))
    const [, before] = (origin && STATED.exec(origin.content.replaceAll(/\s+/g, ' ').trim())) ?? []
    return before ? keep(`${before} ${text(value)}`, help) : null
  },
  /** The whole question finds more than the piece of it that was captured. */
  recall: (_, help) => recollect(help.text.replaceAll(/\s+/g, ' ').trim().slice(0, 1_000), help),
  recall_about: recallAbout,
  async recall_me(_, help) {
    const { speaker, speech } = help
    if (!speaker) return speech.say('know_nobody')
    const known = help.has('recall')
      ? quoted(speaker, await foundFor([help.text.slice(0, MAX_QUERY), speaker.displayName], help), help)
      : null
    return known ?? speech.say('know_you_as', { name: speaker.displayName })
  },
  my_name: async (_, { speaker, speech }) => speech.say(speaker ? 'you_are' : 'know_nobody', { name: speaker?.displayName ?? '' }),
  async forget({ query }, help) {
    const found = asSources(await every(text(query), 'forget', help))
    if (found.length === 0) return help.speech.say('forget_unknown', { query: text(query) })
    return found.length === 1 ? forget(found, help) : { text: which(found, help), sources: found }
  },
  /** Only where the house asked last which one: what a model said since rests on other memories. */
  async forget_pick({ pick, second }, help) {
    const { lastCalls, lastModelReply, lastSources, speech } = help
    const wasAsked = lastCalls[0]?.some(({ name, params }) => name === 'recall' && ToForget.safeParse(params).success)
    if (!wasAsked || lastModelReply || lastSources.length < 2) return null
    if (pick === 'none') return speech.say('left_undone')
    if (pick === 'all') return forget(lastSources, help)
    const numbers = pick === 'last' ? [lastSources.length] : [pick, second].filter((one) => one !== undefined).map(Number)
    const picked = numbers.flatMap((number) => lastSources[number - 1] ?? [])
    if (picked.length < numbers.length) return { text: which(lastSources, help), sources: [...lastSources] }
    return forget([...new Set(picked)], help)
  },
  async forget_that(_, help) {
    const { lastModelReply, speech } = help
    const sources = await used(help)
    const [source, ...others] = sources
    if (!source) return speech.say(lastModelReply ? 'forget_not_memory' : 'forget_what')
    // Of several nobody can tell which was meant.
    if (others.length > 0) return speech.say('forget_which', { titles: speech.list(sources.map(({ title }) => `“${title}”`)) })
    if (!lastModelReply) return forget([source], help)
    // A model may have said the same of its own.
    const question = speech.say('forget_meant', { title: source.title })
    help.ask('forget', { chunkId: source.chunkId }, source.title, question)
    return question
  },
  async recall_newest(_, help) {
    const found = (await every(help.text.slice(0, MAX_QUERY), 'newest', help)).slice(0, MOST_NEWEST)
    if (found.length === 0) return help.speech.say('know_nothing_yet')
    const items = found.map(({ content }) => help.speech.say('quoted', { text: shortened(content) })).join(', ')
    return { text: help.speech.say('know_newest', { items }), sources: asSources(found) }
  },
  who_is: async ({ about, query }, help) => (about ? recallAbout({ query: about }, help) : recollect(text(query), help)),
  async why_known(_, help) {
    const { describeSource, speech } = help
    const [source] = await used(help)
    if (!source) return speech.say('why_nothing')
    const origin = await describeSource(source.chunkId)
    if (!origin) return speech.say('why_gone')
    return {
      text: speech.say('why_told', { day: speech.day(origin.observedAt), content: origin.content.slice(0, 500) }),
      sources: [source],
    }
  },
}
