import { setTimeout as wait } from 'node:timers/promises'
import { boundedAnswer } from './bounded-answer.ts'

/** The server points to another address, which its owner did not choose. */
export class RedirectedError extends Error {}

const MAX_ANSWER_MS = 120_000
/** Between two tries to listen, whatever the server wants. */
const LISTEN_AGAIN_MS = 1_000
/** Under way at a time. A server that asks for more than it reads gets no answer. */
const MAX_POSTS = 32

/** `onGivenUp` is called where the reader wants no more. */
function streamOf(pieces: AsyncGenerator<Uint8Array, void>, onGivenUp: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: onGivenUp,
  })
}

/**
 * A fetch that reaches one origin alone, since the credential it carries is for that one; home addresses are what it is for. What it
 * answers is bounded, and a POST takes two minutes at most.
 */
export function createPinnedFetch(origin: string) {
  let listenedAt = Number.NEGATIVE_INFINITY
  let posts = 0

  /** Resolves with the head of the answer. */
  async function post(url: URL, init: RequestInit): Promise<Response> {
    if (posts >= MAX_POSTS) throw new Error('Too many requests are under way.')
    posts += 1
    try {
      return await fetch(url, init)
    } finally {
      posts -= 1
    }
  }

  return async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input)
    if (url.origin !== origin) throw new RedirectedError('It points to another address.')
    const ended = new AbortController()
    const signals = init.signal ? [init.signal, ended.signal] : [ended.signal]
    if (init.method === 'POST') signals.push(AbortSignal.timeout(MAX_ANSWER_MS))
    else {
      const early = listenedAt + LISTEN_AGAIN_MS - performance.now()
      if (early > 0) await wait(early, undefined, init.signal ? { signal: init.signal } : {})
      listenedAt = performance.now()
    }
    const bounded = { ...init, redirect: 'manual' as const, signal: AbortSignal.any(signals) }
    const response = await (init.method === 'POST' ? post(url, bounded) : fetch(url, bounded))
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel()
      throw new RedirectedError('It points to another address.')
    }
    const { body, status, statusText, headers } = response
    if (!body) return response
    const isStream = /event-stream/i.test(headers.get('content-type') ?? '')
    return new Response(
      streamOf(boundedAnswer(body, isStream), () => ended.abort()),
      { status, statusText, headers },
    )
  }
}
