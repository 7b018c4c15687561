import { AppError } from '../../../kit/errors.ts'
import type { LlmMessage } from '../llm.ts'

/** The user's message alone leaves no room for a reply. */
export const tooLarge = () => new AppError(413, 'too_large', 'This message is too long for the language model.')

/** The leading system messages, what was said, and the last message. */
function parts(messages: readonly LlmMessage[]) {
  const start = messages.findIndex((message) => message.role !== 'system')
  const from = start === -1 ? messages.length : start
  return { system: messages.slice(0, from), said: messages.slice(from, -1), last: messages.slice(from).slice(-1) }
}

/** Groups into turns, each beginning with a user's message, so that history never begins with half of one. */
function turnsOf(said: readonly LlmMessage[]): LlmMessage[][] {
  const turns: LlmMessage[][] = []
  for (const message of said) {
    const turn = turns.at(-1)
    if (turn === undefined || message.role === 'user') turns.push([message])
    else turn.push(message)
  }
  return turns
}

export interface TokenCount {
  /** Of messages as the model will see them. */
  whole(messages: readonly LlmMessage[]): number
  /** About what one message adds. */
  one(message: LlmMessage): number
}

/**
 * Drops the oldest turns until what remains is within `limit` tokens, keeping system and last message. Dropping goes in steps of a
 * quarter of the limit, counted from the beginning of the conversation, so that from turn to turn mostly nothing changes at the front
 * and the evaluated prefix stays usable. Throws `tooLarge` where even the two alone do not fit.
 */
export function fitHistory(messages: readonly LlmMessage[], limit: number, count: TokenCount): LlmMessage[] {
  if (count.whole(messages) <= limit) return [...messages]
  const { system, said, last } = parts(messages)
  const fixed = count.whole([...system, ...last])
  if (fixed > limit) throw tooLarge()
  const turns = turnsOf(said)
  const sizes = turns.map((turn) => turn.reduce((sum, message) => sum + count.one(message), 0))
  const total = sizes.reduce((sum, size) => sum + size, fixed)
  const step = Math.max(1, Math.floor(limit / 4))
  const excess = Math.ceil((total - limit) / step) * step
  let dropped = 0
  let first = 0
  while (dropped < excess && first < turns.length) dropped += sizes[first++]!
  const kept = () => [...system, ...turns.slice(first).flat(), ...last]
  // the parts are counted roughly
  while (first < turns.length && count.whole(kept()) > limit) first++
  return kept()
}

/** As many chat templates want it: no empty messages, user and assistant in turn. */
export function alternating(messages: readonly LlmMessage[]): LlmMessage[] {
  const merged: LlmMessage[] = []
  for (const message of messages) {
    const before = merged.at(-1)
    if (message.content === '') continue
    if (before?.role === message.role) before.content += `\n\n${message.content}`
    else merged.push({ ...message })
  }
  return merged
}
