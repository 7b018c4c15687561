import { ApiError } from '../../../server/kit/client.ts'
import { UnreadableReply } from './reply-stream.ts'

/** Why something about a conversation did not work, as far as it makes a difference to the reader. */
export type FailureKind =
  | 'offline'
  | 'talk-busy'
  | 'house-busy'
  | 'model'
  | 'too-long'
  | 'gone'
  | 'signed-out'
  | 'not-allowed'
  | 'too-often'
  | 'cut-off'
  | 'slow'
  | 'other'

export interface ChatFailure {
  kind: FailureKind
  requestId: string | null
  /** Seconds to wait before another try, where the server said so. */
  waitSec: number | null
  /** Where the server kept what was said, although it has no reply. */
  keptIn: string | null
}

const BY_STATUS: Partial<Record<number, FailureKind>> = {
  0: 'offline',
  401: 'signed-out',
  403: 'not-allowed',
  404: 'gone',
  413: 'too-long',
  429: 'too-often',
  504: 'slow',
}

const BY_CODE: Partial<Record<string, FailureKind>> = {
  'busy 409': 'talk-busy',
  'busy 503': 'house-busy',
  'model_unavailable 503': 'model',
  'upstream_failed 502': 'model',
}

function kindOf(error: ApiError): FailureKind {
  if (error.code === 'validation_failed' && error.details?.some(({ path }) => path === 'body.message')) return 'too-long'
  return BY_CODE[`${error.code} ${error.status}`] ?? BY_STATUS[error.status] ?? 'other'
}

const KEPT_IN = /\/api\/chat\/conversations\/([\da-f-]{36})$/

/** Sorts what a call or a broken stream threw; whatever is not the server's answer counts as the connection's fault. */
export function failureOf(error: unknown): ChatFailure {
  if (!(error instanceof ApiError))
    return { kind: error instanceof UnreadableReply ? 'other' : 'cut-off', requestId: null, waitSec: null, keptIn: null }
  const keptIn = KEPT_IN.exec(error.location ?? '')?.[1] ?? null
  return { kind: kindOf(error), requestId: error.requestId, waitSec: error.retryAfterSec, keptIn }
}

const REFUSED: ReadonlySet<FailureKind> = new Set(['talk-busy', 'gone', 'signed-out', 'not-allowed', 'too-often'])

/** Whether the server may have taken a message although no reply began; null stands for one that was stopped. */
export function mayHaveArrived(failure: ChatFailure | null): boolean {
  return failure === null || !REFUSED.has(failure.kind)
}
