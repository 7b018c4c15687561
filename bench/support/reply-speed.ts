import type { LlmMessage } from '../../server/modules/models/llm.ts'

/** Something that streams a reply: the runner, the library, or a running server over HTTP. */
export type StreamReply = (request: {
  /** Replies of one id continue one conversation. */
  conversationId: string
  /** The whole conversation; one that keeps conversations itself needs only the last. */
  messages: readonly LlmMessage[]
  signal: AbortSignal
  onText(text: string): void
}) => Promise<{ text: string; usage?: { promptTokens: number; evaluatedTokens: number } }>

export interface ReplySpeed {
  text: string
  firstMs: number
  /** After the first piece; a piece is a token. */
  tokensPerSecond: number
  /** From asking to stop until the reply was over and its slot free. */
  stopMs: number
  evaluatedTokens: number
  promptTokens: number
}

/** Measures one reply of `pieces` pieces, which is then stopped. */
export async function measureReply(
  stream: StreamReply,
  conversationId: string,
  messages: readonly LlmMessage[],
  pieces: number,
): Promise<ReplySpeed> {
  const stop = new AbortController()
  const startedAt = performance.now()
  const times: number[] = []
  const { text, usage } = await stream({
    conversationId,
    messages,
    signal: stop.signal,
    onText: () => {
      times.push(performance.now())
      if (times.length === pieces) stop.abort()
    },
  })
  const first = times[0] ?? Number.NaN
  const last = times[pieces - 1] ?? Number.NaN
  return {
    text,
    firstMs: first - startedAt,
    tokensPerSecond: ((pieces - 1) / (last - first)) * 1000,
    stopMs: performance.now() - last,
    evaluatedTokens: usage?.evaluatedTokens ?? Number.NaN,
    promptTokens: usage?.promptTokens ?? Number.NaN,
  }
}

/** Milliseconds from asking to stop, `afterMs` into a reply, until it was over. */
export async function measureStop(
  stream: StreamReply,
  conversationId: string,
  messages: readonly LlmMessage[],
  afterMs: number,
): Promise<number> {
  const stop = new AbortController()
  let stoppedAt = Number.NaN
  setTimeout(() => {
    stoppedAt = performance.now()
    stop.abort()
  }, afterMs)
  await stream({ conversationId, messages, signal: stop.signal, onText: () => undefined })
  return performance.now() - stoppedAt
}
