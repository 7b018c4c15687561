import { AppError } from '../../../kit/errors.ts'
import type { GenerateRequest, GenerateResult } from '../llm.ts'
import { tooLarge } from './llama-history.ts'
import type { HostNews, HostOrder } from './llama-protocol.ts'

export type ReplyNews = Extract<HostNews, { type: 'text' | 'call' | 'done' | 'failed' }>

/** A reply on its way from the model process. */
export interface PendingReply {
  hear(news: ReplyNews): void
  fail(error: Error): void
  readonly result: Promise<Omit<GenerateResult, 'model'>>
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

async function callResult(request: GenerateRequest, news: Extract<ReplyNews, { type: 'call' }>): Promise<unknown> {
  const wanted = request.functions?.find(({ name }) => name === news.name)
  try {
    if (!wanted) throw new Error(`There is no function ${news.name}`)
    const result = await wanted.handler(news.params, request.signal)
    // only JSON crosses, and what does not become JSON must fail here
    return JSON.parse(JSON.stringify(result ?? null))
  } catch (error) {
    return { error: messageOf(error) }
  }
}

/** Follows one reply until it is done, running its function calls and answering through `send`. */
export function followReply(id: string, request: GenerateRequest, send: (order: HostOrder) => void): PendingReply {
  const { promise, resolve, reject } = Promise.withResolvers<Omit<GenerateResult, 'model'>>()
  let text = ''
  return {
    result: promise,
    fail: reject,
    hear(news) {
      if (news.type === 'text') {
        text += news.text
        request.onText(news.text)
      } else if (news.type === 'call') {
        void callResult(request, news).then((result) => send({ type: 'call-result', id, callId: news.callId, result }))
      } else if (news.type === 'done') resolve({ text, stopReason: news.stopReason, usage: news.usage })
      else reject(news.code === 'too_large' ? tooLarge() : new Error(`the model process failed: ${news.message}`))
    },
  }
}

/** 503 with the reason in plain words. */
export const modelUnavailable = (reason: string) => new AppError(503, 'model_unavailable', reason, { headers: { 'retry-after': '5' } })
