import type { z } from 'zod'
import type { Contract, EndpointSpec, Sent } from './endpoint.ts'
import { ErrorBody } from './errors.ts'

type Extra<S extends EndpointSpec> = S['kind'] extends 'upload' ? { form: FormData } : unknown
type Answer<S extends EndpointSpec> = S['kind'] extends 'stream' ? Response : z.output<S['returns']>
type Input<S extends EndpointSpec> = Sent<S> & Extra<S>

export interface CallOptions {
  /** Ends the request; for a stream, also its body. */
  signal?: AbortSignal
}

export type Call<S extends EndpointSpec> =
  unknown extends Input<S>
    ? (input?: Record<string, never>, options?: CallOptions) => Promise<Answer<S>>
    : (input: Input<S>, options?: CallOptions) => Promise<Answer<S>>

export type Client<C extends Record<string, Contract>> = {
  [D in keyof C]: { [K in keyof C[D]]: Call<C[D][K]> }
}

/** A failure the server named. `status` 0 means that the server could not be reached. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: ErrorBody['details']
  readonly requestId: string | null
  /** Seconds to wait before another try, where the server said so. */
  readonly retryAfterSec: number | null
  /** Where what was kept of the request is found, where the server said so. */
  readonly location: string | null

  constructor(status: number, body: { [K in keyof ErrorBody]?: ErrorBody[K] | undefined }, headers?: Headers) {
    super(body.error ?? 'Hearth cannot be reached.')
    this.name = 'ApiError'
    this.status = status
    this.code = body.code ?? (status === 401 ? 'unauthorized' : status === 0 ? 'unreachable' : 'internal')
    this.details = body.details
    this.requestId = body.requestId ?? headers?.get('x-request-id') ?? null
    this.location = headers?.get('location') ?? null
    this.retryAfterSec = headers?.has('retry-after') ? Number(headers.get('retry-after')) : null
  }
}

export type Send = (path: string, init: RequestInit) => Promise<Response>

interface Parts {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  form?: FormData
}

function address(spec: EndpointSpec, { params = {}, query = {} }: Parts): string {
  let path: string = spec.path
  for (const [key, value] of Object.entries(params)) path = path.replace(`{${key}}`, encodeURIComponent(String(value)))
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value))
  return search.size > 0 ? `${path}?${search}` : path
}

async function failure(response: Response): Promise<ApiError> {
  const text = await response.text()
  try {
    return new ApiError(response.status, ErrorBody.partial().parse(JSON.parse(text)), response.headers)
  } catch {
    return new ApiError(response.status, { error: 'The server gave an answer that cannot be read.' }, response.headers)
  }
}

async function call(send: Send, spec: EndpointSpec, input: Parts = {}, { signal }: CallOptions = {}): Promise<unknown> {
  const init: RequestInit = { method: spec.method }
  if (signal) init.signal = signal
  if (input.form) init.body = input.form
  if (input.body !== undefined) {
    init.body = JSON.stringify(input.body)
    init.headers = { 'content-type': 'application/json' }
  }
  const response = await send(address(spec, input), init)
  if (!response.ok) throw await failure(response)
  if (spec.kind === 'stream') return response
  const text = await response.text()
  return spec.returns.parse(text === '' ? undefined : JSON.parse(text))
}

/**
 * Turns contracts into callable methods, shared by the window, the tests and the terminal tools.
 * Rejects with {@link ApiError} for every answer that is not a success.
 */
export function createClient<C extends Record<string, Contract>>(contracts: C, send: Send): Client<C> {
  const domains = Object.entries(contracts).map(([domain, contract]) => [
    domain,
    Object.fromEntries(
      Object.entries(contract).map(([name, spec]) => [name, (input?: Parts, options?: CallOptions) => call(send, spec, input, options)]),
    ),
  ])
  return Object.fromEntries(domains) as Client<C>
}
