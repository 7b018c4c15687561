import { RedirectedError } from './pinned-fetch.ts'

const TIMED_OUT = -32001
const CLOSED = -32000

const STATUS: Record<number, string> = {
  401: 'It does not accept the token, or needs one.',
  403: 'It does not accept the token, or needs one.',
  404: 'There is no tool server at this address.',
  405: 'There is no tool server at this address.',
}

function systemCode(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const { code } = cause as NodeJS.ErrnoException
    if (typeof code === 'string') return code
  }
  return ''
}

/** Why a tool server cannot be used, in a sentence; none of its own words are in it. */
export function faultInWords(error: unknown): string {
  if (error instanceof RedirectedError || (error instanceof Error && error.cause instanceof RedirectedError))
    return 'It points to another address. Enter that one if you trust it.'
  const { code } = error as { code?: unknown }
  if (code === TIMED_OUT || (error as Error).name === 'TimeoutError') return 'It did not answer in time.'
  if (code === CLOSED) return 'It ended the connection.'
  if (typeof code === 'number' && code >= 400) return STATUS[code] ?? `It answered with an error (${code}).`
  const system = systemCode(error)
  if (/CERT|TLS|SSL/.test(system)) return 'Its certificate is not trusted.'
  if (/^E[A-Z]+$|^UND_ERR/.test(system)) return 'It cannot be reached.'
  if (error instanceof TypeError && error.message === 'fetch failed') return 'It cannot be reached.'
  if (error instanceof Error && /too large/.test(error.message)) return 'Its answer is too large.'
  return 'Its answer makes no sense.'
}

/** Whether a call failed because the server could not be spoken to, and not because it refused the call. */
export const isConnectionFault = (error: unknown): boolean =>
  !(error instanceof Error && error.name === 'McpError' && (error as { code?: unknown }).code !== CLOSED)
