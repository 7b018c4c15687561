import { createParser } from 'eventsource-parser'
import type { z } from 'zod'
import { AppError } from '../../../kit/errors.ts'
import { CompletionEvent, ModelList } from './openai-wire.ts'

/** How long the host may be silent. `firstMs` is long, since it may load the model before its first word. */
const WAITS = { listMs: 5_000, firstMs: 120_000, idleMs: 60_000 }
const MOST_ERROR_BYTES = 4_096
const MOST_LIST_BYTES = 1_048_576
/** Of a piece of an answer; one that grows further has no end. */
const MOST_EVENT_BYTES = 1_048_576

/** Talks to one OpenAI-compatible host. Its failures are AppErrors: 503 unreachable, overloaded, refused or nonsense, 502 endless, 504 silent. */
export interface OpenAiClient {
  models(): Promise<string[]>
  /** Events of one completion until the host says it is done. Throws `signal`'s reason when that aborts. */
  complete(body: object, signal: AbortSignal): AsyncGenerator<CompletionEvent, void, undefined>
}

/** The host says that the conversation is longer than its context; caught by the host adapter. */
export class ContextExceeded extends Error {}

const unusable = (why: string, cause?: unknown) => new AppError(503, 'model_unavailable', why, { cause })
const unreachable = (cause: unknown) => unusable('The language model host cannot be reached.', cause)
/** The host goes on where nobody can need more. */
export const endless = () => new AppError(502, 'upstream_failed', 'The language model host did not stop.')
const silent = () => new AppError(504, 'timeout', 'The language model host did not answer in time.')
const nonsense = (cause?: unknown) => unusable('The language model host gave an answer that makes no sense.', cause)

async function textUpTo(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    text += decoder.decode(chunk, { stream: true })
    if (bytes > limit) break
  }
  return text.slice(0, limit)
}

async function refusal(response: Response): Promise<Error> {
  const said = await textUpTo(response, MOST_ERROR_BYTES)
  const { status } = response
  if ((status === 400 || status === 413) && /context|too long|maximum.{0,20}tokens/i.test(said)) return new ContextExceeded()
  if (status === 401 || status === 403) return unusable('The language model host does not accept the key.')
  if (status === 429 || status === 503) return unusable('The language model host is busy.')
  return unusable(`The language model host refused the request (${status}).`)
}

function parsed<T extends z.ZodType>(schema: T, text: string): z.output<T> {
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw nonsense(error)
  }
}

/** A timer that aborts unless it is set anew in time. */
function patience() {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  return {
    signal: controller.signal,
    within(ms: number) {
      clearTimeout(timer)
      timer = setTimeout(() => controller.abort(silent()), ms)
    },
    end: () => clearTimeout(timer),
  }
}

async function* eventsOf(response: Response, heard: () => void): AsyncGenerator<CompletionEvent, void, undefined> {
  const decoder = new TextDecoder()
  const events: string[] = []
  const parser = createParser({ onEvent: (event) => void events.push(event.data) })
  let pending = 0
  for await (const chunk of response.body ?? []) {
    heard()
    pending += chunk.byteLength
    if (pending > MOST_EVENT_BYTES) throw endless()
    parser.feed(decoder.decode(chunk, { stream: true }))
    if (events.length > 0) pending = 0
    for (const data of events.splice(0)) {
      if (data === '[DONE]') return
      yield parsed(CompletionEvent, data)
    }
  }
}

/** `baseUrl` ends in /v1. */
export function createOpenAiClient(baseUrl: string, apiKey: string | null, waits = WAITS): OpenAiClient {
  const call = async (path: string, init: RequestInit, signal: AbortSignal) => {
    const headers = { 'content-type': 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) }
    // a redirect would carry the key elsewhere
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}${path}`, { ...init, headers, redirect: 'error', signal })
    if (!response.ok) throw await refusal(response)
    return response
  }

  const explained = (error: unknown, signal: AbortSignal) => {
    if (signal.aborted) return signal.reason
    return error instanceof AppError || error instanceof ContextExceeded ? error : unreachable(error)
  }

  return {
    async models() {
      const waited = patience()
      waited.within(waits.listMs)
      try {
        const response = await call('/models', {}, waited.signal)
        return parsed(ModelList, await textUpTo(response, MOST_LIST_BYTES)).data.map(({ id }) => id)
      } catch (error) {
        throw explained(error, waited.signal)
      } finally {
        waited.end()
      }
    },
    async *complete(body, outer) {
      const waited = patience()
      const signal = AbortSignal.any([outer, waited.signal])
      waited.within(waits.firstMs)
      try {
        const response = await call('/chat/completions', { method: 'POST', body: JSON.stringify(body) }, signal)
        yield* eventsOf(response, () => waited.within(waits.idleMs))
      } catch (error) {
        throw explained(error, signal)
      } finally {
        waited.end()
      }
    },
  }
}
