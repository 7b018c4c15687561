import { z } from 'zod'
import { speakPlainly } from './plain-issues.ts'

speakPlainly()

/** The body of every failure but the bare 401. */
export const ErrorBody = z
  .object({
    error: z.string().describe('What happened, in a sentence a person can read.'),
    code: z.string().describe('A stable name of the failure.'),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    requestId: z.string(),
  })
  .meta({ id: 'Error' })
export type ErrorBody = z.infer<typeof ErrorBody>

export interface Detail {
  path: string
  message: string
}

export interface AppErrorOptions {
  details?: Detail[]
  /** Extra answer headers, such as `Retry-After` in seconds. */
  headers?: Record<string, string>
  cause?: unknown
}

/** An expected failure, safe to show to the caller. Anything else that is thrown is a bug and becomes a 500. */
export class AppError extends Error {
  readonly code: string
  readonly status: number
  readonly details: Detail[] | undefined
  readonly headers: Record<string, string> | undefined

  constructor(status: number, code: string, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.status = status
    this.code = code
    this.details = options.details
    this.headers = options.headers
  }
}

/** 401 whose body is exactly `{"error":"Unauthorized"}`. */
export const unauthorized = () => new AppError(401, 'unauthorized', 'Unauthorized')
export const forbidden = (why = 'You may not do this.', code = 'forbidden') => new AppError(403, code, why)
export const notFound = (what = 'This') => new AppError(404, 'not_found', `${what} does not exist.`)
export const conflict = (code: string, why: string) => new AppError(409, code, why)
export const unsupportedType = (expected: string) => new AppError(415, 'unsupported_media_type', `Send ${expected}.`)
/** `retryAfterSec` in whole seconds, at least 1. */
export const rateLimited = (retryAfterSec: number) =>
  new AppError(429, 'rate_limited', 'Too many tries. Please wait a little.', {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSec))) },
  })

/** 400 with one detail per fault, each path in dotted form, e.g. `body.owner.name`. */
export const invalid = (details: Detail[]) =>
  new AppError(400, 'validation_failed', details[0] ? `${details[0].path}: ${details[0].message}` : 'This request is not valid.', {
    details,
  })

/** A failure as it is said to a person: a field that is at fault by its own name, without the path to it. */
export function saidOf({ message, details }: AppError): string {
  const [first] = details ?? []
  if (!first || message !== `${first.path}: ${first.message}`) return message
  const name = first.path.split('.').findLast((part) => !/^\d+$/.test(part)) ?? 'this'
  const subject = name === 'body' || name === 'query' ? 'this' : name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return `${subject.charAt(0).toUpperCase()}${subject.slice(1)} ${first.message}.`
}

/** Turns zod's issues into error details under `part` (params, query, body). */
export function detailsOf(part: string, error: z.ZodError): Detail[] {
  return error.issues.slice(0, 20).map((issue) => ({
    path: [part, ...issue.path.map(String)].join('.').slice(0, 200),
    message: issue.message.slice(0, 300),
  }))
}
