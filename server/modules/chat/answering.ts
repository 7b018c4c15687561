import type { ActionCall } from '../../kit/actions.ts'
import type { Caller } from '../../kit/caller.ts'
import { AppError } from '../../kit/errors.ts'
import type { Logger } from '../../kit/log.ts'
import type { HouseholdService } from '../household/household.service.ts'
import type { Llm } from '../models/llm.ts'
import type { MessageSource, ToolCall } from './chat.contract.ts'
import type { MessageRow } from './chat.table.ts'
import type { Decisions } from './decisions.ts'
import { history, systemMessage, withMemory } from './prompt.ts'
import type { Tools } from './tools.ts'
import { yesOrNo } from './yes-or-no.ts'

/** A sentence that was understood without a model, and what came of it. */
export interface GrammarReply {
  text: string
  toolCalls: ToolCall[]
  sources: MessageSource[]
}

/** What understands sentences without a model. */
export interface Grammar {
  /** Does what the sentence asks for; null where it is not understood for certain. */
  answer(text: string, call: ActionCall & { lastSources: MessageSource[]; lastCalls: ToolCall[][] }): Promise<GrammarReply | null>
  /** A reply of the house in the language of the household, by its name. */
  say(reply: 'broken' | 'speechless' | 'done' | 'left_undone' | 'decide_each'): string
  /** An honest answer where nobody understood: what is known of it, or the nearest things that can be done. */
  notUnderstood(text: string, call: ActionCall): Promise<GrammarReply>
}

/** What is remembered, as far as it bears on what was said. */
export interface Recollection {
  /** A block for the prompt, empty where nothing bears on it, and which memories are in it. */
  forPrompt(caller: Caller, text: string): Promise<{ block: string; sources: MessageSource[] }>
}

/** The personality and the people’s own text. */
export interface HouseTexts {
  soul(): Promise<string>
  memory(): Promise<string>
}

export interface AnsweringDeps {
  llm: Llm
  grammar: Grammar
  recollection: Recollection
  texts: HouseTexts
  household: HouseholdService
  tools: Tools
  decisions: Decisions
  log: Logger
}

export interface Question {
  caller: Caller
  conversationId: string
  /** What was said so far, the person's message last. */
  said: MessageRow[]
  /** The answer that this one takes the place of, where something was done with it: that is kept, and nothing is done again. */
  before: MessageRow | null
  signal: AbortSignal
  onText(text: string): void
  /** Hears of a call, and again when it has ended, before the model does. */
  onCall(call: ToolCall): Promise<void>
  onSources(sources: MessageSource[]): void
}

export interface Answered {
  model: string
  aborted: boolean
}

/** For so long “undo” means what was done. */
const UNDO_MS = 10 * 60_000

/** Finds the answer to what was said: a decision that was waited for, the grammar, the model, and at last an honest word. */
export function createAnswering({ llm, grammar, recollection, texts, household, tools, decisions, log }: AnsweringDeps) {
  const textOf = ({ said }: Question) => said.at(-1)?.content ?? ''
  const callOf = ({ caller, conversationId, signal }: Question, origin: ActionCall['origin']): ActionCall => ({
    caller,
    origin,
    signal,
    conversationId,
  })

  /** What was done, while it can still be taken back by a word, answer by answer, the last one first. */
  function lastCallsOf({ said }: Question): ToolCall[][] {
    const isRecent = ({ role, createdAt }: MessageRow) => role === 'assistant' && Date.now() - Date.parse(createdAt) < UNDO_MS
    const acted = said.filter((message) => isRecent(message) && message.toolCalls?.some(({ status }) => status === 'done'))
    return acted.toReversed().map(({ toolCalls }) => toolCalls ?? [])
  }

  async function byDecision(question: Question): Promise<boolean> {
    const { caller, conversationId, signal } = question
    const waiting = decisions.waiting(conversationId)
    const [first] = waiting
    const approve = first ? yesOrNo(textOf(question)) : null
    if (!first || approve === null) return false
    if (!approve) {
      for (const { id } of waiting) await decisions.decide(caller, conversationId, id, false, signal)
      question.onText(grammar.say('left_undone'))
    } else if (waiting.length > 1) question.onText(grammar.say('decide_each'))
    else {
      const { output } = await decisions.decide(caller, conversationId, first.id, true, signal)
      question.onText(output ?? grammar.say('done'))
    }
    return true
  }

  async function byGrammar(question: Question): Promise<boolean> {
    // “forget that” means what was said last, and nothing that was spoken of before
    const lastSources = question.said.findLast(({ role, content }) => role === 'assistant' && content !== '')?.sources ?? []
    const call = { ...callOf(question, 'chat'), lastSources, lastCalls: lastCallsOf(question) }
    const reply = await grammar.answer(textOf(question), call).catch((err: unknown) => {
      log.error({ err }, 'what was understood could not be done')
      return { text: grammar.say('broken'), toolCalls: [], sources: [] }
    })
    if (!reply) return false
    for (const call of reply.toolCalls) await question.onCall(call)
    question.onSources(reply.sources)
    question.onText(reply.text)
    return true
  }

  async function byModel(question: Question): Promise<Answered> {
    const { caller, conversationId, said, before, signal } = question
    const outcomes: string[] = []
    let spoke = false
    const onText = (text: string) => {
      spoke ||= text.trim() !== ''
      question.onText(text)
    }
    const onCall = (call: ToolCall) => {
      if (call.output) outcomes.push(call.output)
      return question.onCall(call)
    }
    const house = household.get()
    const speaker = house.persons.find(({ id }) => id === caller.personId) ?? null
    // who lives here is for members to know
    const known = caller.scope === 'guest' ? (speaker ? [speaker] : []) : house.persons
    const [soul, notes] = await Promise.all([texts.soul(), caller.scope === 'guest' ? '' : texts.memory()])
    const { block, sources } = await recollection.forPrompt(caller, textOf(question))
    question.onSources(sources)
    const messages = [
      systemMessage({ soul, notes, household: house.household, persons: known, speaker }),
      ...withMemory(history(said, house.household), block),
    ]
    const functions = before ? [] : tools.functionsFor(conversationId, textOf(question), callOf(question, 'model'), onCall)
    const fairKey = caller.personId ?? caller.deviceId
    const { model, stopReason } = await llm.generate({ conversationId, fairKey, messages, functions, signal, onText })
    const aborted = stopReason === 'aborted'
    // Small models sometimes do what they were asked for and say nothing.
    if (!spoke && !aborted) question.onText(outcomes.join(' ') || grammar.say('speechless'))
    return { model, aborted }
  }

  return {
    /** Fails with what `Llm.generate` throws, but where no model is set up: then it says so itself. */
    async answer(question: Question): Promise<Answered> {
      for (const call of question.before?.toolCalls ?? []) await question.onCall(call)
      if (!question.before && ((await byDecision(question)) || (await byGrammar(question)))) return { model: 'grammar', aborted: false }
      try {
        return await byModel(question)
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'no_model')) throw error
        if (question.before) {
          question.onSources(question.before.sources ?? [])
          question.onText(question.before.content)
          return { model: question.before.model ?? 'none', aborted: false }
        }
        const { text, toolCalls, sources } = await grammar.notUnderstood(textOf(question), callOf(question, 'chat'))
        for (const call of toolCalls) await question.onCall(call)
        question.onSources(sources)
        question.onText(text)
        return { model: 'none', aborted: false }
      }
    },
  }
}

export type Answering = ReturnType<typeof createAnswering>
