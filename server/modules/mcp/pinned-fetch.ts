import { setTimeout as wait } from 'node:timers/promises'

/** The server points to another address, which its owner did not choose. */
export class RedirectedError extends Error {}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const MAX_ANSWER_MS = 120_000
/** Between two tries to listen, whatever the server wants. */
const LISTEN_AGAIN_MS = 1_000

function limited(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let bytes = 0
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        if (bytes > MAX_ANSWER_BYTES) controller.error(new Error('The answer is too large.'))
        else controller.enqueue(chunk)
      },
    }),
  )
}

/**
 * A fetch that reaches one origin alone, since the credential it carries is for that one; home addresses are what it is for. An answer may
 * have 4 MiB, one to a POST two minutes.
 */
export function createPinnedFetch(origin: string) {
  let listenedAt = Number.NEGATIVE_INFINITY

  return async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input)
    if (url.origin !== origin) throw new RedirectedError('It points to another address.')
    const signals = init.signal ? [init.signal] : []
    if (init.method === 'POST') signals.push(AbortSignal.timeout(MAX_ANSWER_MS))
    else {
      const early = listenedAt + LISTEN_AGAIN_MS - performance.now()
      if (early > 0) await wait(early, undefined, init.signal ? { signal: init.signal } : {})
      listenedAt = performance.now()
    }
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.any(signals) })
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel()
      throw new RedirectedError('It points to another address.')
    }
    return response.body
      ? new Response(limited(response.body), { status: response.status, statusText: response.statusText, headers: response.headers })
      : response
  }
}
