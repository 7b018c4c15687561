import type { MessageSource } from '../chat/chat.contract.ts'
import { fold } from './tokens.ts'

/** What a model answered to a question. */
export interface ModelReply {
  question: string
  content: string
}

/** Of the words of a memory that the question did not have, so many must stand in the answer. */
const TOLD = 0.6
const MAX_TEXT = 10_000
const MAX_SENTENCES = 50
const SHORT = 3
const COMMON = new Set(
  'with from that this have been were will they them their your when what where which there auch eine oder sind'.split(' '),
)

/** The words of a text that say something, and all its numbers. */
function tellingWords(text: string): Set<string> {
  const words = text.slice(0, MAX_TEXT).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return new Set(words.map(fold).filter((word) => /\p{N}/u.test(word) || (word.length > SHORT && !COMMON.has(word))))
}

/** Whether an answer clearly tells what stands in a memory, beyond what was asked: what was only told to the model is not in it. */
export function isTold(memory: string, { question, content }: ModelReply): boolean {
  const asked = tellingWords(question)
  const said = tellingWords(content)
  return memory
    .slice(0, MAX_TEXT)
    .split(/(?<=[.!?])\s+|[\r\n]+/, MAX_SENTENCES)
    .some((sentence) => {
      const own = [...tellingWords(sentence)].filter((word) => !asked.has(word))
      return own.length > 0 && own.filter((word) => said.has(word)).length / own.length >= TOLD
    })
}

/** The memories that an answer rests on: of the house’s own all it names, of a model’s those whose words are clearly in it. */
export async function usedSources(
  sources: readonly MessageSource[],
  reply: ModelReply | null,
  describe: (chunkId: string) => Promise<{ content: string } | null>,
): Promise<MessageSource[]> {
  if (!reply) return [...sources]
  const used: MessageSource[] = []
  for (const source of sources) {
    const origin = await describe(source.chunkId)
    if (origin && isTold(origin.content, reply)) used.push(source)
  }
  return used
}
