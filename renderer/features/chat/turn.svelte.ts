import type { Message, MessageSource, ToolCall } from '../../../server/modules/chat/chat.contract.ts'
import type { ChatFailure } from './chat-failure.ts'

/**
 * How far a turn has come. `sending` and `unsent` are a person's, before the server took the message and after it did
 * not; `streaming` is a reply being written; the rest is the server's word.
 */
export type TurnState = 'sending' | 'unsent' | 'streaming' | Message['status']

let keys = 0

/** Something said in a talk, by a person or the assistant, as the page shows it. */
export class Turn {
  /** Stays the same when the server gives the message its id, so that nothing on the page is built anew. */
  readonly key = `turn-${keys++}`
  readonly role: 'user' | 'assistant'
  id = $state.raw<string | null>(null)
  content = $state('')
  state = $state<TurnState>('complete')
  createdAt = $state('')
  /** What was done, or is asked for, with it. */
  calls = $state.raw<readonly ToolCall[]>([])
  /** The memories it rests on. */
  sources = $state.raw<readonly MessageSource[]>([])
  /** What went wrong with it last, until it is tried again. */
  failure = $state.raw<ChatFailure | null>(null)

  constructor(role: 'user' | 'assistant', content: string, state: TurnState) {
    this.role = role
    this.content = content
    this.state = state
    this.createdAt = new Date().toISOString()
  }

  /** Takes over what the server has stored of it, unless that lags behind what was already read of a broken reply. */
  adopt(message: Message): this {
    this.id = message.id
    this.state = message.status
    this.createdAt = message.createdAt
    this.calls = message.toolCalls ?? []
    this.sources = message.sources ?? []
    if (message.status === 'complete' || message.content.length > this.content.length) this.content = message.content
    return this
  }
}

/** A second reply that was given up before its first word: the one before it still stands. */
const isEmptyTry = (message: Message, before: Message | undefined) =>
  message.role === 'assistant' && before?.role === 'assistant' && message.status !== 'complete' && message.content === ''

/**
 * The turns of a talk after the server told what it has stored. Turns keep their identity; what the server does not
 * know stays at the end where it never had it, or where it is `fresh` and may not be stored yet.
 */
export function mergeTurns(turns: Turn[], messages: Message[], fresh: Turn | null): Turn[] {
  const unmatched = new Set(turns)
  const take = (message: Message) => {
    for (const turn of unmatched) {
      if (turn.id === message.id || (turn.id === null && turn.role === message.role && turn.content === message.content)) {
        unmatched.delete(turn)
        return turn
      }
    }
    return new Turn(message.role === 'user' ? 'user' : 'assistant', message.content, message.status)
  }
  const said = messages.filter(({ role }) => role !== 'tool')
  const shown = said.filter((message, index) => !isEmptyTry(message, said[index - 1]))
  const merged = shown.map((message) => take(message).adopt(message))
  return [...merged, ...[...unmatched].filter((turn) => turn.id === null || turn === fresh)]
}
