import { randomUUID } from 'node:crypto'
import type { GenerateResult } from '../models/llm.ts'

/** A function that the model called, for the client to run. */
export interface OfferedCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** A reply, and what was called in it. */
export interface Completion extends GenerateResult {
  calls: OfferedCall[]
}

const FINISH = { end: 'stop', length: 'length', aborted: 'stop' } as const

const finishOf = ({ calls, stopReason }: Completion) => (calls.length > 0 ? 'tool_calls' : FINISH[stopReason])

const usageOf = ({ usage: { promptTokens, evaluatedTokens, replyTokens } }: GenerateResult) => ({
  prompt_tokens: promptTokens,
  completion_tokens: replyTokens,
  total_tokens: promptTokens + replyTokens,
  prompt_tokens_details: { cached_tokens: Math.max(0, promptTokens - evaluatedTokens) },
})

/** The objects of one completion, streamed or whole, as the OpenAI API writes them. */
export function createCompletionAnswer(model: string) {
  const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000) }
  const chunk = (choices: object[], more: object = {}) => ({
    ...head,
    object: 'chat.completion.chunk',
    model,
    choices,
    ...more,
  })
  const delta = (value: object, finish: string | null = null) => [{ index: 0, delta: value, logprobs: null, finish_reason: finish }]

  return {
    first: () => chunk(delta({ role: 'assistant', content: '' })),
    text: (content: string) => chunk(delta({ content })),
    calls: ({ calls }: Completion) => chunk(delta({ tool_calls: calls.map((call, index) => ({ index, ...call })) })),
    last: (result: Completion) => ({ ...chunk(delta({}, finishOf(result))), model: result.model }),
    usage: (result: GenerateResult) => chunk([], { model: result.model, usage: usageOf(result) }),
    whole: (result: Completion) => ({
      ...head,
      object: 'chat.completion',
      model: result.model,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: result.calls.length > 0 && result.text === '' ? null : result.text,
            refusal: null,
            ...(result.calls.length > 0 && { tool_calls: result.calls }),
          },
          logprobs: null,
          finish_reason: finishOf(result),
        },
      ],
      usage: usageOf(result),
    }),
  }
}
