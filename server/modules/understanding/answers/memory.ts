import { DateTime } from 'luxon'
import { z } from 'zod'
import type { MessageSource } from '../../chat/chat.contract.ts'
import type { Person } from '../../household/household.contract.ts'
import { wordsOf } from '../phrases.ts'
import { type AnswerHelp, type Answers, type Slots, text } from './answer.ts'

const NONE = 'cannot_memory'
const MOST_LOOKED_AT = 20
const MOST_QUOTED = 4
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
const Forgotten = z.object({ earlier: z.number() })

async function forgetOne({ chunkId, title }: MessageSource, { run, told, speech }: AnswerHelp): Promise<string> {
  const result = await run('forget', { chunkId }, NONE)
  const count = Forgotten.safeParse(result.data).data?.earlier ?? 0
  const said = told(result, 'forgotten', { title })
  return count === 0 || said === result.output ? said : `${said}. ${speech.say('forgotten_earlier', { count })}`
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

/** What is remembered of somebody, quoted, with what bears on the question first. */
async function quoted(who: Person, query: string, { run, speech }: AnswerHelp) {
  const chunksFor = async (asked: string) =>
    Recalled.safeParse((await run('recall', { query: asked, limit: MOST_LOOKED_AT }, NONE)).data).data?.chunks ?? []
  const isNamed = ({ title, content, personId }: z.output<typeof Chunk>) => names(`${title} ${content}`, who) || personId === who.id
  const found = [...(await chunksFor(query)), ...(await chunksFor(who.displayName))].filter(isNamed)
  const chunks = [...new Map(found.map((chunk) => [chunk.id, chunk])).values()].slice(0, MOST_QUOTED)
  if (chunks.length === 0) return null
  const items = chunks.map(({ content }) => speech.say('quoted', { text: shortened(content) })).join(', ')
  return {
    text: speech.say('know_of_person', { name: who.displayName, items }),
    sources: chunks.map(({ id, title }) => ({ chunkId: id, title })),
  }
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

/** What is remembered of the people that a question names, with no conclusion drawn from it. */
export async function knownOf(help: AnswerHelp) {
  const who = help.household.persons.find((person) => names(help.text, person))
  return who ? quoted(who, help.text.slice(0, MAX_QUERY), help) : null
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
  if (!who) return (await recollect(text(query), help)) ?? help.speech.say('know_nothing', { query: text(query) })
  const known = await quoted(who, who.displayName, help)
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
    const [source] = help.lastSources
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
    const known = help.has('recall') ? await quoted(speaker, help.text.slice(0, MAX_QUERY), help) : null
    return known ?? speech.say('know_you_as', { name: speaker.displayName })
  },
  my_name: async (_, { speaker, speech }) => speech.say(speaker ? 'you_are' : 'know_nobody', { name: speaker?.displayName ?? '' }),
  async forget({ query }, help) {
    const found = await recollect(text(query), help)
    const [source] = found?.sources ?? []
    if (!source) return help.speech.say('forget_unknown', { query: text(query) })
    return forgetOne(source, help)
  },
  async forget_that(_, help) {
    const [source, ...others] = help.lastSources
    if (!source) return help.speech.say('forget_what')
    // Of several nobody can tell which was meant, and what is forgotten is gone.
    if (others.length > 0)
      return help.speech.say('forget_which', { titles: help.speech.list(help.lastSources.map(({ title }) => `“${title}”`)) })
    return forgetOne(source, help)
  },
  async why_known(_, { lastSources, describeSource, speech }) {
    const [source] = lastSources
    if (!source) return speech.say('why_nothing')
    const origin = await describeSource(source.chunkId)
    if (!origin) return speech.say('why_gone')
    return {
      text: speech.say('why_told', { day: speech.day(origin.observedAt), content: origin.content.slice(0, 500) }),
      sources: [source],
    }
  },
}
