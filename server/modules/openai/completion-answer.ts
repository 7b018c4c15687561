import { randomUUID } from 'node:crypto'
import type { GenerateResult } from '../models/llm.ts'

const FINISH = { end: 'stop', length: 'length', aborted: 'stop' } as const

const usageOf = ({ usage: { promptTokens, evaluatedTokens, replyTokens } }: GenerateResult) => ({
  prompt_tokens: promptTokens,
  completion_tokens: replyTokens,
  total_tokens: promptTokens + replyTokens,
  prompt_tokens_details: { cached_tokens: Math.max(0, promptTokens - evaluatedTokens) },
})

/** The objects of one completion, streamed or whole, as the OpenAI API writes them. */
export function createCompletionAnswer(askedModel: string) {
  const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000) }
  const chunk = (choices: object[], more: object = {}) => ({
    ...head,
    object: 'chat.completion.chunk',
    model: askedModel,
    choices,
    ...more,
  })
  const delta = (value: object, finish: string | null = null) => [{ index: 0, delta: value, logprobs: null, finish_reason: finish }]

  return {
    first: () => chunk(delta({ role: 'assistant', content: '' })),
    text: (content: string) => chunk(delta({ content })),
    last: ({ stopReason, model }: GenerateResult) => ({ ...chunk(delta({}, FINISH[stopReason])), model }),
    usage: (result: GenerateResult) => chunk([], { model: result.model, usage: usageOf(result) }),
    whole: (result: GenerateResult) => ({
      ...head,
      object: 'chat.completion',
      model: result.model,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: result.text, refusal: null },
          logprobs: null,
          finish_reason: FINISH[result.stopReason],
        },
      ],
      usage: usageOf(result),
    }),
  }
}
