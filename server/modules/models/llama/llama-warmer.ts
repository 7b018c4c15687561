import type { ChatSessionModelFunctions, Token } from 'node-llama-cpp'
import type { LlmMessage } from '../llm.ts'
import type { LlamaSlot } from './llama-load.ts'
import type { Prefill } from './llama-prefill.ts'
import type { Prompts } from './llama-prompt.ts'

/** How long the model must be idle before the next conversation's slot is made ready. */
const AFTER_MS = 1_000

/** Keeps one unused slot with the beginning of every conversation evaluated, so that a new one does not pay for it. */
export interface Warmer {
  /** After a reply to `messages`; does nothing while others are on their way. */
  soon(messages: readonly LlmMessage[], functions: ChatSessionModelFunctions | undefined): void
  /** Resolves when the slot is free for real work, within one slice. */
  stop(): Promise<void>
}

interface WarmerDeps {
  slots: readonly LlamaSlot[]
  prefill: Prefill
  prompts: Prompts
  onLog(line: string): void
}

export function createWarmer({ slots, prefill, prompts, onLog }: WarmerDeps): Warmer {
  let running = Promise.resolve()
  let stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined

  const beginning = (messages: readonly LlmMessage[], functions: ChatSessionModelFunctions | undefined): Token[] => {
    const system = messages.filter((message) => message.role === 'system')
    const [one, other] = ['a', 'b'].map((content) => prompts.render([...system, { role: 'user', content }], functions))
    return one!.slice(
      0,
      one!.findIndex((token, index) => token !== other![index]),
    )
  }

  const warm = async (common: readonly Token[], signal: AbortSignal) => {
    const spare = slots.find((slot) => slot.conversationId === null)
    if (spare && spare.sharedPrefix(common) < common.length) await prefill.runAll(spare.sequence, common, signal)
  }

  return {
    soon(messages, functions) {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (slots.some((slot) => slot.busy)) return
        stopping = new AbortController()
        running = warm(beginning(messages, functions), stopping.signal).catch((error: unknown) => onLog(`warming: ${String(error)}`))
      }, AFTER_MS)
    },
    async stop() {
      clearTimeout(timer)
      stopping.abort()
      await running
    },
  }
}
