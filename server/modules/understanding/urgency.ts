import { setImmediate } from 'node:timers/promises'
import type { Language } from './language.ts'
import { wordsOf } from './phrases.ts'
import { createTemplates, type Program } from './template.ts'
import { fold, tokenize } from './tokens.ts'

/** What somebody needs help with at once. */
export type Urgency = Language['urgent'][number]['kind']

interface Sign {
  kind: Urgency
  program: Program
  /** It is the whole sentence, and no part of one. */
  isWhole: boolean
}

const MAX_LOOKED_AT = 4_000
const SLICE_MS = 5

/** Whether the words from one on begin, or are to their end, as the automaton says; it has no slots. */
function begins({ steps, start }: Program, words: readonly string[], from: number, isWhole = false): boolean {
  function go(number: number, at: number): boolean {
    const step = steps[number]
    if (step?.kind === 'any') return step.nexts.some((next) => go(next, at))
    if (step?.kind === 'word') return words[at] === step.word && go(step.next, at + 1)
    return step?.kind === 'end' && (!isWhole || at === words.length)
  }
  return go(start, from)
}

/** Hears in a sentence, wherever it stands, that somebody is in danger: what is missed here is worse than what is heard too much. */
export function createUrgency({ words, rules, urgent }: Language) {
  const expansions = new Map(Object.entries(words.contractions).map(([short, full]) => [fold(short), wordsOf(full)]))
  const anywhere = new Set(words.anywhere.map(fold))
  const templates = createTemplates(rules, expansions)
  const byWord = new Map<string, Sign[]>()
  const excuses = new Map<Urgency, Program[]>()

  function* compiling() {
    for (const { kind, signs, unless } of urgent) {
      for (const template of signs) {
        const isWhole = template.startsWith('^')
        const program = templates.compile(isWhole ? template.slice(1) : template)
        for (const word of program.needs ?? []) byWord.set(word, [...(byWord.get(word) ?? []), { kind, program, isWhole }])
        yield
      }
      excuses.set(
        kind,
        unless.map((template) => templates.compile(template)),
      )
      yield
    }
  }
  const compilation = compiling()

  return {
    /** Compiles in slices of a few milliseconds. */
    async prepare(): Promise<void> {
      for (let done = false; !done; await setImmediate()) {
        const began = performance.now()
        while (!done && performance.now() - began < SLICE_MS) done = compilation.next().done ?? false
      }
    },
    hear(text: string): Urgency | null {
      for (const _ of compilation); // what is left of it
      const said = tokenize(text.slice(0, MAX_LOOKED_AT), expansions, anywhere).tokens.map(({ word }) => word)
      const hears = (program: Program) => said.some((_, from) => begins(program, said, from))
      const candidates = new Set([...new Set(said)].flatMap((word) => byWord.get(word) ?? []))
      const heard = new Set(
        [...candidates]
          .filter(({ program, isWhole }) => (isWhole ? begins(program, said, 0, true) : hears(program)))
          .map(({ kind }) => kind),
      )
      return urgent.find(({ kind }) => heard.has(kind) && !excuses.get(kind)?.some(hears))?.kind ?? null
    },
  }
}
