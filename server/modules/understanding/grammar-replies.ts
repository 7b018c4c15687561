import { randomUUID } from 'node:crypto'
import { type ActionCall, type ActionRegistry, mayRun } from '../../kit/actions.ts'
import type { Caller } from '../../kit/caller.ts'
import { AppError, saidOf } from '../../kit/errors.ts'
import type { MessageSource, ToolCall } from '../chat/chat.contract.ts'
import type { Household, Person } from '../household/household.contract.ts'
import { type AnswerHelp, type Answers, Missing, type SourceOrigin } from './answers/answer.ts'
import { calendarAnswers } from './answers/calendar.ts'
import { factAnswers } from './answers/facts.ts'
import { listAnswers } from './answers/lists.ts'
import { mediaAnswers } from './answers/media.ts'
import { knownOf, memoryAnswers, recollect } from './answers/memory.ts'
import { talkAnswers } from './answers/talk.ts'
import { thingAnswers } from './answers/things.ts'
import { timerAnswers } from './answers/timers.ts'
import { undoAnswers } from './answers/undo.ts'
import { emergencyNumbers } from './emergency-numbers.ts'
import { isForGuests, isIntentForGuests } from './guest-intents.ts'
import { isThere } from './offers.ts'
import { SMALL_TALK } from './small-talk.ts'
import { createSpeech, type Speech } from './speech.ts'
import type { Understanding } from './understanding.ts'
import type { UnderstandingContext, UnderstandingNames } from './understood.ts'
import type { ModelReply } from './used-sources.ts'

export interface GrammarReply {
  intent: string
  text: string
  toolCalls: ToolCall[]
  /** The memories it rests on, for asking back. */
  sources: MessageSource[]
  /** False where the question might have been about something else. */
  sure: boolean
}

export interface GrammarRepliesDeps {
  understanding: Understanding
  actions: ActionRegistry
  household: { get(): { household: Household; persons: Person[] } }
  /** What the things of the house are called, as far as this caller may know. */
  names(caller: Caller): UnderstandingNames
  /** Where a memory came from; null, or a failure with 404, where it is gone or not for this caller. */
  describeSource(chunkId: string, call: ActionCall): Promise<SourceOrigin | null>
  now?: () => Date
}

type Asked = ActionCall & {
  lastSources?: readonly MessageSource[]
  lastModelReply?: ModelReply | null
  lastCalls?: readonly (readonly ToolCall[])[]
}

export type GrammarReplies = ReturnType<typeof createGrammarReplies>

const ANSWERS: Answers = {
  ...timerAnswers,
  ...listAnswers,
  ...calendarAnswers,
  ...memoryAnswers,
  ...mediaAnswers,
  ...thingAnswers,
  ...factAnswers,
  ...undoAnswers,
  ...talkAnswers,
}

/** What is said of danger in these is to be kept, or told to others. */
const KEPT: ReadonlySet<string> = new Set([
  'remember',
  'remind',
  'todo_add',
  'list_add',
  'event_add',
  'forget',
  'recall_about',
  'media_play',
])
const MOST_SENTENCES = 10
const MAX_QUESTION = 1_000
const TOLD: ReadonlySet<string> = new Set(['announce', 'tell_person'])

/** Does what sentences ask for and says so, without any model. */
export function createGrammarReplies({
  understanding,
  actions,
  household,
  names,
  describeSource,
  now = () => new Date(),
}: GrammarRepliesDeps) {
  function contextOf(caller: Caller): UnderstandingContext & { speakerPerson: Person | null } {
    const house = household.get()
    const speaker = house.persons.find(({ id }) => id === caller.personId) ?? null
    return {
      locale: house.household.locale,
      timezone: house.household.timezone,
      now: now(),
      names: names(caller),
      ...(speaker && { speaker: { id: speaker.id, name: speaker.displayName } }),
      speakerPerson: speaker,
    }
  }

  /** Guests do not see who lives here; they know themselves. */
  function houseFor({ scope, personId }: Caller) {
    const { household: home, persons } = household.get()
    return { household: home, persons: scope === 'guest' ? persons.filter(({ id }) => id === personId) : persons }
  }

  /** What an answer may use, and the runs it makes of that. */
  function helpFor(text: string, call: Asked, context: ReturnType<typeof contextOf>, speech: Speech) {
    const toolCalls: ToolCall[] = []
    const help: AnswerHelp = {
      text,
      speech,
      names: context.names,
      household: houseFor(call.caller),
      speaker: context.speakerPerson,
      lastSources: call.lastSources ?? [],
      lastModelReply: call.lastModelReply ?? null,
      lastCalls: call.lastCalls ?? [],
      call,
      has(action) {
        const spec = actions.find(action)
        return spec !== undefined && mayRun(spec, call.caller)
      },
      async run(name, params, missing) {
        if (!actions.find(name)) throw new Missing(missing)
        const shown = { id: randomUUID(), name, params }
        try {
          const result = await actions.run(name, params, call)
          toolCalls.push({ ...shown, status: 'done', output: result.output, ...(result.data !== undefined && { data: result.data }) })
          return result
        } catch (error) {
          if (error instanceof AppError) toolCalls.push({ ...shown, status: 'failed', output: saidOf(error) })
          throw error
        }
      },
      ask(name, params, about, question) {
        toolCalls.push({ id: randomUUID(), name, params, status: 'asking', output: null, about, question })
      },
      told: ({ output }, key, values) => (speech.language === 'en' ? output : speech.say(key, values)),
      async describeSource(chunkId) {
        try {
          return await describeSource(chunkId, call)
        } catch (error) {
          if (error instanceof AppError && error.status === 404) return null
          throw error
        }
      },
    }
    return { help, toolCalls }
  }

  /** What several sentences want to have remembered; null where they do not all want that. */
  function toRemember(text: string, context: UnderstandingContext): unknown[] | null {
    const sentences = text.split(/(?<=[.!])\s+/).slice(0, MOST_SENTENCES + 1)
    if (sentences.length < 2 || sentences.length > MOST_SENTENCES) return null
    const understood = sentences.map((sentence) => understanding.understand(sentence, context))
    return understood.every((each) => each?.intent === 'remember') ? understood.map((each) => each?.slots.content) : null
  }

  /** Whom to call, where somebody is in danger: the house cannot. */
  function urgentReply(text: string, context: UnderstandingContext): GrammarReply | null {
    const urgent = understanding.urgency(text, context.locale)
    if (!urgent) return null
    const speech = createSpeech(understanding.languageFor(context.locale, urgent.language), context, now)
    const { call, talk } = emergencyNumbers(context)
    const key = urgent.kind === 'harm' && talk ? 'urgent_harm_talk' : `urgent_${urgent.kind}`
    const said = speech.say(key, { number: call ?? speech.say('emergency_number'), talk: talk ?? '' })
    return { intent: 'urgent', text: said, toolCalls: [], sources: [], sure: true }
  }

  /** What is known of whom or what a question is about; null where it is none, or nothing is known for certain. */
  async function knownAbout(text: string, call: ActionCall): Promise<Omit<GrammarReply, 'intent' | 'sure'> | null> {
    const context = contextOf(call.caller)
    const understood = understanding.understand(text, context)
    if (call.caller.scope === 'guest' || !(understood?.maybe || understanding.isQuestion(text, context.locale))) return null
    const speech = createSpeech(understanding.languageFor(context.locale, understood?.language), context, now)
    const { help, toolCalls } = helpFor(text, call, context, speech)
    const known = help.has('recall') ? ((await knownOf(help)) ?? (await recollect(text.slice(0, MAX_QUESTION), help))) : null
    return known && { ...known, toolCalls }
  }

  return {
    known: knownAbout,
    /** Null where it is not understood, or where it may be and the house knows nothing of it. */
    async answer(text: string, call: Asked): Promise<GrammarReply | null> {
      await understanding.prepare()
      const context = contextOf(call.caller)
      const understood = understanding.understand(text, context)
      const urgent = understood && KEPT.has(understood.intent) ? null : urgentReply(text, context)
      const answer = understood && ANSWERS[understood.intent]
      if (!understood || !answer || (urgent && !TOLD.has(understood.intent))) return urgent
      const speech = createSpeech(understanding.languageFor(context.locale, understood.language), context, now)
      const { intent, slots, maybe } = understood
      if (call.caller.scope === 'guest' && !isForGuests(understood))
        return maybe ? null : (urgent ?? { intent, text: speech.say('not_allowed'), toolCalls: [], sources: [], sure: true })
      const { help, toolCalls } = helpFor(text, call, context, speech)

      /** What went wrong, kindly. */
      function sorry(error: unknown): string {
        if (error instanceof Missing) return speech.say(error.reply)
        if (!(error instanceof AppError)) throw error
        if (error.code === 'forbidden' && call.caller.scope === 'guest') return speech.say('not_allowed')
        if (speech.language === 'en') return saidOf(error)
        return speech.say(error.status === 404 ? 'not_found' : 'failed')
      }

      try {
        const contents = intent === 'remember' ? toRemember(text, context) : null
        const said = await answer(contents ? { ...slots, contents } : slots, help)
        if (said === null) return null
        const reply = typeof said === 'string' ? { text: said, sources: [] } : said
        return { intent, ...reply, text: urgent ? `${reply.text} ${urgent.text}` : reply.text, toolCalls, sure: !maybe }
      } catch (error) {
        // What a model may know better is not refused here.
        if (maybe && (error instanceof Missing || (error instanceof AppError && error.status === 403))) return null
        return { intent, text: urgent?.text ?? sorry(error), toolCalls, sources: [], sure: !maybe }
      }
    },
    /** A reply that needs nothing to be known but its values, in the household's language. */
    say(reply: string, values?: Readonly<Record<string, string>>): string {
      const { household: home } = household.get()
      return createSpeech(understanding.languageFor(home.locale), home, now).say(reply, values)
    },
    /** What is known of whom was spoken of, or an honest word, with the nearest sentences that would be understood. */
    async notUnderstood(text: string, call: ActionCall): Promise<Omit<GrammarReply, 'intent' | 'sure'>> {
      const { caller } = call
      const context = contextOf(caller)
      const understood = understanding.understand(text, context)
      const speech = createSpeech(understanding.languageFor(context.locale, understood?.language), context, now)
      const isGuest = caller.scope === 'guest'
      const plainly = (reply: string) => ({ text: speech.say(reply), toolCalls: [], sources: [] })
      if (understood && SMALL_TALK.has(understood.intent)) return plainly(understood.intent)
      const isAsked = understanding.isQuestion(text, context.locale)
      const known = await knownAbout(text, call)
      if (known) return known
      if (understood?.intent === 'look_up' || (isAsked && !understood)) return plainly(isGuest ? 'cannot_look_up_guest' : 'cannot_look_up')
      if (understood?.maybe) return plainly(isGuest ? 'unknown_to_guests' : 'unknown_here')
      const has = (action: string) => {
        const spec = actions.find(action)
        return spec !== undefined && mayRun(spec, caller)
      }
      const examples = understanding
        .suggest(text, context, (intent) => (!isGuest || isIntentForGuests(intent)) && isThere(intent, context.names, has))
        .map((example) => speech.say('quoted', { text: example }))
      if (examples.length === 0) return plainly('not_understood_plainly')
      return { text: speech.say('not_understood', { examples: speech.list(examples) }), toolCalls: [], sources: [] }
    },
  }
}
