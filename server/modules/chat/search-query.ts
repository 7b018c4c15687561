const MAX_WORDS = 16

/** A search as FTS5 takes it: every word quoted, so that nothing in it is an operator; the last may go on. Null where it has no word. */
export function ftsQuery(text: string): string | null {
  const words = text
    .toWellFormed()
    .match(/[\p{L}\p{N}]+/gu)
    ?.slice(0, MAX_WORDS)
  return words ? words.map((word, place) => (place === words.length - 1 ? `"${word}"*` : `"${word}"`)).join(' ') : null
}
