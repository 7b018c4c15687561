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

/** So much of what stands beside a word is looked at for emoji. */
const MOST_BESIDE = 40
const PICTURES = String.raw`(?:\p{Extended_Pictographic}|\p{Regional_Indicator})[\p{Emoji_Modifier}\u200d\ufe0f\p{Extended_Pictographic}\p{Regional_Indicator}\s]*`
const PICTURES_BEFORE = new RegExp(`${PICTURES}$`, 'u')
const PICTURES_BEHIND = new RegExp(String.raw`^\s*${PICTURES}`, 'u')

/** What was said from one token up to another with the emoji beside it, without the quotes around it and the stops behind it. */
export function said({ text, tokens }: Sentence, from: number, to: number): string {
  const [first, last] = [tokens[from], tokens[to - 1]]
  if (!first || !last) return ''
  const before = PICTURES_BEFORE.exec(text.slice(tokens[from - 1]?.end ?? 0, first.start).slice(-MOST_BESIDE))?.[0].length ?? 0
  const behind = PICTURES_BEHIND.exec(text.slice(last.end, tokens[to]?.start).slice(0, MOST_BESIDE))?.[0].length ?? 0
  const whole = text.slice(first.start - before, last.end + behind)
  // `AA batteries (x4)`
  const isOpen = whole.lastIndexOf('(') > whole.lastIndexOf(')') && text.slice(last.end + behind).startsWith(')')
  return (isOpen ? `${whole})` : whole).replaceAll(/\s+/g, ' ').trim()
}
