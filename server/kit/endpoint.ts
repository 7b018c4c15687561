import { z } from 'zod'

/**
 * The least a caller must be. `public` needs no credential, `lan` a peer on the home network, `webhook` the hook's own
 * secret; guest ⊂ member ⊂ admin are scopes; `owner` is the owner's browser session alone.
 */
export type Access = 'public' | 'lan' | 'webhook' | 'guest' | 'member' | 'admin' | 'owner'

/** How an answer travels: a JSON record, a JSON record after a multipart upload, or a body written piece by piece. */
export type Kind = 'json' | 'upload' | 'stream'

/** Narrower buckets than the general one: per address and minute, `webhook` per hook; `free` counts nowhere. */
export type Limit = 'sign-in' | 'pairing' | 'pair-request' | 'refresh' | 'webhook' | 'free'

export interface EndpointSpec {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** OpenAPI style, from the root: `/api/keys/{id}`. */
  path: `/api/${string}` | `/v1/${string}` | '/mcp'
  access: Access
  summary: string
  description?: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** `nothing` answers 204, or whatever status the handler sets, with an empty body. */
  returns: z.ZodType
  kind?: Kind
  /** Success status; 200 unless stated, 204 where `returns` is `nothing`. */
  status?: 200 | 201
  /** The bucket a call counts against, see rate-limit.ts; the caller's general one unless stated. */
  limit?: Limit
  /** A GET that changes something: it needs proof that a page of this server asked for it. */
  changes?: true
  /** Answers while the house is not set up yet. */
  beforeSetup?: true
  /** Only for peers on the loopback interface that address the server by a loopback name. */
  loopbackOnly?: true
}

/** Names an endpoint once; the server, the typed client and the OpenAPI document all read this value. */
export function endpoint<const Spec extends EndpointSpec>(spec: Spec): Spec {
  return spec
}

export type Contract = Record<string, EndpointSpec>

/** The answer of an operation with nothing to say (204). */
export const nothing = z.void()

/** Path parameters of everything addressed by its id. */
export const ById = z.object({ id: z.uuid() })

/**
 * A strict body of `shape`, in which fields named in `readOnly` may be present and are dropped, so that a record that
 * GET returned can be sent back as it is.
 */
export function editable<Shape extends z.ZodRawShape, const Keys extends readonly string[]>(shape: Shape, readOnly: Keys) {
  const dropped = Object.fromEntries(readOnly.map((key) => [key, z.unknown().optional()])) as Record<
    Keys[number],
    z.ZodOptional<z.ZodUnknown>
  >
  return z.strictObject({ ...dropped, ...shape }).transform((value) => {
    const kept: Record<string, unknown> = { ...value }
    for (const key of readOnly) if (!(key in shape)) delete kept[key]
    return kept as z.output<z.ZodObject<Shape>>
  })
}

type Part<S, K extends string, Out extends boolean> =
  S extends Record<K, infer T extends z.ZodType> ? Record<K, Out extends true ? z.output<T> : z.input<T>> : unknown

/** What a handler receives: parsed, defaults filled in. */
export type Parsed<S extends EndpointSpec> = Part<S, 'params', true> & Part<S, 'query', true> & Part<S, 'body', true>

/** What a caller sends: before parsing, defaults optional. */
export type Sent<S extends EndpointSpec> = Part<S, 'params', false> & Part<S, 'query', false> & Part<S, 'body', false>
