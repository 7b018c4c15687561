import { ApiError } from '../../server/kit/client.ts'
import { type PlainKey, t } from './messages.ts'

export interface Described {
  /** What happened. */
  what: string
  /** What to do about it. */
  todo: string
  requestId: string | null
}

type Pair = [what: Extract<PlainKey, `error.${string}`>, todo: Extract<PlainKey, `error.${string}Todo`>]
const byStatus: Record<number, Pair> = {
  0: ['error.unreachable', 'error.unreachableTodo'],
  400: ['error.invalid', 'error.invalidTodo'],
  401: ['error.signedOut', 'error.signedOutTodo'],
  403: ['error.forbidden', 'error.forbiddenTodo'],
  404: ['error.notFound', 'error.notFoundTodo'],
  413: ['error.tooLarge', 'error.tooLargeTodo'],
  503: ['error.busy', 'error.busyTodo'],
}

/** Says a failure in plain words. A conflict speaks with the server's own sentence, which is written for people. */
export function describeError(error: unknown): Described {
  if (!(error instanceof ApiError)) return { what: t('error.internal'), todo: t('error.internalTodo'), requestId: null }
  const { status, code, requestId } = error
  if (code === 'unknown_host')
    return { what: t('error.unknownHost'), todo: t('error.unknownHostTodo', window.location.hostname), requestId }
  if (status === 429) return { what: t('error.tooMany'), todo: t('error.tooManyTodo', error.retryAfterSec ?? 60), requestId }
  if (status === 409) return { what: error.message, todo: t('error.conflictTodo'), requestId }
  const [what, todo] = byStatus[status] ?? ['error.internal', 'error.internalTodo']
  return { what: t(what), todo: t(todo), requestId }
}
