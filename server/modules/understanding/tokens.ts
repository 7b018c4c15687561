/** A word or number of a sentence, folded for comparing, with where it stands in the text. */
export interface Token {
  word: string
  start: number
  end: number
}

export interface Sentence {
  /** As it was said. */
  text: string
  tokens: Token[]
  /** By token: whether a sentence ends right behind it. */
  ends: boolean[]
}

const TOKEN = /\d+(?:[.,:/]\d+)*|[½¼¾%]|[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*|['’](?=[\s?!.,]|$)/gu
const MARKS = /\p{M}+/gu

/** The same for all ways of writing a word: case, accents, apostrophes. */
export const fold = (word: string): string =>
  word.normalize('NFD').replaceAll(MARKS, '').toLowerCase().replaceAll(MARKS, '').replaceAll('ß', 'ss').replaceAll('’', "'")

const NONE: ReadonlySet<string> = new Set()

/** Splits a text into folded words but those of `leaveOut`; `expansions` names those that stand for several, such as contractions. */
export function tokenize(text: string, expansions: ReadonlyMap<string, readonly string[]>, leaveOut = NONE): Sentence {
  const tokens: Token[] = []
  for (const { 0: raw, index } of text.matchAll(TOKEN)) {
    const word = fold(raw)
    if (word === "'" || leaveOut.has(word)) continue
    for (const part of expansions.get(word) ?? [word]) tokens.push({ word: part, start: index, end: index + raw.length })
  }
  const ends = tokens.map(({ end }, index) => /[.!?;:…\n]\s/.test(text.slice(end, (tokens[index + 1]?.start ?? end) + 1)))
  return { text, tokens, ends }
}

/** What was said from one token up to another, without the quotes around it and the stops behind it. */
export function said({ text, tokens }: Sentence, from: number, to: number): string {
  const [first, last] = [tokens[from], tokens[to - 1]]
  if (!first || !last) return ''
  const whole = text.slice(first.start, last.end)
  // `AA batteries (x4)`
  const isOpen = whole.lastIndexOf('(') > whole.lastIndexOf(')') && text.slice(last.end).startsWith(')')
  return (isOpen ? `${whole})` : whole).replaceAll(/\s+/g, ' ').trim()
}
