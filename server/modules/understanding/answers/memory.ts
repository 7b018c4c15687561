import { z } from 'zod'
import type { MessageSource } from '../../chat/chat.contract.ts'
import { type AnswerHelp, type Answers, type Slots, text } from './answer.ts'

const NONE = 'cannot_memory'
const Chunk = z.object({ id: z.string(), title: z.string(), content: z.string(), observedAt: z.string() })
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

async function recallAbout({ query }: Slots, help: AnswerHelp) {
  return (await recollect(text(query), help)) ?? help.speech.say('know_nothing', { query: text(query) })
}

export const memoryAnswers: Answers = {
  async remember({ content }, help) {
    const result = await help.run('remember', { content }, NONE)
    const chunk = Remembered.safeParse(result.data).data?.chunk
    return {
      text: help.told(result, 'remembered', { content: text(content) }),
      sources: chunk ? [{ chunkId: chunk.id, title: chunk.title }] : [],
    }
  },
  /** The whole question finds more than the piece of it that was captured. */
  recall: (_, help) => recollect(help.text.replaceAll(/\s+/g, ' ').trim().slice(0, 1_000), help),
  recall_about: recallAbout,
  async recall_me(_, help) {
    const name = help.speaker?.displayName
    return (name && (await recollect(name, help))) || help.speech.say(name ? 'know_you_as' : 'know_nobody', { name: name ?? '' })
  },
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
