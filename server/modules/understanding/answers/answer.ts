import type { ActionCall, ActionResult } from '../../../kit/actions.ts'
import type { MessageSource, ToolCall } from '../../chat/chat.contract.ts'
import type { Household, Person } from '../../household/household.contract.ts'
import type { Speech } from '../speech.ts'
import type { UnderstandingNames } from '../understood.ts'
import type { ModelReply } from '../used-sources.ts'

/** Where something remembered came from. */
export interface SourceOrigin {
  content: string
  observedAt: string
}

/** What an answer may use. */
export interface AnswerHelp {
  /** As it was said. */
  text: string
  speech: Speech
  names: UnderstandingNames
  household: { household: Household; persons: Person[] }
  speaker: Person | null
  lastSources: readonly MessageSource[]
  /** The last answer where a model gave it: what it was told is no reason to take it for what its answer rests on. */
  lastModelReply: ModelReply | null
  /** What was done in this conversation not long ago, answer by answer, the last one first. */
  lastCalls: readonly (readonly ToolCall[])[]
  call: ActionCall
  /** Whether there is such an action and this caller may have it done. */
  has(action: string): boolean
  /** Throws `Missing` where there is no such action, else what the registry throws. Every run is shown with the reply. */
  run(action: string, params: Record<string, unknown>, missing: string): Promise<ActionResult>
  /** Lets a run wait for a yes or no; the answer has to end with the question. */
  ask(name: string, params: Record<string, unknown>, about: string, question: string): void
  /** In English what the action says of itself; else our own words for it. */
  told(result: ActionResult, key: string, values?: Record<string, string | number>): string
  describeSource(chunkId: string): Promise<SourceOrigin | null>
}

export type Slots = Readonly<Record<string, unknown>>

/** Null where the house knows no answer and a model may. */
export type Answer = (slots: Slots, help: AnswerHelp) => Promise<string | { text: string; sources: MessageSource[] } | null>

export type Answers = Readonly<Record<string, Answer>>

/** There is nothing yet that could do it; `reply` names the sentence that says so. */
export class Missing extends Error {
  readonly reply: string

  constructor(reply: string) {
    super(reply)
    this.reply = reply
  }
}

export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
export const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
/** The entries of an object that are there. */
export const given = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== ''))
