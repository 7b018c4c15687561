import { ApiError } from '../../server/kit/client.ts'

/** What the server found wrong, by field path without the leading `body.`; empty when the failure is of another kind. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError) || error.status !== 400) return {}
  return Object.fromEntries((error.details ?? []).map(({ path, message }) => [path.replace(/^body\./, ''), asSentence(message)]))
}

const asSentence = (message: string) => (/^(is|needs|has|must)\b/.test(message) ? `This ${message}.` : message)

/** Whether the failure is an answer with this status. */
export const hasStatus = (error: unknown, status: number): error is ApiError => error instanceof ApiError && error.status === status
