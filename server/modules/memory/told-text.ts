/** Of the two files so many characters are told: they are read anew with every conversation, and a small model reads slowly. */
export const MOST_TOLD = { soul: 12_000, memory: 8_000 } as const

const REST = '(It goes on, but no more of it is told.)'

/** How many characters of a text are told: all, or as many whole lines as fit; of one line that is too long as much as fits. */
export function toldOf(text: string, most: number): number {
  if (text.length <= most) return text.length
  const lineEnd = text.lastIndexOf('\n', most - 1)
  if (lineEnd > 0 && text.slice(0, lineEnd).trim() !== '') return lineEnd
  return /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most
}

/** What is told of a text, with a word where that is not all of it. */
export function toldText(text: string, most: number): string {
  const told = toldOf(text, most)
  return (told < text.length ? `${text.slice(0, told).trimEnd()}\n${REST}` : text).toWellFormed()
}
