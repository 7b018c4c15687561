import type { ActionCall } from '../../kit/actions.ts'
import type { Caller } from '../../kit/caller.ts'
import { AppError } from '../../kit/errors.ts'
import type { Logger } from '../../kit/log.ts'
import type { HouseholdService } from '../household/household.service.ts'
import type { Llm } from '../models/llm.ts'
import { askingWords, type Say } from './asking-words.ts'
import type { MessageSource, ToolCall } from './chat.contract.ts'
import type { MessageRow } from './chat.table.ts'
import type { Decisions } from './decisions.ts'
import { history, systemMessage, withMemory, withStanding } from './prompt.ts'
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
  answer(
    text: string,
    call: ActionCall & {
      lastSources: MessageSource[]
      lastModelReply: { question: string; content: string } | null
      lastCalls: ToolCall[][]
    },
  ): Promise<GrammarReply | null>
  /** A reply of the house in the language of the household, by its name. */
  say: ((reply: 'broken' | 'speechless' | 'done' | 'left_undone' | 'decide_each' | 'may_not_decide') => string) & Say
  /** What is known of what was asked, and nothing else; null where that is nothing. */
  known(text: string, call: ActionCall): Promise<GrammarReply | null>
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
  before: Before | null
  signal: AbortSignal
  onText(text: string): void
  /** Hears of a call, and again when it has ended, before the model does. */
  onCall(call: ToolCall): Promise<void>
  /** Keeps what is asked for those of these calls that still wait; `words` is what was asked, of the calls as they stand. */
  onAsk(ids: ReadonlySet<string>, wordsFor: (calls: readonly ToolCall[]) => string): Promise<{ words: string; calls: readonly ToolCall[] }>
  onSources(sources: MessageSource[]): void
}

/** What was answered before, and what was done with it. */
export interface Before extends Pick<MessageRow, 'content' | 'model' | 'sources'> {
  toolCalls: ToolCall[]
}

export interface Answered {
  model: string
  aborted: boolean
}

const NOTHING_ASKED = { words: '', calls: [] as readonly ToolCall[] }
/** What the house answered of its own. */
const OWN: ReadonlySet<string> = new Set(['grammar', 'none'])
/** For so long “undo” means what was done. */
const UNDO_MS = 10 * 60_000

/** Finds the answer to what was said: a decision that was waited for, the grammar, the model, and at last an honest word. */
export function createAnswering({ llm, grammar, recollection, texts, household, tools, decisions, log }: AnsweringDeps) {
  const textOf = ({ said }: Question) => said.findLast(({ role }) => role === 'user')?.content ?? ''
  const callOf = ({ caller, conversationId, said, signal }: Question, origin: ActionCall['origin']): ActionCall => {
    const message = said.findLast(({ role }) => role === 'user')
    return { caller, origin, signal, conversationId, ...(message && { messageId: message.id }) }
  }

  /** What was done, while it can still be taken back by a word, answer by answer, the last one first. */
  function lastCallsOf({ said }: Question): ToolCall[][] {
    const isRecent = ({ role, createdAt }: MessageRow) => role === 'assistant' && Date.now() - Date.parse(createdAt) < UNDO_MS
    const acted = said.filter((message) => isRecent(message) && message.toolCalls?.some(({ status }) => status === 'done'))
    return acted.toReversed().map(({ toolCalls }) => toolCalls ?? [])
  }

  async function byDecision(question: Question): Promise<Answered | null> {
    const { caller, conversationId, said, signal } = question
    const waiting = decisions.waiting(conversationId)
    const [first] = waiting
    const approve = first ? yesOrNo(textOf(question)) : null
    if (!first || approve === null) return null
    const plainly = (text: string): Answered => {
      question.onText(text)
      return { model: 'grammar', aborted: false }
    }
    if (approve && waiting.length > 1) return plainly(grammar.say('decide_each'))
    // of several, all or none
    if (!waiting.every(({ name }) => tools.mayDecide(name, caller))) return plainly(grammar.say('may_not_decide'))
    try {
      if (!approve) {
        for (const { id } of waiting) await decisions.decide(caller, conversationId, id, false, signal)
        return plainly(grammar.say('left_undone'))
      }
      const { messageId, ...done } = await decisions.decide(caller, conversationId, first.id, true, signal)
      const now = (row: MessageRow): MessageRow =>
        row.id === messageId ? { ...row, toolCalls: row.toolCalls?.map((call) => (call.id === done.id ? done : call)) ?? null } : row
      return await tellOutcome({ ...question, said: said.map(now) }, done)
    } catch (error) {
      if (error instanceof AppError && error.status === 403) return plainly(grammar.say('may_not_decide'))
      throw error
    }
  }

  /** What came of a decision, in the model's words, or where it has none in those of what was done. */
  async function tellOutcome(question: Question, { status, output }: ToolCall): Promise<Answered> {
    let spoke = false
    const onText = (text: string) => {
      spoke = true
      question.onText(text)
    }
    const plainly = status === 'declined' ? grammar.say('left_undone') : (output ?? grammar.say('done'))
    if (status !== 'declined') {
      try {
        const answered = await byModel({ ...question, onText }, { mayAct: false, wordless: plainly })
        if (spoke) return answered
      } catch (error) {
        if (spoke || !(error instanceof AppError)) throw error
      }
    }
    question.onSources([])
    question.onText(plainly)
    return { model: 'grammar', aborted: false }
  }

  async function byGrammar(question: Question): Promise<boolean> {
    // “forget that” means what was said last, and nothing that was spoken of before
    const at = question.said.findLastIndex(({ role, content }) => role === 'assistant' && content !== '')
    const last = question.said[at]
    const isModels = last?.model && !OWN.has(last.model)
    const asked = question.said.slice(0, Math.max(0, at)).findLast(({ role }) => role === 'user')
    const call = {
      ...callOf(question, 'chat'),
      lastSources: last?.sources ?? [],
      lastModelReply: isModels ? { question: asked?.content ?? '', content: last.content } : null,
      lastCalls: lastCallsOf(question),
    }
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

  /** `wordless` is said where the model says nothing. */
  async function byModel(question: Question, { mayAct = true, wordless }: { mayAct?: boolean; wordless?: string } = {}): Promise<Answered> {
    const { caller, conversationId, said, before, signal } = question
    const outcomes: string[] = []
    const asking = new Set((before?.toolCalls ?? []).filter(({ status }) => status === 'asking').map(({ id }) => id))
    let spoke = false
    const onText = (text: string) => {
      spoke ||= text.trim() !== ''
      question.onText(text)
    }
    const onCall = (call: ToolCall) => {
      if (call.output) outcomes.push(call.output)
      if (call.status === 'asking') asking.add(call.id)
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
      ...withMemory(withStanding(history(said, house.household), before?.toolCalls ?? []), block),
    ]
    const request = { conversationId, text: textOf(question), call: callOf(question, 'model'), standing: before?.toolCalls ?? [] }
    const functions = mayAct ? await tools.functionsFor(request, onCall) : []
    const fairKey = caller.personId ?? caller.deviceId
    const { model, stopReason } = await llm.generate({ conversationId, fairKey, messages, functions, signal, onText })
    const aborted = stopReason === 'aborted'
    if (aborted) return { model, aborted }
    // The house itself asks for what waits: whatever the model said, a word is about that and about nothing else.
    const { words, calls } = asking.size > 0 ? await question.onAsk(asking, (calls) => askingWords(calls, grammar.say)) : NOTHING_ASKED
    outcomes.push(...calls.flatMap(({ status, output }) => (status === 'done' && output) || []))
    if (words !== '') question.onText(spoke ? `\n\n${words}` : words)
    // Small models sometimes do what they were asked for and say nothing.
    else if (!spoke) question.onText(wordless ?? (outcomes.join(' ') || grammar.say('speechless')))
    return { model, aborted }
  }

  return {
    /** Fails with what `Llm.generate` throws, but where no model is set up: then it says so itself. */
    async answer(question: Question): Promise<Answered> {
      const decided = question.before ? null : await byDecision(question)
      if (decided) return decided
      if (!question.before && (await byGrammar(question))) return { model: 'grammar', aborted: false }
      let began = false
      const hearing: Question = {
        ...question,
        onText(text) {
          began = true
          question.onText(text)
        },
        onCall(call) {
          began = true
          return question.onCall(call)
        },
      }
      try {
        return await byModel(hearing)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (error.code === 'model_unavailable' && !began && !question.before) {
          const known = await grammar.known(textOf(question), callOf(question, 'chat'))
          if (!known) throw error
          for (const call of known.toolCalls) await question.onCall(call)
          question.onSources(known.sources)
          question.onText(known.text)
          return { model: 'grammar', aborted: false }
        }
        if (error.code !== 'no_model') throw error
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

    /** Tells what came of a call that a person decided on; `said` ends with the answer that it is in. */
    tellOutcome,
  }
}

export type Answering = ReturnType<typeof createAnswering>
