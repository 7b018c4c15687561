import { ApiError } from '../../../server/kit/client.ts'
import { describeError } from '../../messages/describe-error.ts'
import { type PlainKey, t } from '../../messages/messages.ts'

const reasons: Record<string, PlainKey> = {
  upstream_failed: 'outside.unreachable',
  timeout: 'outside.slow',
  address_blocked: 'outside.blocked',
}

/** Why an outside calendar could not be fetched. */
export function fetchFailure(error: unknown): { what: string; todo: string } {
  const reason = error instanceof ApiError ? reasons[error.code] : undefined
  return reason ? { what: t(reason), todo: '' } : describeError(error)
}
