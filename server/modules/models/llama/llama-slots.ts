/** One sequence of the context with what is evaluated in it. */
export interface Slot<Token> {
  conversationId: string | null
  busy: boolean
  /** Counts up with every use; 0 was never used. */
  lastUse: number
  /** How many of the first tokens need not be evaluated again. */
  sharedPrefix(prompt: readonly Token[]): number
}

/**
 * The idle slot that serves `prompt` best: the one that holds its conversation; else, so that no other conversation loses its cache,
 * one that belongs to none, the one with the longest common prefix first; else the one unused for longest.
 */
export function pickSlot<Token, S extends Slot<Token>>(
  slots: readonly S[],
  conversationId: string,
  prompt: readonly Token[],
): S | undefined {
  const idle = slots.filter((slot) => !slot.busy)
  const own = idle.find((slot) => slot.conversationId === conversationId)
  if (own) return own
  const spare = idle.filter((slot) => slot.conversationId === null)
  const rank = (slot: S) => slot.sharedPrefix(prompt)
  return spare.toSorted((a, b) => rank(b) - rank(a))[0] ?? idle.toSorted((a, b) => a.lastUse - b.lastUse)[0]
}
