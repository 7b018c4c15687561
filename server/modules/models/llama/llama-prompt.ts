import type { ChatHistoryItem, ChatSessionModelFunctions, LLamaChatPromptOptions, LlamaGrammar, Token } from 'node-llama-cpp'
import type { LlmMessage } from '../llm.ts'
import type { LoadedLlama } from './llama-load.ts'
import type { GenerateOrder } from './llama-protocol.ts'
import { grammarSchema, withoutNulls } from './llama-schema.ts'

const MOST_GRAMMARS = 32

/** Runs a function where its handler lives; never rejects. */
export type CallFunction = (name: string, params: unknown) => Promise<unknown>

export interface Prompts {
  /** The tokens a reply to `messages` begins after, functions included. */
  render(messages: readonly LlmMessage[], functions: ChatSessionModelFunctions | undefined): Token[]
  sampling(order: GenerateOrder, functions: ChatSessionModelFunctions | undefined): Promise<LLamaChatPromptOptions>
}

/** Messages as the library's chat templates take them. */
export function chatHistory(messages: readonly LlmMessage[]): ChatHistoryItem[] {
  return messages.map(({ role, content }) => {
    if (role === 'assistant') return { type: 'model', response: [content] }
    return { type: role, text: content }
  })
}

/** The functions of an order, or undefined where it has none. */
export function functionsOf(order: GenerateOrder, call: CallFunction): ChatSessionModelFunctions | undefined {
  if (!order.functions?.length) return undefined
  const functions = order.functions.map(({ name, description, parameters }) => {
    const handler = (params: unknown) => call(name, withoutNulls(parameters, params))
    return [name, { description, params: grammarSchema(parameters, true), handler }]
  })
  return Object.fromEntries(functions)
}

export function createPrompts({ llama, model, slots }: LoadedLlama): Prompts {
  const { chatWrapper } = slots[0]!.session
  const grammars = new Map<string, Promise<LlamaGrammar>>()

  const grammarOf = (schema: object) => {
    const key = JSON.stringify(schema)
    const grammar = grammars.get(key) ?? llama.createGrammarForJsonSchema(grammarSchema(schema))
    if (grammars.size >= MOST_GRAMMARS) grammars.clear()
    grammars.set(key, grammar)
    return grammar
  }

  return {
    render(messages, functions) {
      const history: ChatHistoryItem[] = [...chatHistory(messages), { type: 'model', response: [] }]
      const { contextText } = chatWrapper.generateContextState({
        chatHistory: history,
        ...(functions && { availableFunctions: functions }),
      })
      return contextText.tokenize(model.tokenizer)
    },
    async sampling(order, functions) {
      const stop = order.stop && { customStopTriggers: order.stop }
      const sampling = { temperature: order.temperature, topK: 40, topP: 0.95, minP: 0.05, ...stop }
      // a penalty on repeated tokens would forbid the quotes and brackets of JSON
      if (order.jsonSchema) return { ...sampling, repeatPenalty: false, grammar: await grammarOf(order.jsonSchema) }
      return functions ? { ...sampling, functions } : sampling
    },
  }
}
