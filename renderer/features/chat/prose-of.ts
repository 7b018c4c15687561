import type { ToolCall } from '../../../server/modules/chat/chat.contract.ts'

/** What a reply says, without the question at its end that the card of a call asks too. */
export function proseOf(content: string, calls: readonly ToolCall[]): string {
  const asked = calls.find(({ question }) => question && content.endsWith(question))?.question
  return asked ? content.slice(0, -asked.length).trimEnd() : content
}
