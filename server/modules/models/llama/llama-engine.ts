import type { ChatSessionModelFunctions, LLamaChatPromptOptions, Token } from 'node-llama-cpp'
import type { GenerateResult, LlmMessage } from '../llm.ts'
import { alternating, fitHistory } from './llama-history.ts'
import { type LlamaSlot, type LoadedLlama, loadLlama } from './llama-load.ts'
import { createPrefill } from './llama-prefill.ts'
import { type CallFunction, chatHistory, createPrompts, functionsOf } from './llama-prompt.ts'
import type { GenerateOrder, LoadOrder } from './llama-protocol.ts'
import { pickSlot } from './llama-slots.ts'
import { createWarmer } from './llama-warmer.ts'

export interface GenerateHooks {
  signal: AbortSignal
  onText(text: string): void
  call: CallFunction
}

export type Generated = Pick<GenerateResult, 'stopReason' | 'usage'>

/** A loaded model that generates in several slots at once; no more generations than slots may run. */
export interface LlamaEngine {
  /** Of each slot. */
  contextTokens: number
  generate(order: GenerateOrder, hooks: GenerateHooks): Promise<Generated>
}

/** What a chat template writes around a message, about. */
const TURN_TOKENS = 8

interface Reply {
  messages: readonly LlmMessage[]
  options: LLamaChatPromptOptions
  signal: AbortSignal
  onText(text: string): void
}

/** Says how the reply ended; `cut` when the signal aborted, also before the first token. */
async function reply({ session }: LlamaSlot, { messages, options, signal, onText }: Reply): Promise<'end' | 'length' | 'cut'> {
  session.setChatHistory(chatHistory(messages.slice(0, -1)))
  try {
    const { stopReason } = await session.promptWithMeta(messages.at(-1)!.content, {
      ...options,
      signal,
      stopOnAbortSignal: true,
      onTextChunk: (text) => {
        if (text !== '') onText(text)
      },
    })
    // aborted during a call, the library names the call
    if (stopReason === 'abort' || stopReason === 'functionCalls') return 'cut'
    return stopReason === 'maxTokens' ? 'length' : 'end'
  } catch (error) {
    if (signal.aborted) return 'cut'
    throw error
  }
}

function createEngine(loaded: LoadedLlama, onLog: (line: string) => void): LlamaEngine {
  const { slots, context, model } = loaded
  const prompts = createPrompts(loaded)
  const prefill = createPrefill()
  const warmer = createWarmer({ slots, prefill, prompts, onLog })
  let uses = 0

  const fitted = (order: GenerateOrder, functions: ChatSessionModelFunctions | undefined) => {
    const reserve = Math.min(order.maxTokens, Math.floor(context.contextSize / 4))
    return fitHistory(alternating(order.messages), context.contextSize - reserve - 1, {
      whole: (messages) => prompts.render(messages, functions).length,
      one: ({ content }) => model.tokenize(content).length + TURN_TOKENS,
    })
  }

  const take = (conversationId: string, prompt: readonly Token[]) => {
    const slot = pickSlot(slots, conversationId, prompt)
    if (!slot) throw new Error('More generations than slots')
    return Object.assign(slot, { busy: true, conversationId, lastUse: ++uses })
  }

  return {
    contextTokens: context.contextSize,
    async generate(order, hooks) {
      const functions = functionsOf(order, hooks.call)
      const sampling = await prompts.sampling(order, functions)
      await warmer.stop()
      const messages = fitted(order, functions)
      const prompt = prompts.render(messages, functions)
      const slot = take(order.conversationId, prompt)
      const meter = slot.sequence.tokenMeter.getState()
      const signal = AbortSignal.any([hooks.signal, AbortSignal.timeout(order.maxMs)])
      const options = { ...sampling, maxTokens: Math.min(order.maxTokens, context.contextSize - prompt.length - 1) }
      try {
        await prefill.run(slot.sequence, prompt, signal)
        const ended = signal.aborted ? 'cut' : await reply(slot, { messages, options, signal, onText: hooks.onText })
        const { usedInputTokens, usedOutputTokens } = slot.sequence.tokenMeter.diff(meter)
        // the meter counts the prompt's last token as output, since the first token came out of it
        const evaluatedTokens = usedInputTokens + Math.min(1, usedOutputTokens)
        return {
          stopReason: ended === 'cut' ? (hooks.signal.aborted ? 'aborted' : 'length') : ended,
          usage: { promptTokens: prompt.length, evaluatedTokens, replyTokens: usedOutputTokens },
        }
      } finally {
        slot.busy = false
        warmer.soon(messages, functions)
      }
    },
  }
}

/** Loads the model of a GGUF file; `onLog` receives the native library's warnings. */
export async function loadLlamaEngine(order: LoadOrder, onLog: (line: string) => void): Promise<LlamaEngine> {
  return createEngine(await loadLlama(order, onLog), onLog)
}
