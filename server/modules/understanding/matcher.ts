import { OPEN_TYPES, type Program } from './template.ts'

/** What a slot may take from a token on: up to which token, and what it means. */
export interface Span {
  end: number
  value: unknown
}

export interface Capture extends Span {
  as: string
  start: number
}

export interface Match {
  captures: Capture[]
  /** Tokens that were taken as any words: the fewer, the better the sentence was understood. */
  guessed: number
}

/** Finds the spans of a slot type; those asked twice come from a memory. */
export type Spans = (type: string, start: number) => readonly Span[]

/**
 * Walks an automaton over the words from `from` to `to`; null unless all of them fit. What failed once at a token is not tried again there,
 * so that the work is bounded by steps × tokens × spans whatever is said.
 */
export function walk({ steps, start }: Program, words: readonly string[], from: number, to: number, spans: Spans): Match | null {
  const failed = new Set<number>()
  const captures: Capture[] = []
  let guessed = 0

  function go(number: number, at: number): boolean {
    const step = steps[number]
    if (!step) return false
    if (step.kind === 'end') return at === to
    if (step.kind === 'word') return at < to && words[at] === step.word && go(step.next, at + 1)
    const key = number * (to + 1) + at
    if (failed.has(key)) return false
    if (step.kind === 'any') {
      for (const next of step.nexts) if (go(next, at)) return true
    } else if (step.kind === 'put') {
      captures.push({ as: step.as, start: at, end: at, value: step.value })
      if (go(step.next, at)) return true
      captures.pop()
    } else {
      const open = OPEN_TYPES.has(step.type)
      for (const { end, value } of spans(step.type, at)) {
        if (end > to) continue
        captures.push({ as: step.as, start: at, end, value })
        if (open) guessed += end - at
        if (go(step.next, end)) return true
        if (open) guessed -= end - at
        captures.pop()
      }
    }
    failed.add(key)
    return false
  }

  return go(start, from) ? { captures, guessed } : null
}
