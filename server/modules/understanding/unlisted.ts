import type { Capture, Spans } from './matcher.ts'
import type { Readers } from './readers.ts'

/** Whether what is to be added, to nothing that was named, is likelier an event, somebody or a sum than a thing to buy. */
export function isUnlisted(
  captures: readonly Capture[],
  spans: Spans,
  said: (from: number, to: number) => string,
  { arithmetic, isShare }: Pick<Readers, 'arithmetic' | 'isShare'>,
): boolean {
  const items = captures.find(({ as }) => as === 'items')
  if (!items || !captures.some(({ as }) => as === 'bare')) return false
  const { start, end } = items
  for (let at = start; at < end; at++) if ([...spans('when', at), ...spans('person', at)].some((span) => span.end <= end)) return true
  const text = said(start, end)
  return isShare(text) || arithmetic.read(text) !== null
}
