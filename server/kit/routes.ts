import type { z } from 'zod'
import type { Caller } from './caller.ts'
import type { Access, Contract, EndpointSpec, Parsed } from './endpoint.ts'
import type { Reply } from './reply.ts'
import type { RequestFacts } from './request-facts.ts'

/** What surrounds a call besides its parsed input. */
export interface Call<A extends Access = Access> {
  /** Null only where the endpoint's audience needs no credential. */
  caller: A extends 'public' | 'lan' | 'webhook' ? Caller | null : Caller
  request: RequestFacts
  reply: Reply
  /** Aborts when the client leaves before the answer is complete. */
  readonly signal: AbortSignal
}

/** A file of an upload, already on disk; it is removed after the handler unless the handler moved it. */
export interface UploadedFile {
  field: string
  path: string
  name: string
  mimeType: string
  size: number
}

type Uploaded<S extends EndpointSpec> = S['kind'] extends 'upload' ? { files: UploadedFile[] } : unknown
/** A stream handler has written its answer through `reply` when it resolves. */
type Answer<S extends EndpointSpec> = S['kind'] extends 'stream' ? void : z.input<S['returns']>

export type Handlers<C extends Contract> = {
  [K in keyof C]: (input: Parsed<C[K]> & Uploaded<C[K]>, call: Call<C[K]['access']>) => Answer<C[K]> | Promise<Answer<C[K]>>
}

export type AnyHandler = (input: never, call: never) => unknown

export interface RouteSet {
  contract: Contract
  handlers: Record<string, AnyHandler>
}

/** Pairs a contract with its handlers; a missing or mistyped handler does not compile. */
export function routes<C extends Contract>(contract: C, handlers: Handlers<C>): RouteSet {
  return { contract, handlers: handlers as unknown as Record<string, AnyHandler> }
}
