import { z } from 'zod'
import type { GenerateRequest, LlmMessage } from '../llm.ts'

/** The answer of `GET /models`. */
export const ModelList = z.object({ data: z.array(z.object({ id: z.string() })) })

const CallPart = z.object({
  index: z.number().int().min(0).max(63).default(0),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
})
export type CallPart = z.output<typeof CallPart>

/** One event of a streamed completion; fields that hosts add are ignored. */
export const CompletionEvent = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish(), tool_calls: z.array(CallPart).nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: z
    .object({
      prompt_tokens: z.number().int(),
      completion_tokens: z.number().int().default(0),
      prompt_tokens_details: z.object({ cached_tokens: z.number().int().nullish() }).nullish(),
    })
    .nullish(),
  error: z.unknown().optional(),
})
export type CompletionEvent = z.output<typeof CompletionEvent>

/** A function call as the model wrote it; `arguments` is JSON text, if the model was careful. */
export interface ToolCall {
  id: string
  name: string
  arguments: string
}

export type WireMessage =
  | LlmMessage
  | { role: 'assistant'; content: string; tool_calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] }
  | { role: 'tool'; tool_call_id: string; content: string }

/** What the model said and called, as the next request repeats it. */
export const calledMessage = (text: string, calls: readonly ToolCall[]): WireMessage => ({
  role: 'assistant',
  content: text,
  tool_calls: calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } })),
})

/** The body of a completion request. */
export function completionBody(model: string, request: GenerateRequest, messages: readonly WireMessage[], maxTokens: number): object {
  return {
    model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: maxTokens,
    temperature: request.temperature ?? 0.7,
    ...(request.stop?.length && { stop: request.stop }),
    ...(request.jsonSchema && {
      response_format: { type: 'json_schema', json_schema: { name: 'reply', schema: request.jsonSchema, strict: true } },
    }),
    ...(request.functions?.length && {
      tools: request.functions.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    }),
  }
}
