import { z } from 'zod'
import { type Action, action } from '../../kit/actions.ts'
import type { GuardedFetch, GuardedResponse } from '../../kit/guarded-fetch.ts'

const MAX_ANSWER_BYTES = 1024 * 1024
const MAX_TEXT = 65_536

const Input = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  url: z.url({ protocol: /^https?$/ }).max(4096),
  headers: z
    .record(z.string().max(100), z.string().max(4096))
    .refine((headers) => Object.keys(headers).length <= 50, 'has more than 50 fields')
    .default({}),
  body: z
    .union([z.string().max(262_144), z.record(z.string(), z.unknown()), z.array(z.unknown())])
    .optional()
    .describe('Text as it is; anything else is sent as JSON.'),
  timeoutMs: z.number().int().min(100).max(30_000).default(10_000),
})

/** What an answer says, as JSON where it is JSON, as text where it is text; of anything else only its size is told. */
function contentOf({ headers, body }: GuardedResponse): { json: unknown } | { text: string } | { bytes: number } {
  const type = headers['content-type'] ?? ''
  if (/^(text\/|application\/(xml|[\w.-]+\+xml|x-www-form-urlencoded|javascript))/i.test(type)) return { text: textOf(body) }
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) return { bytes: body.length }
  if (body.length > MAX_TEXT) return { text: textOf(body) }
  try {
    return { json: JSON.parse(body.toString()) as unknown }
  } catch {
    return { text: textOf(body) }
  }
}

function textOf(body: Buffer): string {
  const text = body.toString().toWellFormed()
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

/** Asks another server on the internet; any status is an answer. What it says is told as data. */
export const httpRequest = (guardedFetch: GuardedFetch): Action =>
  action({
    name: 'http_request',
    description: 'Send an HTTP request to a server on the internet and get its answer.',
    input: Input,
    risk: 'high',
    access: 'admin',
    async run({ method, url, headers, body, timeoutMs }, { signal }) {
      const isJson = body !== undefined && typeof body !== 'string'
      const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
      const answer = await guardedFetch(url, {
        method,
        headers: { ...(isJson && !hasType && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
        waitMs: timeoutMs,
        maxBytes: MAX_ANSWER_BYTES,
        signal,
      })
      const type = answer.headers['content-type'] ?? null
      return { output: `${new URL(url).host} answered ${answer.status}.`, data: { status: answer.status, type, ...contentOf(answer) } }
    },
  })
