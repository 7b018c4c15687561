const SMALL = new Set(
  'a an and are as at be been but by for from had has have he her his i in is it its me my not of on or our she so that the their them they this to was we were will with you your'.split(
    ' ',
  ),
)

/** The words of a text that carry its meaning, without their commonest endings. */
export function meaningWords(text: string): Set<string> {
  const words =
    text
      .toLowerCase()
      .normalize('NFKC')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  return new Set(words.filter((word) => !SMALL.has(word)).map((word) => (word.length > 4 ? word.replace(/(?:ing|ed|es|s)$/, '') : word)))
}

/** How much two texts say in the same words, from 0 to 1. */
export function overlap(a: string, b: string): number {
  const left = meaningWords(a)
  const right = meaningWords(b)
  const shared = [...left].filter((word) => right.has(word)).length
  const all = left.size + right.size - shared
  return all === 0 ? 0 : shared / all
}

/** Which part of a fact's words, but for the names of people, a person said themselves, from 0 to 1. */
export function shareSaid(fact: string, said: string, names: readonly string[]): number {
  const given = meaningWords(names.join(' '))
  const own = [...meaningWords(fact)].filter((word) => !given.has(word))
  const known = meaningWords(said)
  return own.length === 0 ? 0 : own.filter((word) => known.has(word)).length / own.length
}
